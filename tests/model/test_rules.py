"""The rules on messages find nothing in what is right, and what is wrong in its place.

What each rule finds is in ``tests/conformance``.
"""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.problem import Finding
from heraldry.model.rules import RULES, check
from tests.conformance.broken_definitions import CE, M, Told, amqp, event, sent
from tests.model.catalogs import catalog


def told(findings: tuple[Finding, ...]) -> list[Told]:
    return [(f.location.removeprefix(M), f.rule, f.severity) for f in findings]


CLEAN: dict[str, dict[str, Any]] = {
    "empty": {},
    "event": event(
        type={"value": "t", "required": True},
        source={"value": "https://{tenant}/{module}", "type": "uritemplate"},
        subject={"type": "urireference"},
        time={"required": True, "value": "0000-01-01T00:00:00Z"},
        specversion={"value": "1.0", "type": "string"},
        priority={"type": "integer", "value": 5},
        flag={"type": "boolean", "value": "true"},
    ),
    "event-without-types": event(source={"value": "/a/{b}"}, dataschema={"value": "/x"}),
    "wrapped-attributes": {**CE, "envelopemetadata": {"attributes": {"type": {"value": "t"}}}},
    "metadata-in-options": {**CE, "envelopeoptions": {"type": {"value": "t"}, "mode": "binary"}},
    "base-without-metadata": {**CE, "basemessage": "/messagegroups/g/messages/nowhere"},
    "base-elsewhere": {"basemessage": "https://example.com/m"},
    "base-by-pointer": {"basemessageuri": "#/messagegroups/g/messages/nowhere"},
    "schema-by-xid": {
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschemauri": "/schemagroups/s/schemas/nowhere/versions/1:Deep/Link",
    },
    "schema-by-both": {
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschemauri": "https://example.com/schemagroups/s/schemas/x",
        "dataschemaxid": "/schemagroups/s/schemas/x",
    },
    "content-types-agree": {
        **event(datacontenttype={"value": "TEXT/Plain; CharSet=utf-8"}),
        "datacontenttype": "text/plain; charset=utf-8",
        **sent("MQTT/5.0", content_type="text/plain;charset=utf-8"),
    },
    "structured-mode": {
        **event(datacontenttype={"value": "application/json"}),
        "envelopeoptions": {"mode": "structured"},
        "datacontenttype": "application/cloudevents+json",
    },
    "http": sent(
        "HTTP",
        headers=[{"name": "Content-Type", "value": "application/json"}],
        query={"a": "{b}"},
        path="/foo/{bar}",
        method="POST",
    ),
    "http-query-array": sent("HTTP/1.1", query=[{"name": "a", "value": "b"}], status=200),
    "amqp": amqp(
        properties={
            "message_id": {"required": True},
            "to": {"value": "https://{host}/{queue}"},
            "content-type": {"value": "application/json"},
            "group-sequence": {"value": 3},
        },
        application_properties={"my-application-property": {"value": "x"}},
        header={"durable": True, "ttl": {"value": 5}},
    ),
    "mqtt": sent(
        "MQTT/5.0",
        qos=1,
        retain=False,
        user_properties=[{"name": "a", "value": "1"}, {"name": "a", "value": "{b}"}],
        **{"topic-name": {"value": "a/{b}"}, "correlation_data": "aGk="},
    ),
    "kafka": sent("Kafka", topic="t", key="{id}", headers={"a": "b", "c": {"value": "{d}"}}),
    "nats": sent("NATS", subject="a.{b}", reply="c", headers=[{"name": "x", "value": "y"}]),
    "other-protocol": sent("STOMP/1.2", anything={"type": "whatever"}),
    "other-envelope": {"envelope": "SOAP/1.2", "envelopemetadata": {"To_Whom": {"type": "x"}}},
    "extension": {"owner": {"team": "x"}, "x-y": 1},
}


@pytest.mark.parametrize("message", [pytest.param(m, id=name) for name, m in CLEAN.items()])
def test_what_is_right_is_not_reported(message: dict[str, Any]) -> None:
    assert told(check(catalog({"m": message}, {"x": {"schema": {}}}))) == []


def test_every_rule_states_its_requirement() -> None:
    for kind, rules in RULES.items():
        for rule in rules:
            said = (rule.__doc__ or "").partition(":")[0]
            known = ("M", "C", "R", "CA-", "endpoint-", "envelope-", "xid-", "default-")
            assert said.startswith(known), (kind, rule)


def test_every_version_is_looked_at() -> None:
    versions = {"1": {"dataschema": {}}, "2": {"datacontenttype": "x"}}
    assert told(check(catalog({"m": {"versions": versions}}))) == [
        ("/versions/1/dataschema", "M23", "error"),
        ("/versions/2/datacontenttype", "M32", "error"),
    ]


def test_ids_are_escaped_in_locations() -> None:
    found = check(catalog({"a/b~c": {"dataschema": {}}}))
    assert [f.location for f in found] == [
        "/messagegroups/g/messages/a~1b~0c",
        "/messagegroups/g/messages/a~1b~0c/dataschema",
    ]
    assert [f.rule for f in found] == ["CA-02", "M23"]
