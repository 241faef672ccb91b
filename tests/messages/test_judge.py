"""One line in, one verdict out, and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected
from tests.messages.airport import CHECKED_IN, airport, catalog_of, event, line, xid

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
    assert verdict.envelope == {}


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
