"""What changed in a definition itself says what becomes of its messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.messages.catalog import Matched, MessageCatalog
from heraldry.messages.difference import difference
from heraldry.schemas.changes import Change
from tests.messages.airport import xid
from tests.messages.versions import EVENT, RECORD, attributes, messages, options, own

CASES = [
    pytest.param(
        EVENT,
        attributes(type={"value": "airport.stowed"}),
        ("value-changed", "envelopemetadata.type", "breaking", "breaking"),
        id="another constant",
    ),
    pytest.param(
        EVENT,
        attributes(subject={"value": "BAG-{tag}"}),
        ("property-added", "envelopemetadata.subject", "breaking", "safe"),
        id="a new template",
    ),
    pytest.param(
        attributes(subject={"value": "BAG-1"}),
        attributes(subject={"value": "BAG-{tag}"}),
        ("value-changed", "envelopemetadata.subject", "safe", "breaking"),
        id="a constant becomes a template",
    ),
    pytest.param(
        attributes(subject={"value": "BAG-{tag}"}),
        attributes(subject={"value": "TAG-{tag}"}),
        ("template-changed", "envelopemetadata.subject", "breaking", "breaking"),
        id="another literal",
    ),
    pytest.param(
        attributes(subject={"value": "BAG-{tag}"}),
        attributes(subject={"value": "{bag}"}),
        ("template-changed", "envelopemetadata.subject", "safe", "breaking"),
        id="a wider template",
    ),
    pytest.param(
        EVENT,
        attributes(source={"value": "/airports/{iata}", "type": "uritemplate"}),
        ("placeholder-renamed", "envelopemetadata.source", "safe", "safe"),
        id="another name of a placeholder",
    ),
    pytest.param(
        EVENT,
        attributes(subject={"type": "string"}),
        ("property-added", "envelopemetadata.subject", "safe", "safe"),
        id="what CloudEvents says anyway",
    ),
    pytest.param(
        EVENT,
        attributes(priority={"type": "integer"}),
        ("property-added", "envelopemetadata.priority", "breaking", "safe"),
        id="a new optional attribute",
    ),
    pytest.param(
        EVENT,
        attributes(priority={"type": "string"}),
        ("property-added", "envelopemetadata.priority", "breaking", "safe"),
        id="a new optional text, where numbers could stand",
    ),
    pytest.param(
        RECORD,
        options(headers={"gate": {"type": "string"}}),
        ("property-added", "protocoloptions.headers.gate", "safe", "safe"),
        id="a new optional header, which is always text",
    ),
    pytest.param(
        RECORD,
        options(headers={"gate": {"type": "integer"}}),
        ("property-added", "protocoloptions.headers.gate", "breaking", "safe"),
        id="a new optional header that is a number",
    ),
    pytest.param(
        EVENT,
        attributes(priority={"type": "integer", "required": True}),
        ("property-added", "envelopemetadata.priority", "breaking", "safe"),
        id="a new required attribute",
    ),
    pytest.param(
        attributes(priority={"type": "integer"}),
        attributes(priority={"type": "integer", "required": True}),
        ("became-required", "envelopemetadata.priority", "breaking", "safe"),
        id="an attribute becomes required",
    ),
    pytest.param(
        EVENT,
        attributes(time={"required": True}),
        ("became-required", "envelopemetadata.time", "breaking", "safe"),
        id="time becomes required",
    ),
    pytest.param(
        attributes(priority={"type": "integer"}),
        attributes(priority={"type": "string"}),
        ("type-changed", "envelopemetadata.priority", "breaking", "breaking"),
        id="integer and string",
    ),
    pytest.param(
        attributes(link={"type": "uri"}),
        attributes(link={"type": "urireference"}),
        ("type-changed", "envelopemetadata.link", "safe", "breaking"),
        id="a wider type",
    ),
    pytest.param(
        attributes(level={"type": "integer", "value": 5}),
        attributes(level={"type": "integer"}),
        ("value-changed", "envelopemetadata.level", "safe", "breaking"),
        id="a constant becomes a type",
    ),
    pytest.param(
        RECORD,
        options(topic="bags"),
        ("value-changed", "protocoloptions.topic", "breaking", "breaking"),
        id="another topic",
    ),
    pytest.param(
        RECORD,
        options(headers={"gate": {"value": "{gate}"}}),
        ("property-added", "protocoloptions.headers.gate", "breaking", "safe"),
        id="a new header",
    ),
    pytest.param(
        RECORD,
        options(key=None),
        ("property-removed", "protocoloptions.key", "safe", "breaking"),
        id="no key any more",
    ),
    pytest.param(
        RECORD,
        options(acks="all"),
        ("option-changed", "protocoloptions.acks", "safe", "safe"),
        id="an option that no message shows",
    ),
    pytest.param(
        RECORD,
        {**RECORD, "datacontenttype": "application/json"},
        ("property-added", "datacontenttype", "breaking", "safe"),
        id="a content type",
    ),
    pytest.param(
        {**RECORD, "datacontenttype": "application/json"},
        {**RECORD, "datacontenttype": "application/xml"},
        ("content-type-changed", "datacontenttype", "breaking", "breaking"),
        id="another content type",
    ),
    pytest.param(
        {**RECORD, "datacontenttype": "application/json"},
        {**RECORD, "datacontenttype": "Application/JSON"},
        ("content-type-changed", "datacontenttype", "safe", "safe"),
        id="another spelling of a content type",
    ),
    pytest.param(
        EVENT,
        {**EVENT, "envelopeoptions": {"mode": "binary"}},
        ("option-changed", "envelopeoptions.mode", "safe", "safe"),
        id="another mode",
    ),
    pytest.param(
        EVENT,
        {**EVENT, "deprecated": {"effective": "2026-01-01T00:00:00Z"}},
        ("deprecated-changed", "deprecated", "safe", "safe"),
        id="deprecated",
    ),
    pytest.param(
        EVENT,
        {**EVENT, "protocol": "KAFKA"},
        ("protocol-changed", "protocol", "breaking", "safe"),
        id="bound to a protocol",
    ),
    pytest.param(
        {**EVENT, "protocol": "KAFKA"},
        {**EVENT, "protocol": "MQTT/5.0"},
        ("protocol-changed", "protocol", "breaking", "breaking"),
        id="another protocol",
    ),
    pytest.param(
        {**RECORD, **EVENT},
        RECORD,
        ("envelope-changed", "envelope", "safe", "breaking"),
        id="no envelope any more",
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_changes_of_a_definition(
    old: dict[str, Any], new: dict[str, Any], expected: tuple[str, str, str, str]
) -> None:
    (change,) = own(old, new)
    place = change.new or change.old
    assert (change.rule, place, change.backward, change.forward) == expected
    assert change.message.endswith(".")


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_safe_means_that_sampled_messages_are_recognised(
    old: dict[str, Any], new: dict[str, Any], expected: tuple[str, str, str, str]
) -> None:
    _, _, backward, forward = expected
    for effect, writer, reader in ((backward, old, new), (forward, new, old)):
        if effect == "safe":
            built = MessageCatalog(messages(loaded=writer))[xid("loaded")]
            judge = MessageCatalog(messages(loaded=reader))
            for seed in range(5):
                assert isinstance(judge.match(built.sample(seed=seed)), Matched)


TEMPLATES = ["{tag}", "{airport}", "BAG-{tag}", "BAG-{tag}:{airport}", "BAG-1", "{tag}:{tag}", "1"]
TYPES = [
    "string",
    "integer",
    "number",
    "boolean",
    "uri",
    "urireference",
    "timestamp",
    "uuid",
    "any",
]
declared = st.one_of(
    st.none(),
    st.sampled_from(TEMPLATES).map(lambda text: {"value": text}),
    st.builds(
        lambda kind, required: {"type": kind, "required": required},
        st.sampled_from(TYPES),
        st.booleans(),
    ),
)
events = st.builds(
    lambda source, subject, more: attributes(source={"value": source}, subject=subject, more=more),
    st.sampled_from(["/{airport}", "/{airport}/{tag}", "{tag}", "/MUC"]),
    st.sampled_from(TEMPLATES).map(lambda text: {"value": text}) | st.none(),
    declared,
)
records = st.builds(
    lambda topic, key, gate: options(
        topic=topic, key=key, headers={"gate": gate} if gate else None
    ),
    st.sampled_from(["luggage", "{airport}", "luggage.{tag}"]),
    st.sampled_from(TEMPLATES) | st.none(),
    declared,
)


@settings(max_examples=300)
@given(st.tuples(events, events) | st.tuples(records, records), st.integers(0, 99))
def test_safe_changes_lose_no_message(pair: tuple[Any, Any], seed: int) -> None:
    old, new = pair
    changes = own(old, new)
    for writer, reader, effects in (
        (old, new, {one.backward for one in changes}),
        (new, old, {one.forward for one in changes}),
    ):
        if effects <= {"safe"}:
            sent = MessageCatalog(messages(loaded=writer))[xid("loaded")].sample(seed=seed)
            assert isinstance(MessageCatalog(messages(loaded=reader)).match(sent), Matched)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(EVENT, {**EVENT, "description": "A bag"}, id="description"),
        pytest.param(EVENT, {**EVENT, "envelope": "CloudEvents"}, id="spelling of the envelope"),
        pytest.param(
            {**EVENT, "protocol": "HTTP/1.1"}, {**EVENT, "protocol": "HTTP/2"}, id="version of HTTP"
        ),
        pytest.param(
            options(headers={"gate": {"value": "7"}}),
            options(headers=[{"name": "gate", "value": "7"}]),
            id="headers as a list",
        ),
        pytest.param(
            attributes(level={"type": "integer", "value": 5}),
            attributes(level={"type": "integer", "value": "5", "description": "How high"}),
            id="a number as text",
        ),
    ],
)
def test_what_says_the_same_is_no_difference(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert difference(messages(loaded=old), messages(loaded=new)) == ()


def test_a_placeholder_that_must_be_equal_at_two_places_now() -> None:
    old = attributes(subject={"value": "{tag}"})
    new = attributes(subject={"value": "{airport}"})
    renamed, shared = own(old, new)
    assert (renamed.rule, renamed.backward) == ("placeholder-renamed", "safe")
    assert shared == Change(
        rule="placeholder-shared",
        old=None,
        new="envelopemetadata.subject",
        message="The placeholder {airport} has one value at several places "
        "(envelopemetadata.source, envelopemetadata.subject) only in the new version: messages "
        "of the old version are no longer recognised.",
        backward="breaking",
        forward="safe",
    )


def test_what_is_inherited_counts() -> None:
    derived = {"basemessage": xid("event")}
    old = messages(event=EVENT, loaded=derived)
    new = messages(event=attributes(type={"value": "airport.stowed"}), loaded=derived)
    found = difference(old, new)
    assert [(one.xid, [change.rule for change in one.own]) for one in found] == [
        (xid("event"), ["value-changed"]),
        (xid("loaded"), ["value-changed"]),
    ]


def test_a_sentence_for_developers() -> None:
    (change,) = own(EVENT, attributes(type={"value": "airport.stowed"}))
    assert change.message == (
        "The attribute 'type' changed from 'airport.loaded' to 'airport.stowed': messages of one "
        "version are not recognised by the other."
    )


def test_a_sentence_says_which_messages() -> None:
    (optional,) = own(EVENT, attributes(priority={"type": "integer"}))
    assert optional.message == (
        "The attribute 'priority' is newly declared as an optional integer: messages of the old "
        "version with something else there are no longer recognised."
    )
    (required,) = own(EVENT, attributes(time={"required": True}))
    assert required.message == (
        "The attribute 'time' changed from an optional timestamp (the current time) to a required "
        "timestamp (the current time): messages of the old version without it are no longer "
        "recognised."
    )
