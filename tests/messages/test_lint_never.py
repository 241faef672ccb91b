"""Definitions that no message can fit, or whose messages all go to another one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages.airport import airport, catalog_of, xid
from tests.suites.overlap_cases import (
    NEAR,
    OVERLAPS,
    PLAIN,
    SHIPPED,
    amqp,
    bound,
    event,
    http,
    kafka,
    mqtt,
    nats,
    payload,
)


def told(rule: str, **messages: Any) -> list[tuple[str, str, str]]:
    found = catalog_of(**messages).check()
    return [(one.location, one.severity, one.message) for one in found if one.rule == rule]


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        pytest.param(
            {**kafka("t", headers={"content-type": "text/plain"}), **payload(SHIPPED)},
            "content_type is stated in two ways",
            id="a JSON schema, and a text",
        ),
        pytest.param(
            {**amqp("bag", content_type="text/plain"), **payload(SHIPPED)},
            "content_type is stated in two ways",
            id="the same over AMQP",
        ),
        pytest.param(mqtt("belts/+"), "metadata.topic_name", id="a filter instead of a topic"),
        pytest.param(nats("belts.>"), "metadata.subject", id="a filter instead of a subject"),
        pytest.param(http("/bags?late=1"), "metadata.path", id="a query in a path"),
        pytest.param(
            {**event(type="a"), **bound("MQTT/3.1.1", topic_name="#")},
            "metadata.topic_name",
            id="an event on a filter",
        ),
    ],
)
def test_rules_that_exclude_each_other(definition: dict[str, Any], reason: str) -> None:
    ((place, severity, message),) = told("never-matches", odd=definition)
    assert (place, severity) == (xid("odd"), "error")
    assert reason in message


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param(mqtt("b/{x}/{x}"), id="one value twice"),
        pytest.param(http("/b", headers=[{"name": "X", "value": v} for v in "ab"]), id="repeated"),
        pytest.param(http("/b", status="{code}", method=""), id="a status to fill in"),
        pytest.param(
            {**http("/b"), "datacontenttype": "application/cloudevents+json"}, id="an envelope"
        ),
        *(
            pytest.param(
                {
                    **event(type="a"),
                    **kafka("t", headers={"content-type": f"application/cloudevents+{name}"}),
                },
                id=f"an event as {name}",
            )
            for name in ("json", "avro", "protobuf")
        ),
        pytest.param(kafka("t", key={"type": "uuid", "required": True}), id="a required type"),
        pytest.param(kafka("t", partition=7, key_base64="AAEC"), id="bytes"),
        pytest.param(
            {**event(type="a"), **kafka("t", headers={"ce_type": "b"})},
            id="a header of a binding, in structured mode",
        ),
        pytest.param(
            {**event(type="a", datacontenttype="text/{kind}"), **kafka("t")}, id="a type to fill in"
        ),
    ],
)
def test_rules_that_go_together(definition: dict[str, Any]) -> None:
    assert told("never-matches", odd=definition) == []


def test_no_definition_of_these_suites_is_contradictory() -> None:
    made = [make("7") for make in PLAIN]
    made += [one for make in (*OVERLAPS.values(), *NEAR.values()) for one in make("7")]
    assert told("never-matches", **{f"m{n}": one for n, one in enumerate(made)}) == []
    assert [one for one in airport().check() if one.rule == "never-matches"] == []


def test_what_is_wrong_already_is_not_told_again() -> None:
    odd = {**event(type="a", specversion="2.0"), **kafka("t", headers={"ce_type": "b"})}
    found = catalog_of(odd=odd).check()
    assert "M43" in {one.rule for one in found}
    assert "never-matches" not in {one.rule for one in found}


BASE = event(type="bag", source="/belts/{belt}")


@pytest.mark.parametrize(
    ("derived", "expected"),
    [
        pytest.param({}, [xid("base")], id="nothing more"),
        pytest.param(payload({"type": "null"}), [], id="JSON only"),
        pytest.param(event(subject="late"), [], id="another rule"),
        pytest.param(kafka("bags"), [], id="bound to a protocol"),
    ],
)
def test_a_base_that_keeps_no_message(derived: dict[str, Any], expected: list[str]) -> None:
    found = told("shadowed", base=BASE, derived={"basemessage": xid("base"), **derived})
    assert [place for place, _, _ in found] == expected
    assert all(severity == "info" and xid("derived") in text for _, severity, text in found)


def test_a_borrowed_message_shadows_nothing() -> None:
    assert told("shadowed", base=BASE, borrowed={"meta": {"xref": xid("base")}}) == []
