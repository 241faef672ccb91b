"""The rules on endpoints: usage, groups, addresses and options, as far as they hold in 1.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.load import load
from heraldry.dialects.xreg_1_0 import read
from heraldry.model.endpoint_options import OPTIONS
from heraldry.model.rules import check

Told = tuple[str, str, str]
E = "/endpoints/e"
MESSAGES = {
    "event": {"envelope": "CloudEvents/1.0", "envelopemetadata": {}},
    "mqtt": {"protocol": "MQTT/5.0", "protocoloptions": {}},
    "kafka": {"protocol": "KAFKA", "protocoloptions": {}},
}
SEVERITIES = {"E": "error", "W": "warning", "I": "info"}


def document(**members: Any) -> dict[str, Any]:
    groups = {"g": {"messages": MESSAGES}, "empty": {"messages": {}}}
    return {"endpoints": {"e": {"usage": ["producer"], **members}}, "messagegroups": groups}


def told(**members: Any) -> list[Told]:
    found = check(read(document(**members), "f"))
    return [(f.location.removeprefix(E), f.rule, f.severity) for f in found]


def at(protocol: str, *addresses: Any, **options: Any) -> dict[str, Any]:
    """An endpoint of a protocol with addresses and options."""
    places = {"endpoints": list(addresses)} if addresses else {}
    return {"protocol": protocol, "protocoloptions": {**places, **options}}


def url(text: str) -> dict[str, str]:
    return {"url": text}


def servers(*names: str) -> dict[str, Any]:
    return {"bootstrap.servers": list(names)}


GOOD: dict[str, dict[str, Any]] = {
    "abstract": {},
    "groups": {"messagegroups": ["/messagegroups/empty", "https://example.com/g"]},
    "shorthand": {"protocol": "MQTT", "envelope": "CloudEvents"},
    "usage as text": {"usage": "consumer"},
    "modes": {
        "envelope": "CloudEvents/1.0",
        "envelopeoptions": {"mode": "structured", "format": "application/cloudevents+json"},
    },
    "authorization": at(
        "HTTP", authorization=[{"type": "OAuth2", "authorityuri": "https://login.example.com"}]
    ),
    "authorization as map (C37)": at("HTTP", authorization={"type": "Plain"}, deployed=False),
    "http": at(
        "HTTP/1.1",
        url("https://{tenant}.example.com/events"),
        method="PUT",
        headers=[{"name": "X-A", "value": "{a}"}, {"name": "X-A", "value": "b"}],
        query={"operation": "{op}"},
    ),
    "http as uri (C41)": {"protocol": "HTTP", "endpoints": [{"uri": "http://a"}], "deployed": True},
    "http options nested (C52)": at("HTTP", options={"method": "PUT"}),
    "amqp": at(
        "AMQP/1.0",
        url("amqps://example.com/queue"),
        node="q",
        durable=True,
        link_properties={"a": "{b}"},
        connection_capabilities=["x"],
    ),
    "mqtt": at(
        "MQTT/3.1.1",
        url("mqtt://example.com:1883/a/b"),
        url("tcp://example.com"),
        topic="a/{b}",
        qos=2,
        retain=True,
        **{"clean-session": False, "will-topic": "w/{b}"},
        willmessage="/messagegroups/g/messages/mqtt",
    ),
    "mqtt will as event": at("MQTT/5.0", willmessage="/messagegroups/g/messages/event"),
    "mqtt will elsewhere": at("MQTT/5.0", willmessage="https://example.com/m"),
    "kafka": at(
        "KAFKA", servers("a:9092", "SSL://b:9093", "[::1]:9092"), topic="{t}", acks=-1, partition=0
    ),
    "kafka listed": at("KAFKA", {"bootstrap.servers": "a:9092,b:9092"}),
    "nats": at("NATS", url("nats://example.com:{port}"), subject="a.{b}"),
    "other protocol": at("BunnyMQ/0.9.1", url("bunny:burrow"), anything=5),
    "placeholder as address": at("HTTP", url("{base}/events")),
}


@pytest.mark.parametrize("members", [pytest.param(m, id=name) for name, m in GOOD.items()])
def test_what_is_right_is_not_reported(members: dict[str, Any]) -> None:
    assert told(**members) == []


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "R56 usage is one of three": ({"usage": ["sender"]}, "E endpoint-usage /usage/0"),
    "R56 usage is there": ({"usage": None}, "W endpoint-usage /usage"),
    "a group is a reference": (
        {"messagegroups": ["g"]},
        "E endpoint-messagegroup-reference /messagegroups/0",
    ),
    "groups are listed": (
        {"messagegroups": "/messagegroups/g"},
        "E endpoint-messagegroup-reference /messagegroups",
    ),
    "a group is in the catalog": (
        {"messagegroups": ["#/messagegroups/empty", "/messagegroups/no"]},
        "W endpoint-messagegroup-unknown /messagegroups/1",
    ),
    "M12 groups have the protocol": (
        {**at("NATS"), "messagegroups": ["/messagegroups/g"]},
        "W M12 /messagegroups/0",
    ),
    "M13 groups have the envelope": (
        {"envelope": "SOAP/1.2", "messagegroups": ["/messagegroups/g"]},
        "W M12 /messagegroups/0",
    ),
    "options are an object": ({"protocoloptions": []}, "E endpoint-shape /protocoloptions"),
    "channel is a text": ({"channel": 5}, "E endpoint-shape /channel"),
    "mode is known": (
        {"envelope": "CloudEvents/1.0", "envelopeoptions": {"mode": "Binary"}},
        "E envelope-options /envelopeoptions/mode",
    ),
    "binary mode has no format": (
        {"envelope": "CloudEvents/1.0", "envelopeoptions": {"mode": "binary", "format": "a/b"}},
        "E envelope-options /envelopeoptions/format",
    ),
    "R66 deployed is a boolean": (at("HTTP", deployed="yes"), "E R66 /protocoloptions/deployed"),
    "R66 beside the options (C41)": ({"deployed": "yes"}, "E R66 /deployed"),
    "authorization is listed": (
        at("HTTP", authorization="OAuth2"),
        "E endpoint-authorization /protocoloptions/authorization",
    ),
    "authorization has a type": (
        at("HTTP", authorization=[{}]),
        "E endpoint-authorization /protocoloptions/authorization/0",
    ),
    "authorization names a URI": (
        at("HTTP", authorization=[{"type": "OAuth2", "authorityuri": "login"}]),
        "E endpoint-authorization /protocoloptions/authorization/0/authorityuri",
    ),
    "R64 addresses are listed": (
        at("HTTP", endpoints="http://a"),
        "E R64 /protocoloptions/endpoints",
    ),
    "R64 an entry has an address": (at("HTTP", {}), "E R64 /protocoloptions/endpoints/0"),
    "R64 an address is absolute": (
        at("HTTP", url("example.com")),
        "E R64 /protocoloptions/endpoints/0/url",
    ),
    "R64 an address has a host": (
        {"protocol": "HTTP", "endpoints": [{"uri": "http://"}]},
        "E R64 /endpoints/0/uri",
    ),
    "R64 braces come in pairs": (
        at("HTTP", url("http://a/{b")),
        "E R64 /protocoloptions/endpoints/0/url",
    ),
    "R67 scheme of HTTP": (at("HTTP", url("ftp://a")), "E R67 /protocoloptions/endpoints/0/url"),
    "R68 method is a token": (at("HTTP", method="GET IT"), "E R68 /protocoloptions/method"),
    "R69 headers is an array": (at("HTTP", headers={}), "E R69 /protocoloptions/headers"),
    "R69 a header has a value": (
        at("HTTP", headers=[{"name": "a"}]),
        "E R69 /protocoloptions/headers/0",
    ),
    "R69 a header name is a token": (
        at("HTTP", headers=[{"name": "a b", "value": "c"}]),
        "E R69 /protocoloptions/headers/0/name",
    ),
    "R70 query is a map": (at("HTTP", query="a=b"), "E R70 /protocoloptions/query"),
    "R70 query values are not empty": (
        at("HTTP", query={"a": ""}),
        "E R70 /protocoloptions/query/a",
    ),
    "R71 scheme of AMQP": (
        at("AMQP", url("https://a")),
        "E R71 /protocoloptions/endpoints/0/url",
    ),
    "R72 node is a text": (at("AMQP", node=5), "E R72 /protocoloptions/node"),
    "R73 durable is a boolean": (at("AMQP", durable=1), "E R73 /protocoloptions/durable"),
    "R74 link-properties are texts": (
        at("AMQP", link_properties={"a": 1}),
        "E R74 /protocoloptions/link_properties/a",
    ),
    "R75 connection-properties is a map": (
        at("AMQP", **{"connection-properties": []}),
        "E R75 /protocoloptions/connection-properties",
    ),
    "R76 distribution-mode is move or copy": (
        {"usage": ["consumer"], **at("AMQP", **{"distribution-mode": "share"})},
        "E R76 /protocoloptions/distribution-mode",
    ),
    "R77 scheme of MQTT": (
        at("MQTT/5.0", url("http://a")),
        "E R77 /protocoloptions/endpoints/0/url",
    ),
    "R77 ws is read": (at("MQTT/5.0", url("ws://a")), "W R77 /protocoloptions/endpoints/0/url"),
    "R77 wss has no path": (
        at("MQTT/5.0", url("wss://a/mqtt")),
        "W R77 /protocoloptions/endpoints/0/url",
    ),
    "R77 a path is no filter": (
        at("MQTT/5.0", url("mqtt://a/b/+")),
        "E R77 /protocoloptions/endpoints/0/url",
    ),
    "R78 topic is not empty": (at("MQTT/5.0", topic=""), "E R78 /protocoloptions/topic"),
    "R78 topic is no filter": (at("MQTT/5.0", topic="a/#"), "W R78 /protocoloptions/topic"),
    "R79 qos is at most 2": (at("MQTT/5.0", qos=3), "E R79 /protocoloptions/qos"),
    "R79 qos is an integer": (at("MQTT/5.0", qos=True), "E R79 /protocoloptions/qos"),
    "R80 retain is a boolean": (at("MQTT/5.0", retain="no"), "E R80 /protocoloptions/retain"),
    "R81 clean-session is a boolean": (
        at("MQTT/5.0", **{"clean-session": 1}),
        "E R81 /protocoloptions/clean-session",
    ),
    "R82 will-topic is not empty": (at("MQTT", willtopic=""), "E R82 /protocoloptions/willtopic"),
    "R82 will-topic is no filter": (
        at("MQTT", **{"will-topic": "a/+"}),
        "E R82 /protocoloptions/will-topic",
    ),
    "R83 will-message is a reference": (
        at("MQTT", willmessage="event"),
        "E R83 /protocoloptions/willmessage",
    ),
    "R83 will-message is there": (
        at("MQTT", willmessage="/messagegroups/g/messages/no"),
        "W R83 /protocoloptions/willmessage",
    ),
    "R83 will-message is of MQTT or CloudEvents": (
        at("MQTT", willmessage="/messagegroups/g/messages/kafka"),
        "E R83 /protocoloptions/willmessage",
    ),
    "R84 a server has a port": (
        at("KAFKA", servers("a:1", "b")),
        "E R84 /protocoloptions/endpoints/0/bootstrap.servers/1",
    ),
    "R84 scheme of KAFKA": (
        at("KAFKA", servers("http://a:1")),
        "E R84 /protocoloptions/endpoints/0/bootstrap.servers/0",
    ),
    "R84 an entry has servers": (at("KAFKA", {}), "E R64 /protocoloptions/endpoints/0"),
    "R84 a URL is read (C41)": (
        {"protocol": "KAFKA", "endpoints": [{"uri": "kafka://a:9093"}]},
        "W R84 /endpoints/0/uri",
    ),
    "R85 topic is not empty": (at("KAFKA", topic=""), "E R85 /protocoloptions/topic"),
    "R86 acks is at most 1": (at("KAFKA", acks=2), "E R86 /protocoloptions/acks"),
    "R86 acks is an integer": (at("KAFKA", acks="all"), "E R86 /protocoloptions/acks"),
    "R87 key is a text": (at("KAFKA", key=5), "E R87 /protocoloptions/key"),
    "R88 partition is an integer": (
        at("KAFKA", partition="0"),
        "E R88 /protocoloptions/partition",
    ),
    "R89 consumer-group is not empty": (
        {"usage": ["consumer"], **at("KAFKA", **{"consumer-group": ""})},
        "E R89 /protocoloptions/consumer-group",
    ),
    "R90 scheme of NATS": (
        at("NATS", url("http://a:1")),
        "E R90 /protocoloptions/endpoints/0/url",
    ),
    "R90 NATS has a port": (
        at("NATS", url("nats://a")),
        "E R90 /protocoloptions/endpoints/0/url",
    ),
    "R91 subject is a text": (at("NATS", subject=5), "E R91 /protocoloptions/subject"),
    "R91 subject is no filter": (at("NATS", subject="a.>"), "W R91 /protocoloptions/subject"),
    "R92 durable is for producers": (
        {"usage": ["consumer"], **at("AMQP", durable=True)},
        "I R92 /protocoloptions/durable",
    ),
    "R92 a consumer group is for consumers": (
        at("KAFKA", consumergroup="g"),
        "I R92 /protocoloptions/consumergroup",
    ),
    "R93 a placeholder is a symbol": (
        at("HTTP", query={"a": "{b-c}"}),
        "E R93 /protocoloptions/query/a",
    ),
    "a queue group has a filter": (
        {"usage": ["consumer"], **at("NATS", queuegroup="q")},
        "W endpoint-option /protocoloptions/queuegroup",
    ),
    "a shared group is a bare name": (
        {
            "usage": ["consumer"],
            **at("MQTT/5.0", sharedsubscriptiongroup="$share/g", topicfilter="a/#"),
        },
        "E endpoint-option /protocoloptions/sharedsubscriptiongroup",
    ),
    "autooffsetreset is known": (
        {"usage": ["consumer"], **at("KAFKA", autooffsetreset="first")},
        "E endpoint-option /protocoloptions/autooffsetreset",
    ),
    "a misspelled option": (
        at("KAFKA", topics="t"),
        "W endpoint-option-unknown /protocoloptions/topics",
    ),
    "an unknown option": (
        at("KAFKA", colour="t"),
        "I endpoint-option-unknown /protocoloptions/colour",
    ),
}


@pytest.mark.parametrize(
    ("members", "expected"), [pytest.param(*case, id=name) for name, case in BAD.items()]
)
def test_what_is_wrong_is_found_where_it_is(members: dict[str, Any], expected: str) -> None:
    severity, rule, location = expected.split(" ")
    found = told(**members)
    assert found == [(location, rule, SEVERITIES[severity])]


@pytest.mark.parametrize("protocol", OPTIONS)
def test_every_option_has_its_type(protocol: str) -> None:
    for name in OPTIONS[protocol]:
        wrong = told(usage=["producer", "consumer"], **at(protocol, **{name: 1.5}))
        assert told(**at(protocol, **{name: None})) == []
        assert [where for where, _, severity in wrong if severity == "error"] == [
            f"/protocoloptions/{name}"
        ]


def test_real_catalogs_have_no_errors(reference: Path) -> None:
    for path in sorted((reference / "catalogs/xregistry-samples").glob("*.xreg.json")):
        assert [f for f in check(load(path)) if f.severity == "error"] == [], path.name
