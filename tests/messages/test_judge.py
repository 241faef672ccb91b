"""One line in, one verdict out, and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected
from tests.messages.airport import CHECKED_IN, SCHEMA, airport, catalog_of, event, line, xid

CATALOG = airport()
GOOD = line(event({"weight": 17.5, "pieces": 1}, time="2026-11-16T08:30:00Z", gate="A1"))


def test_a_good_line_is_a_row() -> None:
    verdict = CATALOG.judge(GOOD)
    assert isinstance(verdict, Accepted)
    assert str(verdict.match.definition.xid) == xid("checkedin")
    assert verdict.row == {"tag": None, "weight": 17.5, "pieces": 1}
    assert verdict.envelope["ce_subject"] == "BAG-0220731"
    assert verdict.envelope["ce_extensions"] == '{"gate":"A1"}'
    assert verdict.match.values == {"airport": "MUC", "tag": "0220731"}


def test_a_line_of_a_protocol() -> None:
    sent = {
        "protocol": "MQTT/5.0",
        "metadata": {
            "topic_name": "belts/7/sensors/t1",
            "qos": 1,
            "user_properties": [{"name": "unit", "value": "K"}],
        },
        "payload": {"value": 3},
    }
    verdict = CATALOG.judge(line(sent))
    assert isinstance(verdict, Accepted)
    assert verdict.match.values == {"belt": "7", "sensor": "t1", "unit": "K"}
    assert verdict.native
    assert {name: value for name, value in verdict.envelope.items() if value is not None} == {
        "ce_specversion": "1.0"
    }


@pytest.mark.parametrize("given", [{"unit": "K"}, 5, ["x"], "text", None, [["a", "b", "c"]]])
def test_a_version_of_a_protocol_that_is_not_known_may_hold_anything(given: Any) -> None:
    metadata = {"topic_name": "belts/7/sensors/t1", "qos": 1, "user_properties": given}
    verdict = CATALOG.judge(line({"protocol": "MQTT/6.0", "metadata": metadata, "payload": {}}))
    assert isinstance(verdict, Rejected)
    assert verdict.problems[0].rule == "protocol"


WEIGHED: dict[str, Any] = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "scales-{scale}", "key": "{tag}"},
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "airport.luggage.weighed"},
        "source": {"type": "uritemplate", "value": "/scales/{scale}"},
        "subject": {"value": "{tag}"},
        "time": {"required": True},
        "unit": {"value": "kg"},
    },
    "dataschemaformat": "JSONSchema/draft-07",
    "dataschema": SCHEMA,
}


def weighed(payload: Any = None, **metadata: Any) -> bytes:
    sent = {"topic": "scales-7", "key": "a b", **metadata}
    return line({"protocol": "KAFKA", "metadata": sent, "payload": payload or {"weight": 3}})


def without(**changes: Any) -> dict[str, Any]:
    return {**WEIGHED, "envelopemetadata": {**WEIGHED["envelopemetadata"], **changes}}


def test_a_message_that_is_no_event_is_mapped() -> None:
    verdict = catalog_of(weighed=WEIGHED).judge(weighed())
    assert isinstance(verdict, Accepted)
    assert verdict.native
    assert verdict.match.values == {"scale": "7", "tag": "a b"}
    assert verdict.row["weight"] == 3
    assert {name: value for name, value in verdict.envelope.items() if value is not None} == {
        "ce_source": "/scales/7",
        "ce_type": "airport.luggage.weighed",
        "ce_specversion": "1.0",
        "ce_subject": "a%20b",
        "ce_datacontenttype": "application/json",
        "ce_unit": "kg",
    }


def test_an_event_on_the_same_protocol_is_judged_by_its_attributes() -> None:
    sent = {"id": "1", "source": "/scales/7", "type": "airport.luggage.weighed", "subject": "a b"}
    sent |= {"specversion": "1.0", "time": "2026-11-16T08:30:00Z", "unit": "kg"}
    headers = {f"ce_{name}": value for name, value in sent.items()}
    verdict = catalog_of(weighed=WEIGHED).judge(weighed(headers=headers))
    assert isinstance(verdict, Accepted), verdict
    assert not verdict.native
    assert verdict.envelope["ce_id"] == "1"
    wrong = catalog_of(weighed=WEIGHED).judge(weighed(headers=headers | {"ce_subject": "x"}))
    assert isinstance(wrong, Rejected)
    assert ("metadata.key", "placeholder") in [(p.path, p.rule) for p in wrong.problems]


def test_a_message_that_matches_as_it_is_stays_so() -> None:
    bare = {name: value for name, value in WEIGHED.items() if not name.startswith("envelope")}
    verdict = catalog_of(weighed=WEIGHED, bare=bare).judge(weighed())
    assert isinstance(verdict, Accepted)
    assert str(verdict.match.definition.xid) == xid("bare")
    assert verdict.envelope["ce_type"] is None
    payload = {name: WEIGHED[name] for name in ("dataschemaformat", "dataschema")}
    verdict = catalog_of(weighed=WEIGHED, any=payload).judge(weighed())
    assert isinstance(verdict, Accepted)
    assert str(verdict.match.definition.xid) == xid("any")


@pytest.mark.parametrize(
    ("definition", "sent", "stage", "path", "rule"),
    [
        pytest.param(
            WEIGHED, weighed(topic="belts-7"), "match", "metadata.topic", "template", id="topic"
        ),
        pytest.param(
            WEIGHED, weighed({"weight": -3}), "validate", "/weight", "minimum", id="payload"
        ),
        pytest.param(
            without(source={"value": "/airports/{airport}"}),
            weighed(),
            "map",
            "attributes.source",
            "placeholder",
            id="no value",
        ),
        pytest.param(
            without(gate={"required": True}),
            weighed(),
            "map",
            "attributes.gate",
            "required",
            id="no attribute",
        ),
        pytest.param(
            without(datacontenttype={"value": "application/json"}),
            weighed(headers={"content-type": "text/json"}),
            "map",
            "attributes.datacontenttype",
            "content-type",
            id="content type",
        ),
        pytest.param(
            without(time={"value": "{tag}"}), weighed(), "land", "attributes.time", "column", id="t"
        ),
    ],
)
def test_a_message_that_cannot_be_mapped(
    definition: dict[str, Any], sent: bytes, stage: str, path: str, rule: str
) -> None:
    verdict = catalog_of(weighed=definition).judge(sent)
    assert isinstance(verdict, Rejected)
    assert (verdict.stage, verdict.definition) == (stage, xid("weighed"))
    assert (path, rule) in [(one.path, one.rule) for one in verdict.problems]


def test_two_definitions_to_map_by_are_ambiguous() -> None:
    verdict = catalog_of(weighed=WEIGHED, other=WEIGHED).judge(weighed())
    assert isinstance(verdict, Rejected)
    assert (verdict.stage, verdict.problems[0].rule) == ("match", "ambiguous")


def test_near_misses_are_of_both_kinds() -> None:
    bare = {name: value for name, value in WEIGHED.items() if not name.startswith("envelope")}
    bare = {**bare, "protocoloptions": {"topic": "scales-{scale}", "partition": 4}}
    verdict = catalog_of(weighed=WEIGHED, bare=bare).judge(
        weighed(topic="scales-7", key=None, partition=3)
    )
    assert isinstance(verdict, Rejected)
    assert {one.definition for one in verdict.near} == {xid("weighed"), xid("bare")}
    assert all(one.rule != "envelope" for near in verdict.near for one in near.problems)


def test_an_event_of_a_definition_without_an_envelope_keeps_its_attributes() -> None:
    bare = {"protocol": "KAFKA", "protocoloptions": {"topic": "scales-{scale}"}}
    headers = {"ce_id": "1", "ce_time": "2016-12-31T23:59:60Z", "ce_type": "x", "ce_gate": "A"}
    headers |= {"ce_source": "/s", "ce_specversion": "1.0"}
    verdict = catalog_of(bare=bare).judge(weighed(headers=headers))
    assert isinstance(verdict, Accepted), verdict
    assert not verdict.native
    assert verdict.envelope["ce_id"] == "1"
    assert verdict.envelope["ce_time"] is None
    assert verdict.envelope["ce_extensions"] == '{"gate":"A"}'


@pytest.mark.parametrize(
    ("text", "stage", "rule", "definition"),
    [
        pytest.param(b"", "decode", "empty", None, id="empty"),
        pytest.param(b"{", "decode", "json", None, id="not JSON"),
        pytest.param(b"\xff{}", "decode", None, None, id="not UTF-8"),
        pytest.param(b"[1]", "decode", "not-a-message", None, id="no message"),
        pytest.param(line(event(subject="x")), "match", "template", "checkedin", id="no match"),
        pytest.param(line(event()), "validate", "payload", "checkedin", id="no payload"),
        pytest.param(
            line(event({"weight": -1})), "validate", "minimum", "checkedin", id="bad payload"
        ),
        pytest.param(
            line(event({"weight": 1, "pieces": 2**70})), "land", None, "checkedin", id="no row"
        ),
        pytest.param(
            line(event({"weight": 1}, time="2016-12-31T23:59:60Z")),
            "land",
            "column",
            "checkedin",
            id="no timestamp",
        ),
    ],
)
def test_a_bad_line_is_refused_where_it_is_bad(
    text: bytes, stage: str, rule: str | None, definition: str | None
) -> None:
    verdict = CATALOG.judge(text)
    assert isinstance(verdict, Rejected)
    assert verdict.stage == stage
    assert rule in (None, verdict.problems[0].rule)
    assert verdict.definition == (definition and xid(definition))


def test_messages_of_other_definitions_are_not_selected() -> None:
    judge = Judge(CATALOG.catalog, only={xid("loaded")})
    verdict = judge.judge(GOOD)
    assert isinstance(verdict, Rejected)
    assert (verdict.stage, verdict.problems[0].rule) == ("match", "not-selected")
    assert verdict.definition == xid("checkedin")
    assert isinstance(Judge(CATALOG.catalog, only={xid("checkedin")}).judge(GOOD), Accepted)


def test_a_payload_without_schema_is_carried_raw() -> None:
    bare = {name: CHECKED_IN[name] for name in ("envelope", "envelopemetadata")}
    verdict = catalog_of(checkedin=bare).judge(line(event({"weight": 17.5})))
    assert isinstance(verdict, Accepted)
    assert verdict.row == {}
    assert verdict.payload is not None
    assert json.loads(verdict.payload) == {"weight": 17.5}


@given(st.binary(max_size=200))
def test_any_bytes_get_a_verdict(text: bytes) -> None:
    assert isinstance(CATALOG.judge(text), Rejected)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
MQTT_LINE: dict[str, Any] = {
    "protocol": "MQTT/5.0",
    "metadata": {
        "topic_name": "belts/7/sensors/t1",
        "qos": 1,
        "user_properties": [{"name": "unit", "value": "K"}],
    },
    "payload": {"value": 3},
}
SENT = [
    json.loads(GOOD),
    MQTT_LINE,
    {"protocol": "KAFKA", "metadata": {"topic": "luggage", "key": "1", "headers": {"gate": "A"}}},
    {
        "protocol": "HTTP",
        "metadata": {
            "method": "POST",
            "path": "/airports/MUC/orders",
            "headers": [{"name": "x-kind", "value": "order"}],
            "query": {"a": "b"},
        },
        "payload_base64": "AAAA",
    },
]


@given(data=st.data())
def test_changed_members_get_a_verdict(data: st.DataObject) -> None:
    sent = json.loads(json.dumps(data.draw(st.sampled_from(SENT))))
    place = sent
    if isinstance(sent.get("metadata"), dict) and data.draw(st.booleans()):
        place = sent["metadata"]
    place[data.draw(st.sampled_from([*place, "time", "data", "data_base64"]))] = data.draw(JSON)
    assert isinstance(CATALOG.judge(json.dumps(sent).encode()), Accepted | Rejected)


@given(place=st.integers(0, len(GOOD) - 1), change=st.binary(max_size=4), cut=st.integers(0, 4))
def test_mutated_lines_get_a_verdict(place: int, change: bytes, cut: int) -> None:
    text = GOOD[:place] + change + GOOD[place + cut :]
    assert isinstance(CATALOG.judge(text), Accepted | Rejected)
