"""Overlaps are found with a message that both definitions accept, and no others are told."""

from __future__ import annotations

import json
import re
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heraldry
from heraldry.dialects.load import load_bytes
from heraldry.messages import line as lines
from heraldry.messages import lint, lint_overlaps
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.fit import fits
from heraldry.messages.lint_overlaps import Overlap, overlaps
from heraldry.messages.lint_witness import witnesses
from heraldry.messages.message import Message
from heraldry.messages.select import select
from heraldry.messages.verdict import NoMatch
from heraldry.model.problem import Finding
from tests.messages.airport import airport, catalog_of, xid
from tests.suites.overlap_cases import (
    NEAR,
    OVERLAPS,
    PLAIN,
    SHIPPED,
    STOWED,
    Pair,
    event,
    generate,
    http,
    kafka,
    mqtt,
)


def found_in(catalog: MessageCatalog) -> list[Overlap]:
    compiled = {one.xid: one.compiled for one in catalog}
    return [one for one in overlaps(catalog.catalog, compiled) if isinstance(one, Overlap)]


def told(catalog: MessageCatalog) -> list[Finding]:
    return [one for one in catalog.check() if one.rule.startswith("overlap")]


def assert_shared(catalog: MessageCatalog, found: Overlap) -> None:
    """The message of an overlap is of both, and the matcher cannot tell."""
    message = lines.read(lines.write(found.message))
    assert fits(found.one, message) is not None
    assert fits(found.other, message) is not None
    result = catalog.matcher.match(message)
    assert isinstance(result, NoMatch)
    assert {found.one.xid, found.other.xid} <= set(result.candidates)


@pytest.mark.parametrize(
    "pair", [pytest.param(make("7"), id=kind) for kind, make in OVERLAPS.items()]
)
def test_an_overlap_is_told_with_a_message_of_both(pair: Pair) -> None:
    catalog = catalog_of(one=pair[0], two=pair[1])
    (found,) = found_in(catalog)
    assert found.severity in ("error", "warning")
    assert_shared(catalog, found)
    (finding,) = told(catalog)
    assert (finding.location, finding.rule) == (xid("two"), "overlap")
    assert xid("one") in finding.message
    assert finding.message.endswith(found.line)


@pytest.mark.parametrize("pair", [pytest.param(make("7"), id=kind) for kind, make in NEAR.items()])
def test_what_only_looks_alike_is_no_overlap(pair: Pair) -> None:
    assert [
        one for one in told(catalog_of(one=pair[0], two=pair[1])) if one.severity != "info"
    ] == []


PLACED, CANCELLED = event(type="bag"), event(type="bag", subject="late")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param(PLACED, {"basemessage": xid("one")}, id="derived"),
        pytest.param(PLACED, CANCELLED, id="strictly narrower"),
        pytest.param(PLACED, {"meta": {"xref": xid("one")}}, id="borrowed"),
        pytest.param(PLACED, {**PLACED, **kafka("bags")}, id="bound to a protocol"),
        pytest.param(
            {**PLACED, **kafka("bags")}, {**PLACED, **mqtt("bags")}, id="over other protocols"
        ),
        pytest.param(PLACED, http("/bags"), id="no event"),
        pytest.param(PLACED, {"datacontenttype": "text/plain"}, id="told by its payload alone"),
        pytest.param(PLACED, {"envelope": "SOAP/1.2"}, id="never matched"),
    ],
)
def test_something_decides(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert told(catalog_of(one=one, two=two)) == []


def test_a_third_definition_may_decide() -> None:
    crossing = {"one": mqtt("b/{x}/in"), "two": mqtt("b/left/{y}")}
    assert len(told(catalog_of(**crossing))) == 1
    assert told(catalog_of(**crossing, three=mqtt("b/left/in"))) == []


def test_payload_only_definitions_overlap_by_content_type() -> None:
    text = {"datacontenttype": "text/plain"}
    (finding,) = told(catalog_of(one=text, two=text))
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("schemas", "rule", "severity"),
    [
        pytest.param((None, None), "overlap", "error", id="none"),
        pytest.param((SHIPPED, SHIPPED), "overlap", "error", id="the same"),
        pytest.param((SHIPPED, STOWED), "overlap", "warning", id="a payload is of both"),
        pytest.param((SHIPPED, {"type": "null"}), "overlap-payload", "info", id="exclusive"),
    ],
)
def test_how_bad_it_is_depends_on_the_schemas(
    schemas: tuple[Any, Any], rule: str, severity: str
) -> None:
    one, two = (event(schema, type="bag") for schema in schemas)
    (finding,) = told(catalog_of(one=one, two=two))
    assert (finding.rule, finding.severity) == (rule, severity)


def test_a_schema_that_is_not_at_hand_might_decide() -> None:
    lost = {"dataschemaformat": "Avro/1.12", "dataschemauri": "https://example.com/bag.avsc"}
    (finding,) = told(catalog_of(one={**PLACED, **lost}, two=PLACED))
    assert finding.severity == "warning"


def document(groups: dict[str, Any], endpoints: dict[str, Any]) -> MessageCatalog:
    text = json.dumps({"messagegroups": groups, "endpoints": endpoints})
    return MessageCatalog(load_bytes(text.encode(), "c.json"))


def test_groups_that_no_endpoint_lists_together_do_not_overlap() -> None:
    groups = {name: {"messages": {"m": PLACED}} for name in ("left", "right")}
    listed = {"usage": ["consumer"], "messagegroups": ["/messagegroups/left"]}
    assert told(document(groups, {"belt": listed})) == []
    listed["messagegroups"] += ["/messagegroups/right"]
    (finding,) = told(document(groups, {"belt": listed, "desk": listed}))
    assert finding.location == "/messagegroups/right/messages/m"


def test_an_endpoints_own_messages_are_part_of_its_contract() -> None:
    groups = {"left": {"messages": {"m": PLACED}}}
    own = {"messages": {"m": PLACED}, "messagegroups": ["/messagegroups/left"]}
    assert len(told(document(groups, {"belt": {"usage": ["consumer"], **own}}))) == 1


def test_of_many_alike_a_few_are_told() -> None:
    many = told(catalog_of(**{f"m{number:02}": PLACED for number in range(20)}))
    places = [one.location for one in many]
    assert places.count(xid("m01")) == 1
    assert places.count(xid("m19")) == lint_overlaps.TOLD


def test_work_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_overlaps, "WORK", 1000)
    many = told(catalog_of(**{f"m{number:02}": PLACED for number in range(20)}))
    assert [one.rule for one in many] == ["overlap", "overlap", "overlap-unfinished"]
    assert many[-1].location == "/messagegroups/luggage"


def test_a_long_message_is_cut() -> None:
    (found,) = told(catalog_of(one=event(type="a" * 900), two=event(type="a" * 900)))
    assert found.message.endswith("a…")
    assert len(found.message) < 600


def pairs(findings: tuple[Finding, ...]) -> set[frozenset[str]]:
    named = [(one, re.search(r"can be of (\S+),", one.message)) for one in findings]
    return {frozenset((one.location, other[1])) for one, other in named if other}


@pytest.mark.parametrize(
    ("definitions", "planted", "seconds"),
    [
        pytest.param(1_000, 50, 10, id="1,000 definitions"),
        pytest.param(10_000, 500, 60, id="10,000 definitions", marks=pytest.mark.slow),
    ],
)
def test_every_planted_overlap_is_found_and_no_other(
    definitions: int, planted: int, seconds: int
) -> None:
    made = generate(definitions, planted, seed=definitions)
    catalog = load_bytes(made.document(), "generated.json")
    start = time.process_time()
    findings = lint.check(catalog)
    assert time.process_time() - start < seconds
    assert sum(len(messages) for messages in made.groups.values()) == definitions
    assert len(made.planted) == planted
    assert pairs(tuple(one for one in findings if one.rule == "overlap")) == set(made.planted)
    assert {one.rule for one in findings} <= {"overlap", "overlap-payload"}


def test_real_catalogs(reference: Path) -> None:
    """Only one pair is in each other's way, and its payload schemas tell it apart."""
    folder = reference / "catalogs" / "xregistry-samples"
    ours = {"overlap", "overlap-payload", "never-matches", "shadowed", "deprecated"}
    found = [
        (path.name, one.location.rpartition("/")[2], one.rule)
        for path in sorted(folder.glob("*.xreg.json"))
        for one in heraldry.open(path).check()
        if one.rule in ours
    ]
    assert found == [("mqtt-sparkplugB.xreg.json", "STATE.Birth", "overlap-payload")]


def test_a_message_is_found_for_every_definition_by_itself(reference: Path) -> None:
    made = {f"m{number}": make("7") for number, make in enumerate(PLAIN)}
    catalogs = [airport(), catalog_of(**made)]
    folder = reference / "catalogs" / "xregistry-samples"
    catalogs += [heraldry.open(path) for path in sorted(folder.glob("*.xreg.json"))]
    every = [one.compiled for catalog in catalogs for one in catalog]
    lost = [one.xid for one in every if not one.unusable and not any(witnesses((one,)))]
    assert (lost, len(every) > 50) == ([], True)


# --- against trying all messages

SEGMENTS = ("a", "b", "{x}", "{y}", "a{x}", "{x}b", "{x}{x}")
WORDS = ("a", "b", "ab", "aab", "aa", "abb", "bb")
topics = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=2).map("/".join)
keys = st.sampled_from((*SEGMENTS, "{x}a{y}", "{y}-{x}", None))


def over_mqtt(topic: str, key: str | None) -> dict[str, Any]:
    unit = {} if key is None else {"user_properties": [{"name": "u", "value": key}]}
    return mqtt(topic, **unit)


def over_kafka(topic: str, key: str | None) -> dict[str, Any]:
    return kafka(topic, **({} if key is None else {"headers": {"u": key}}))


TOPICS = (*WORDS, *("/".join(two) for two in product(WORDS, repeat=2)))
MESSAGES = {
    over_mqtt: [
        Message(
            protocol="MQTT/5.0", metadata={"topic_name": topic, "user_properties": (("u", word),)}
        )
        for topic, word in product(TOPICS, WORDS)
    ],
    over_kafka: [
        Message(protocol="KAFKA", metadata={"topic": topic, "headers": (("u", word),)})
        for topic, word in product(TOPICS, WORDS)
    ],
}


@pytest.mark.parametrize("make", MESSAGES)
@settings(max_examples=150)
@given(first=st.tuples(topics, keys), second=st.tuples(topics, keys))
def test_what_trying_all_messages_finds_is_told(
    make: Any, first: tuple[str, str], second: tuple[str, str]
) -> None:
    catalog = catalog_of(one=make(*first), two=make(*second))
    found = found_in(catalog)
    for overlap in found:
        assert_shared(catalog, overlap)
    both = [one.compiled for one in catalog]
    shared = (m for m in MESSAGES[make] if all(fits(one, m) is not None for one in both))
    ambiguous = next((m for m in shared if len(select(both, m)) > 1), None)
    assert found or ambiguous is None, ambiguous
