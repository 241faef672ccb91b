"""Rules that show in messages: when they are made, and when they come."""

from __future__ import annotations

import json

import pytest

from heraldry.errors import BuildError
from heraldry.messages.catalog import Matched, Unmatched
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.verdict import Accepted, Rejected
from tests.conformance.broken_definitions import event, sent
from tests.conformance.named_rules import EVENT, JSON, matches, mqtt, opened, rule, told
from tests.messages.airport import MOMENT


@rule("M26 a deep link leads to one schema inside its document (C43)")
def _() -> None:
    schema = {"definitions": {"order": {"type": "object", "required": ["id"]}}}
    form = {"format": "JSONSchema/draft-07"}
    schemas = {"x": {**form, "versions": {"1": {"schema": schema}}}}
    link = "/schemagroups/s/schemas/x/versions/1:definitions/order"
    message = {**event(), "dataschemaformat": "JSONSchema/draft-07", "dataschemauri": link}
    found = opened({"m": message}, schemas)
    assert isinstance(found.judge(json.dumps({**EVENT, "data": {"id": 1}}).encode()), Accepted)
    assert isinstance(found.judge(json.dumps({**EVENT, "data": {}}).encode()), Rejected)


@rule("M30 in structured mode the content type of the message is that of the event")
def _() -> None:
    structured = "application/cloudevents+json"
    message = {
        **event(type={"value": "t"}),
        "envelopeoptions": {"mode": "structured"},
        "datacontenttype": structured,
    }
    sent_ = HttpMessage(
        method="POST",
        path="/",
        headers=(("content-type", structured),),
        body=json.dumps({**EVENT, "datacontenttype": "application/json", "data": {}}).encode(),
    )
    assert matches(message, sent_)


@rule("M31 media types and their parameters compare without case")
def _() -> None:
    message = {**event(), "datacontenttype": "text/plain; charset=utf-8"}
    assert matches(message, {**EVENT, "datacontenttype": "TEXT/Plain; CharSet=utf-8", "data": ""})
    assert not matches(message, {**EVENT, "datacontenttype": "text/html", "data": ""})


@rule("M34 what is declared is not required unless it says so")
def _() -> None:
    assert matches(event(subject={}), EVENT)
    assert not matches(event(subject={"required": True}), EVENT)


@rule("M35 the type of a property is string unless it says so")
def _() -> None:
    assert not matches(event(x={}), {**EVENT, "x": 5})
    assert matches(event(x={"type": "integer"}), {**EVENT, "x": 5})


@rule("M37 value must appear literally")
def _() -> None:
    message = event(type={"value": "t"}, subject={"value": "a"})
    assert matches(message, {**EVENT, "subject": "a"})
    assert not matches(message, {**EVENT, "subject": "A"})
    assert not matches(message, {**EVENT, "type": "T", "subject": "a"})
    assert not matches(message, EVENT)


@rule("M39 one placeholder is one value")
def _() -> None:
    message = event(source={"value": "/{x}"}, subject={"value": "{x}"})
    assert matches(message, {**EVENT, "source": "/a", "subject": "a"})
    assert not matches(message, {**EVENT, "source": "/a", "subject": "b"})


@rule("M40 a placeholder is a wildcard for messages that come")
def _() -> None:
    result = opened({"m": sent("MQTT/5.0", topic_name="a/{x}/c")}).match(mqtt("a/b%20b/c"))
    assert isinstance(result, Matched)
    assert result.values == {"x": "b b"}


@rule("M40 a placeholder is replaced in messages that are made")
def _() -> None:
    found = opened({"m": sent("MQTT/5.0", topic_name="a/{x}/c")})
    assert found["m"].build(x="b").metadata["topic_name"] == "a/b/c"
    with pytest.raises(BuildError) as error:
        found["m"].build()
    assert [one.rule for one in error.value.problems] == ["placeholder"]


@rule("M41 the sentinel becomes the current time (C20)")
def _() -> None:
    for sentinel in ("0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z"):
        message = event(at={"type": "timestamp", "value": sentinel}, source={"value": "/s"})
        built = opened({"m": message})["m"].build(type="t", clock=lambda: MOMENT)
        assert built.attributes["at"] == "2026-11-16T08:30:00.000Z"


@rule("M45 time is the current time unless it is declared")
def _() -> None:
    built = opened({"m": event(source={"value": "/s"})})["m"].build(type="t", clock=lambda: MOMENT)
    assert built.attributes["time"] == "2026-11-16T08:30:00.000Z"


@rule("M46 datacontenttype is inferred from JSON Schema, from nothing else")
def _() -> None:
    declared = event(source={"value": "/s"})
    other = {"dataschemaformat": "RAML/1.0", "dataschema": "x"}
    found = opened({"m": {**declared, **JSON}, "n": {**declared, **other}})
    assert found["m"].build({}, type="t").attributes["datacontenttype"] == "application/json"
    assert "datacontenttype" not in found["n"].build(b"{}", type="t").attributes


@rule("M46 dataschema is inferred from dataschemauri")
def _() -> None:
    uri = "https://example.com/s"
    message = {**event(source={"value": "/s"}), "dataschemaformat": "X/1", "dataschemauri": uri}
    assert opened({"m": message})["m"].build(b"", type="t").attributes["dataschema"] == uri


@rule("M48 an attribute has the type of CloudEvents unless it says so")
def _() -> None:
    assert matches(event(time={}), {**EVENT, "time": "2026-11-16T08:30:00Z"})
    assert not matches(event(time={}), {**EVENT, "time": "yesterday"})


@rule("M61 user properties may repeat a name")
def _() -> None:
    both = [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]
    message = sent("MQTT/5.0", topic_name="t", user_properties=both)
    assert told({"m": message}) == []
    assert matches(message, mqtt("t", user_properties=(("a", "1"), ("a", "2"))))


@rule("M64 with a protocol, its rules hold as well as those of the envelope")
def _() -> None:
    message = {**event(type={"value": "t"}), **sent("HTTP", path="/in", method="PUT")}
    headers = tuple((f"ce-{name}", value) for name, value in EVENT.items())
    right = HttpMessage(method="PUT", path="/in", headers=headers, body=b"")
    wrong = HttpMessage(method="POST", path="/in", headers=headers, body=b"")
    assert matches(message, right)
    assert not matches(message, wrong)


@rule("M64 with an envelope only, any protocol carries it")
def _() -> None:
    headers = tuple((f"ce-{name}", value) for name, value in EVENT.items())
    request = HttpMessage(method="PUT", path="/any", headers=headers, body=b"")
    assert matches(event(type={"value": "t"}), request)


@rule("M67 placeholders count where the specification says so, nowhere else")
def _() -> None:
    placed = {
        "string": event(x={"type": "string", "value": "{p}"}),
        "uritemplate": event(x={"type": "uritemplate", "value": "{p}"}),
        "symbol": event(x={"type": "symbol", "value": "{p}"}),
        "uri": event(x={"type": "uri", "value": "{p}"}),
        "path": sent("HTTP", path="/{p}"),
        "header": sent("HTTP", headers=[{"name": "x", "value": "{p}"}]),
        "query": sent("HTTP", query={"x": "{p}"}),
        "topic": sent("MQTT/5.0", topic_name="{p}"),
        "user": sent("MQTT/5.0", user_properties=[{"name": "x", "value": "{p}"}]),
        "key": sent("KAFKA", key="{p}"),
        "record": sent("KAFKA", headers={"x": "{p}"}),
        "amqp": sent("AMQP/1.0", properties={"subject": {"value": "{p}"}}),
        "amqp-symbol": sent("AMQP/1.0", footer={"x": {"type": "symbol", "value": "{p}"}}),
        "amqp-uri": sent("AMQP/1.0", footer={"x": {"type": "uri", "value": "{p}"}}),
        "amqp-boolean": sent("AMQP/1.0", footer={"x": {"type": "boolean", "value": "{p}"}}),
        "subject": sent("NATS", subject="{p}"),
        "nats": sent("NATS", headers=[{"name": "x", "value": "{p}"}]),
    }
    found = opened(placed)
    without = {name for name in placed if not found[name].placeholders}
    assert without == {"symbol", "uri", "amqp-boolean"}


@rule("M69 id, source, type and specversion are in every event, declared or not")
def _() -> None:
    for name in EVENT:
        lacking = {key: value for key, value in {**EVENT, "subject": "a"}.items() if key != name}
        headers = tuple((f"ce-{key}", value) for key, value in lacking.items())
        request = HttpMessage(method="POST", path="/", headers=headers, body=b"")
        structured = HttpMessage(
            method="POST",
            path="/",
            headers=(("content-type", "application/cloudevents+json"),),
            body=json.dumps(lacking).encode(),
        )
        for message in (request, structured):
            result = opened({"m": event(subject={"value": "a"})}).match(message)
            assert isinstance(result, Unmatched)
            assert [one.path for one in result.problems] == [f"attributes.{name}"]
