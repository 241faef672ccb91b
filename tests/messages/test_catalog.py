"""What ``heraldry.open`` returns: definitions by name, and every way to hand over a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import heraldry
from heraldry.errors import UnknownDefinitionError
from heraldry.messages.message import Message
from heraldry.messages.verdict import Accepted, Match, NoMatch
from tests.messages.airport import CHECKED_IN, airport, document, event, line, xid

CATALOG = airport()


def test_a_catalog_is_opened_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "airport.xreg.json"
    file.write_text(json.dumps(document(checkedin=CHECKED_IN)))
    catalog = heraldry.open(file)
    bag = catalog[xid("checkedin")]
    message = bag.build({"weight": 17.2}, airport="MUC", tag="0220731")
    assert message.as_kafka().value == b'{"weight":17.2}'
    assert isinstance(catalog.match(message.as_http()), Match)
    assert isinstance(catalog.judge(message.line()), Accepted)


def test_definitions_are_listed_and_found() -> None:
    assert len(CATALOG) == 5
    names = ["checkedin", "loaded", "reading", "scanned", "ordered"]
    assert [one.xid for one in CATALOG] == [xid(name) for name in names]
    assert xid("loaded") in CATALOG
    assert CATALOG["loaded"].xid == xid("loaded")
    assert CATALOG[CATALOG["loaded"].definition.xid].xid == xid("loaded")


@pytest.mark.parametrize(
    "name",
    [pytest.param("chekedin", id="id"), pytest.param(xid("chekedin"), id="xid")],
)
def test_an_unknown_definition_names_near_ones(name: str) -> None:
    with pytest.raises(UnknownDefinitionError) as caught:
        CATALOG[name]
    assert xid("checkedin") in caught.value.near


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(event(), id="object"),
        pytest.param(line(event()), id="bytes"),
        pytest.param(line(event()).decode(), id="text"),
        pytest.param(Message(envelope="CloudEvents/1.0", attributes=event()), id="message"),
        pytest.param(CATALOG["checkedin"].sample().as_http(), id="HTTP"),
        pytest.param(CATALOG["checkedin"].sample().as_kafka(), id="Kafka"),
        pytest.param(CATALOG["checkedin"].sample().as_mqtt(), id="MQTT"),
    ],
)
def test_a_message_may_have_any_shape(raw: object) -> None:
    result = CATALOG.match(raw)  # type: ignore[arg-type]
    assert isinstance(result, Match)
    assert str(result.definition.xid) == xid("checkedin")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"{", id="not JSON"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({}, id="empty object"),
    ],
)
def test_what_is_no_message_does_not_match(raw: object) -> None:
    result = CATALOG.match(raw)  # type: ignore[arg-type]
    assert isinstance(result, NoMatch)
    assert result.problems


def test_names_are_offered() -> None:
    for name in heraldry.__all__:
        assert getattr(heraldry, name) is not None
    with pytest.raises(AttributeError):
        heraldry.nothing  # noqa: B018
