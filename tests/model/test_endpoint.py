"""Endpoints as values: addresses, options and defaults, whatever way a document spells them."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import read
from heraldry.errors import UnknownEndpointError
from heraldry.model.endpoint import Endpoint, endpoint_of, endpoints


def endpoint(**members: Any) -> Endpoint:
    return endpoint_of(read({"endpoints": {"e": members}}, "f"), "e")


ADDRESSES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "url": ({"protocoloptions": {"endpoints": [{"url": "http://a"}]}}, ("http://a",)),
    "uri": ({"protocoloptions": {"endpoints": [{"uri": "http://a"}]}}, ("http://a",)),
    "beside the options (C41)": ({"endpoints": [{"uri": "http://a"}]}, ("http://a",)),
    "text": ({"config": {"endpoints": ["http://a", "http://b"]}}, ("http://a", "http://b")),
    "kafka": (
        {"protocoloptions": {"endpoints": [{"bootstrap.servers": ["a:1", "b:2"]}]}},
        ("a:1", "b:2"),
    ),
    "kafka in one text": (
        {"protocoloptions": {"endpoints": [{"bootstrap.servers": "a:1, b:2"}]}},
        ("a:1", "b:2"),
    ),
    "wrong types": ({"protocoloptions": {"endpoints": [5, {"bootstrap.servers": 5}]}}, ()),
    "none": ({"protocoloptions": []}, ()),
}


@pytest.mark.parametrize(
    ("members", "expected"), [pytest.param(*case, id=name) for name, case in ADDRESSES.items()]
)
def test_addresses(members: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert endpoint(**members).addresses == expected


@pytest.mark.parametrize("spelling", ["consumer-group", "consumergroup", "consumer_group"])
def test_an_option_is_found_in_any_spelling(spelling: str) -> None:
    found = endpoint(protocol="KAFKA", protocoloptions={spelling: "g"})
    assert found.option("consumergroup") == found.option("consumer-group") == "g"


def test_an_option_may_be_nested() -> None:
    assert endpoint(protocol="KAFKA", protocoloptions={"options": {"topic": "t"}}).option(
        "topic"
    ) == ("t")


@pytest.mark.parametrize(
    ("protocol", "name", "expected"),
    [
        pytest.param("HTTP", "method", "POST", id="R68"),
        pytest.param("AMQP/1.0", "durable", False, id="R73"),
        pytest.param("AMQP/1.0", "distribution_mode", "move", id="R76"),
        pytest.param("MQTT/5.0", "qos", 0, id="R79"),
        pytest.param("MQTT/3.1.1", "retain", False, id="R80"),
        pytest.param("MQTT/3.1.1", "clean-session", True, id="R81"),
        pytest.param("KAFKA", "acks", 1, id="R86"),
        pytest.param("KAFKA", "topic", None, id="no default"),
        pytest.param("BunnyMQ/0.9", "qos", None, id="unknown protocol"),
    ],
)
def test_an_option_has_the_default_of_its_protocol(
    protocol: str, name: str, expected: object
) -> None:
    found = endpoint(protocol=protocol)
    assert found.option(name) == expected
    assert found.option(name, "own") == "own"


def test_an_endpoint_keeps_what_is_usable() -> None:
    found = endpoint(usage=["producer", 5], messagegroups=["/messagegroups/g", None], channel="")
    assert (found.usage, found.messagegroups) == (("producer",), ("/messagegroups/g",))
    assert (found.channel, found.deployed, found.deprecated) == (None, False, False)


def test_an_endpoint_does_not_show_what_may_be_a_secret() -> None:
    options = {"endpoints": [{"url": "amqp://me:hunter2@a", "token": "hunter2"}], "pwd": "hunter2"}
    assert "hunter2" not in repr(endpoint(protocol="AMQP", protocoloptions=options))


def test_endpoints_are_listed_and_found() -> None:
    catalog = read({"endpoints": {"orders": {}, "payments": {}}}, "f")
    assert [str(xid) for xid in endpoints(catalog)] == ["/endpoints/orders", "/endpoints/payments"]
    assert str(endpoint_of(catalog, "/endpoints/orders").xid) == "/endpoints/orders"
    with pytest.raises(UnknownEndpointError) as error:
        endpoint_of(catalog, "order")
    assert error.value.near == ("/endpoints/orders",)
