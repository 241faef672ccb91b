"""The quick way to a match gives what the rules give one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.envelopes import binding
from heraldry.messages.fit import fits
from heraldry.messages.matched import Matched, matched
from heraldry.messages.message import Message, received
from heraldry.messages.protocols import http
from tests.messages.airport import airport, catalog_of, event, xid

TYPES = st.sampled_from(
    [None, "string", "any", "uritemplate", "urireference", "uri", "timestamp", "integer", "boolean"]
)
TEXTS = st.sampled_from(
    [
        "",
        "",
        "a",
        "b",
        "a-b",
        "a/b",
        "a:b",
        "ü_b",
        "a%2Fb",
        "%",
        "1",
        "5",
        "true",
        "2026-11-16T08:30:00Z",
    ]
)
VALUES = TEXTS | st.sampled_from([None, 1, 5, True, False, b"a"])
DECLARED = st.one_of(
    TEXTS, st.sampled_from(["{x}", "{x}-{y}", "a/{x}", "{y}/b", "{x}{x}", 1, 5, True, None])
)


@st.composite
def properties(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"required": draw(st.booleans())}
    kind, value = draw(TYPES), draw(DECLARED)
    found |= {} if kind is None else {"type": kind}
    return found if value is None else found | {"value": value}


ATTRIBUTES = ("type", "source", "subject", "time", "gate")
OPTIONS = ("topic_name", "qos", "retain", "response_topic", "content_type")


def one_by_one(compiled: CompiledDefinition, message: Message) -> dict[str, str] | None:
    values: dict[str, str] = {}
    broken = [rule for rule in compiled.constraints if rule.check(message, values) is not None]
    return None if broken else values


@settings(max_examples=400)
@given(
    attributes=st.dictionaries(st.sampled_from(ATTRIBUTES), properties(), max_size=4),
    options=st.dictionaries(st.sampled_from(OPTIONS), properties(), max_size=3),
    pairs=st.lists(st.tuples(st.sampled_from("mn"), TEXTS), max_size=3).map(tuple),
    protocol=st.sampled_from(["MQTT/5.0", None]),
    sent=st.dictionaries(st.sampled_from(ATTRIBUTES), VALUES),
    metadata=st.dictionaries(st.sampled_from(OPTIONS), VALUES),
)
def test_a_plan_agrees_with_the_rules(
    attributes: dict[str, Any],
    options: dict[str, Any],
    pairs: tuple[tuple[str, str], ...],
    protocol: str | None,
    sent: dict[str, Any],
    metadata: dict[str, Any],
) -> None:
    declared = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": attributes,
        "protocol": "MQTT/5.0",
        "protocoloptions": options | {"user_properties": [{"name": "m", "value": "{x}"}]},
    }
    compiled = catalog_of(one=declared).matcher.definition(xid("one"))
    message = Message(
        protocol=protocol,
        metadata={**metadata, "user_properties": pairs},
        envelope="CloudEvents/1.0",
        attributes={"specversion": "1.0", "id": "1", "source": "/s", "type": "t", **sent},
    )
    if compiled.unusable is None:
        assert fits(compiled, message) == one_by_one(compiled, message)


@pytest.mark.parametrize(
    ("declared", "found", "fitting"),
    [
        pytest.param(1, 1, True, id="a number"),
        pytest.param(1, True, False, id="truth is no number"),
        pytest.param(1, "1", True, id="the text of a number"),
        pytest.param(True, 1, False, id="a number is no truth"),
        pytest.param(True, True, True, id="truth"),
    ],
)
def test_constants_are_told_apart_by_type(declared: Any, found: Any, fitting: bool) -> None:
    name = "qos" if type(declared) is int else "retain"
    options = {"topic_name": "t", name: declared}
    catalog = catalog_of(one={"protocol": "MQTT/5.0", "protocoloptions": options})
    message = Message(protocol="MQTT/5.0", metadata={"topic_name": "t", name: found})
    assert isinstance(catalog.match(message), Matched) is fitting


HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "ce-id",
                "CE-Id",
                "ce-type",
                "ce-source",
                "ce-specversion",
                "ce-",
                "ce-data",
                "ce-datacontenttype",
                "Content-Type",
                "content-type",
                "X-A",
            ]
        ),
        st.sampled_from(["1.0", "a%20b", '"a b"', '"a\\"b"', "a", ""]),
    ),
    max_size=7,
).map(tuple)


@given(headers=HEADERS)
def test_headers_are_read_as_every_binding_reads_named_values(
    headers: tuple[tuple[str, Any], ...],
) -> None:
    raw = http.HttpMessage(headers=headers)
    message = http.decode(raw)
    expected = binding.read_attributes(headers, http._NAMING)
    if message.envelope is None:
        assert not expected.keys() & {"id", "type", "source", "specversion"}
        return
    kind = http.content_type(raw)
    assert message.attributes == expected | ({} if kind is None else {"datacontenttype": kind})


def test_what_is_made_in_masses_is_what_the_classes_make() -> None:
    message = Message(
        protocol="HTTP", metadata={"path": "/"}, envelope="e", mode="binary", attributes={"a": 1}
    )
    assert received("HTTP", {"path": "/"}, "e", "binary", {"a": 1}, None, None) == message
    match = airport().match(event({"weight": 1}))
    assert isinstance(match, Matched)
    assert matched(match.compiled, match.values, match.candidates, match.message) == Matched(
        definition=match.definition,
        values=match.values,
        candidates=match.candidates,
        message=match.message,
        compiled=match.compiled,
    )
