"""The table of event formats: which content type means which, and what is refused."""

from __future__ import annotations

import pytest

from heraldry.errors import MessageError
from heraldry.messages.envelopes import avro_format, event_formats, json_format, protobuf_format
from heraldry.messages.envelopes.event_formats import EventFormat
from heraldry.messages.message import Message
from tests.messages.envelopes.events import EVENT


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        pytest.param("application/cloudevents+json", json_format, id="json"),
        pytest.param("Application/CloudEvents+JSON; charset=utf-8", json_format, id="json, case"),
        pytest.param("application/cloudevents", json_format, id="no format"),
        pytest.param("application/cloudevents+avro", avro_format, id="avro"),
        pytest.param("application/cloudevents+protobuf;a=b", protobuf_format, id="protobuf"),
    ],
)
def test_formats(content_type: str, expected: EventFormat) -> None:
    assert event_formats.is_named(content_type)
    assert not event_formats.is_batch(content_type)
    assert event_formats.find(content_type) is expected
    assert event_formats.FORMATS[event_formats.named(content_type) or ""] is expected


@pytest.mark.parametrize(
    "content_type",
    [
        pytest.param(None, id="none"),
        pytest.param("", id="empty"),
        pytest.param("application/json", id="JSON"),
        pytest.param("text/cloudevents+json", id="no application"),
        pytest.param("application/cloudeventsx+json", id="longer"),
        pytest.param("application/x; y=cloudevents", id="parameter"),
        pytest.param("application/vnd.cloudevents+json", id="vendor"),
    ],
)
def test_what_is_no_event(content_type: str | None) -> None:
    assert not event_formats.is_named(content_type)
    assert not event_formats.is_batch(content_type)
    assert content_type is None or event_formats.named(content_type) is None


@pytest.mark.parametrize(
    ("content_type", "rule"),
    [
        pytest.param("application/cloudevents+xml", "event-format", id="unknown"),
        pytest.param("application/cloudevents+", "event-format", id="empty format"),
        pytest.param("application/cloudevents-batch+json", "batch", id="batch"),
        pytest.param("application/cloudevents-batch+xml", "batch", id="unknown batch"),
    ],
)
def test_what_is_not_one_event(content_type: str, rule: str) -> None:
    assert event_formats.is_named(content_type)
    with pytest.raises(MessageError) as error:
        event_formats.find(content_type)
    (problem,) = error.value.problems
    assert (problem.path, problem.rule, problem.found) == ("content_type", rule, content_type)
    if rule == "event-format":
        assert problem.expected == ", ".join(
            [
                "application/cloudevents",
                "application/cloudevents+avro",
                "application/cloudevents+json",
                "application/cloudevents+protobuf",
            ]
        )


@pytest.mark.parametrize(
    "content_type",
    [
        pytest.param("application/cloudevents-batch+avro", id="avro has none"),
        pytest.param("application/cloudevents-batch", id="no format"),
        pytest.param("application/cloudevents+json", id="one event"),
    ],
)
def test_what_is_no_known_batch(content_type: str) -> None:
    with pytest.raises(MessageError, match="is not an event format that is known") as error:
        event_formats.read_batch(b"[]", content_type)
    assert "application/cloudevents-batch+protobuf" in (error.value.problems[0].expected or "")


def test_a_batch_has_a_size() -> None:
    kind = json_format.BATCH_MEDIA_TYPE
    assert event_formats.read_batch(b"[]", kind, limit=2) == ()
    with pytest.raises(MessageError, match="longer than 1 bytes"):
        event_formats.read_batch(b"[]", kind, limit=1)
    with pytest.raises(MessageError, match="more than 1 events"):
        event_formats.read_batch(b"[{},{}]", kind, most=1)


def test_any_message_can_be_written_in_any_format() -> None:
    event = Message(mode="binary", attributes=EVENT, payload=b"1")
    for name, one in event_formats.FORMATS.items():
        assert one.read(event_formats.write(event, name))[:2] == (EVENT, b"1")
    with pytest.raises(MessageError, match="event-format"):
        event_formats.write(event, "xml")
