"""Every property stands beside what the definition says of it."""

from __future__ import annotations

from heraldry.messages.catalog import to_json
from heraldry.messages.message import Message
from tests.messages.airport import airport, event, reading, xid

CATALOG = airport()


def test_every_rule_gets_a_verdict() -> None:
    verdicts = CATALOG[xid("checkedin")].explain(event(subject="SUITCASE"))
    by_path = {one.path: one for one in verdicts}
    assert by_path["attributes.type"].ok
    assert by_path["attributes.type"].found == "airport.luggage.checkedin"
    subject = by_path["attributes.subject"]
    assert (subject.ok, subject.rule) == (False, "template")
    assert (subject.expected, subject.found) == ("BAG-{tag}", "SUITCASE")
    assert by_path["envelope"].ok


def test_protocol_and_envelope_are_told() -> None:
    verdicts = {one.path: one for one in CATALOG[xid("scanned")].explain(reading())}
    assert (verdicts["protocol"].ok, verdicts["protocol"].rule) == (False, "protocol")
    assert (verdicts["envelope"].ok, verdicts["envelope"].rule) == (False, "envelope")


def test_a_match_explains_itself() -> None:
    text = CATALOG.match(event({"weight": 1})).explain()
    assert text.splitlines()[0] == f"{xid('checkedin')} fits"
    assert "  tag = 0220731" in text
    assert "BAG-{tag}" in text


def test_a_miss_explains_itself() -> None:
    text = CATALOG.match(event(subject="SUITCASE")).explain()
    assert "attributes.subject: does not fit 'BAG-{tag}' (found SUITCASE) [template]" in text
    assert f"{xid('checkedin')}, 67% of its rules hold" in text
    row = next(row for row in text.splitlines() if row.startswith("!!"))
    assert row.split()[:3] == ["!!", "attributes.subject", "BAG-{tag}"]


def test_what_is_no_message_explains_itself() -> None:
    assert CATALOG.match(b"{").explain().startswith("no definition fits\n  /: ")


def test_json_of_a_match() -> None:
    assert to_json(CATALOG.match(event({"weight": 1}))) == {
        "definition": xid("checkedin"),
        "values": {"airport": "MUC", "tag": "0220731"},
        "candidates": [xid("checkedin")],
        "problems": [],
        "near": [],
    }


def test_json_of_a_miss() -> None:
    problem = {
        "definition": xid("checkedin"),
        "path": "attributes.subject",
        "rule": "template",
        "message": "does not fit 'BAG-{tag}'",
        "expected": "BAG-{tag}",
        "found": "SUITCASE",
    }
    near = {"definition": xid("checkedin"), "score": 0.667, "problems": [problem]}
    assert to_json(CATALOG.match(event(subject="SUITCASE"))) == {
        "definition": None,
        "values": {},
        "candidates": [],
        "problems": [problem],
        "near": [near],
    }


def test_a_message_of_no_kind() -> None:
    told = to_json(CATALOG.match(Message(payload=b"x")))
    assert told["definition"] is None
    assert told["problems"][0]["rule"] == "unknown"
