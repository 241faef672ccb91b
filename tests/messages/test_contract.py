"""An endpoint's contract: its own messages, those of its groups, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UnknownEndpointError
from heraldry.messages.catalog import Matched, MessageCatalog, Unmatched, to_json
from heraldry.messages.verdict import Accepted, Rejected
from tests.messages.airport import CHECKED_IN, LOADED, READING, event, line, reading, xid

LOST = {**CHECKED_IN, "envelopemetadata": {"type": {"value": "airport.luggage.lost"}}}
OWN = "/endpoints/broker/messages/lost"


def airport(**endpoint: Any) -> MessageCatalog:
    """Events in one group, belts over MQTT in another, and one endpoint."""
    document = {
        "endpoints": {"broker": {"usage": ["consumer"], **endpoint}},
        "messagegroups": {
            "luggage": {"messages": {"checkedin": CHECKED_IN, "loaded": LOADED}},
            "belts": {"messages": {"reading": READING}},
        },
    }
    return MessageCatalog(load_bytes(json.dumps(document).encode(), "airport.json"))


CATALOG = airport(messagegroups=["/messagegroups/belts"], messages={"lost": LOST})
BROKER = CATALOG.endpoint("broker")
BELTS = "/messagegroups/belts/messages/reading"


def test_the_contract_holds_own_messages_and_those_of_the_groups() -> None:
    assert [one.xid for one in BROKER] == [OWN, BELTS]
    assert BROKER.definitions == tuple(BROKER)
    assert len(BROKER) == 2
    assert BELTS in BROKER
    assert xid("checkedin") not in BROKER
    assert BROKER["reading"].xid == BELTS
    assert str(BROKER.endpoint.xid) == "/endpoints/broker"


def test_an_endpoint_is_found_by_its_xid_too() -> None:
    assert CATALOG.endpoint("/endpoints/broker").contract == BROKER.contract


def test_an_unknown_endpoint_names_the_near_ones() -> None:
    with pytest.raises(UnknownEndpointError) as error:
        CATALOG.endpoint("brokre")
    assert "/endpoints/broker" in str(error.value)


def test_a_message_of_the_contract_matches() -> None:
    result = BROKER.match(reading())
    assert isinstance(result, Matched)
    assert str(result.definition.xid) == BELTS
    assert result.values == {"belt": "7", "sensor": "t1", "unit": "K"}


def test_a_message_of_another_definition_is_not_in_the_contract() -> None:
    assert isinstance(CATALOG.match(event()), Matched)
    result = BROKER.match(event())
    assert isinstance(result, Unmatched)
    (problem,) = result.problems
    assert (problem.path, problem.rule) == ("definition", "not-in-contract")
    assert problem.found == xid("checkedin")
    assert to_json(result)["problems"][0]["definition"] == xid("checkedin")
    assert "airport.luggage.checkedin" in result.explain()


def test_a_message_that_fits_nothing_keeps_its_reasons() -> None:
    result = BROKER.match(reading(topic_name="belts/7"))
    assert isinstance(result, Unmatched)
    assert [problem.rule for problem in result.problems] == ["template"]
    assert [near.definition for near in result.near] == [BELTS]


def test_a_definition_outside_does_not_make_a_message_ambiguous() -> None:
    document = {
        "endpoints": {"broker": {"messagegroups": ["/messagegroups/twin"]}},
        "messagegroups": {
            "luggage": {"messages": {"checkedin": CHECKED_IN}},
            "twin": {"messages": {"checkedin": CHECKED_IN}},
        },
    }
    twins = MessageCatalog(load_bytes(json.dumps(document).encode(), "twins.json"))
    assert isinstance(twins.match(event({"weight": 1})), Unmatched)
    result = twins.endpoint("broker").match(event({"weight": 1}))
    assert isinstance(result, Matched)
    assert str(result.definition.xid) == "/messagegroups/twin/messages/checkedin"


def test_judging_follows_the_contract() -> None:
    lost = line(event({"weight": 1}, type="airport.luggage.lost"))
    assert isinstance(BROKER.judge(lost), Accepted)
    verdict = BROKER.judge(line(event({"weight": 1})))
    assert isinstance(verdict, Rejected)
    assert (verdict.stage, verdict.definition) == ("match", xid("checkedin"))


@pytest.mark.parametrize(
    ("references", "unresolved"),
    [
        pytest.param(["/messagegroups/gone"], ("/messagegroups/gone",), id="not in the catalog"),
        pytest.param(
            ["https://example.com/messagegroups/belts"],
            ("https://example.com/messagegroups/belts",),
            id="in another registry",
        ),
        pytest.param(["/schemagroups/belts"], ("/schemagroups/belts",), id="no message group"),
        pytest.param(["#/messagegroups/luggage"], (), id="a pointer into the document"),
    ],
)
def test_references_that_lead_nowhere_are_listed(
    references: list[str], unresolved: tuple[str, ...]
) -> None:
    assert airport(messagegroups=references).endpoint("broker").contract.unresolved == unresolved


def test_a_group_that_is_named_twice_counts_once() -> None:
    twice = airport(messagegroups=["/messagegroups/belts", "#/messagegroups/belts"])
    assert twice.endpoint("broker").contract.xids == (BELTS,)


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param({"protocol": "KAFKA"}, id="another protocol"),
        pytest.param({"protocol": "KAFKA", "envelope": "CloudEvents/1.0"}, id="with envelope"),
    ],
)
def test_a_definition_of_another_protocol_does_not_belong(endpoint: dict[str, Any]) -> None:
    groups = ["/messagegroups/luggage", "/messagegroups/belts"]
    kafka = airport(messagegroups=groups, **endpoint).endpoint("broker")
    assert kafka.contract.xids == (xid("checkedin"), xid("loaded"))
    assert kafka.contract.foreign == (BELTS,)
    result = kafka.match(reading())
    assert isinstance(result, Unmatched)
    assert [problem.rule for problem in result.problems] == ["not-in-contract"]


def test_a_definition_of_another_envelope_does_not_belong() -> None:
    endpoint = {"envelope": "acme/1.0", "messagegroups": ["/messagegroups/luggage"]}
    contract = airport(**endpoint).endpoint("broker").contract
    assert (contract.xids, contract.foreign) == ((), (xid("checkedin"), xid("loaded")))


@pytest.mark.parametrize(
    ("protocol", "belongs"),
    [
        pytest.param("MQTT", True, id="shorthand"),
        pytest.param("mqtt/5.0", True, id="case"),
        pytest.param("MQTT/3.1.1", False, id="another version"),
    ],
)
def test_versions_of_a_protocol_count(protocol: str, belongs: bool) -> None:
    endpoint = {"protocol": protocol, "messagegroups": ["/messagegroups/belts"]}
    contract = airport(**endpoint).endpoint("broker").contract
    assert (BELTS in contract.xids, BELTS in contract.foreign) == (belongs, not belongs)


def test_a_definition_that_is_its_own_base_is_left_out() -> None:
    circular = {**LOST, "basemessage": OWN}
    contract = airport(messages={"lost": circular}).endpoint("broker").contract
    assert (contract.xids, contract.foreign) == ((), ())
