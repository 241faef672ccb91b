"""The rules on messages: each broken one is found at its place, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.problem import Finding
from heraldry.model.rules import RULES, check
from tests.model.catalogs import FILE, catalog

Told = tuple[str, str, str]
CE: dict[str, Any] = {"envelope": "CloudEvents/1.0"}
M = "/messagegroups/g/messages/m"


def told(findings: tuple[Finding, ...]) -> list[Told]:
    return [(f.location.removeprefix(M), f.rule, f.severity) for f in findings]


def event(**metadata: Any) -> dict[str, Any]:
    return {**CE, "envelopemetadata": metadata}


def sent(protocol: str, **options: Any) -> dict[str, Any]:
    return {"protocol": protocol, "protocoloptions": options}


def amqp(**sections: Any) -> dict[str, Any]:
    return sent("AMQP/1.0", **{name.replace("_", "-"): value for name, value in sections.items()})


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


BROKEN: dict[str, tuple[dict[str, Any], Told]] = {
    "M5-none": ({"envelope": "None"}, ("/envelope", "M5", "warning")),
    "M5-type": ({"envelope": 1, "envelopemetadata": {}}, ("/envelope", "M5", "error")),
    "M6-shorthand": (
        {"envelope": "CloudEvents", "envelopemetadata": {}},
        ("/envelope", "M6", "warning"),
    ),
    "M6-form": ({"envelope": "SOAP", "envelopemetadata": {}}, ("/envelope", "M6", "error")),
    "M7": (
        {"envelope": "CloudEvents/1.0.2", "envelopemetadata": {}},
        ("/envelope", "M7", "error"),
    ),
    "M9-empty": ({"protocol": ""}, ("/protocol", "M9", "warning")),
    "M10-shorthand": (sent("MQTT"), ("/protocol", "M10", "warning")),
    "M10-form": (sent("a/b/c"), ("/protocol", "M10", "error")),
    "M11-http": (sent("HTTP/2.0"), ("/protocol", "M11", "warning")),
    "M11-kafka": (sent("Kafka/0.11"), ("/protocol", "M11", "warning")),
    "M14-form": ({"basemessage": "m2"}, ("/basemessage", "M14", "error")),
    "M14-kind": ({"basemessage": "/schemagroups/s/schemas/x"}, ("/basemessage", "M14", "error")),
    "M14-spelling": ({"basemessageurl": "x"}, ("/basemessageurl", "M14", "error")),
    "M18": ({"basemessage": M}, ("/basemessage", "M18", "error")),
    "M19": (CE, ("/envelope", "M19", "warning")),
    "M20": ({"protocol": "NATS"}, ("/protocol", "M20", "warning")),
    "M21": ({"dataschemaformat": " "}, ("/dataschemaformat", "M21", "error")),
    "M22-form": ({"dataschemaformat": "a/b/c"}, ("/dataschemaformat", "M22", "error")),
    "M22-version": ({"dataschemaformat": "Avro"}, ("/dataschemaformat", "M22", "warning")),
    "M23": ({"dataschema": {}}, ("/dataschema", "M23", "error")),
    "M24": ({"dataschemauri": "/schemagroups/s/schemas/x"}, ("/dataschemauri", "M24", "error")),
    "M25": (
        {"dataschemaformat": "Avro/1.9", "dataschema": {}, "dataschemauri": "/x"},
        ("/dataschema", "M25", "error"),
    ),
    "M27": ({"dataschemaxid": "/messagegroups/g/messages/m"}, ("/dataschemaxid", "M27", "error")),
    "M28": (
        {
            "dataschemaformat": "JSONSchema/draft-07",
            "dataschemaxid": "/schemagroups/s/schemas/x",
            "dataschemauri": "/schemagroups/s/schemas/y",
        },
        ("/dataschemauri", "M28", "error"),
    ),
    "M29-header": (
        {
            "datacontenttype": "application/json",
            **sent("HTTP", headers=[{"name": "content-type", "value": "text/plain"}]),
        },
        ("/protocoloptions/headers/0/value", "M29", "error"),
    ),
    "M29-attribute": (
        {**event(datacontenttype={"value": "a/b"}), "datacontenttype": "a/c"},
        ("/envelopemetadata/datacontenttype/value", "M29", "error"),
    ),
    "M32": ({"datacontenttype": "json"}, ("/datacontenttype", "M32", "error")),
    "M33": (
        event(id={"description": ""}),
        ("/envelopemetadata/id/description", "M33", "error"),
    ),
    "M34": (
        event(subject={"required": "yes"}),
        ("/envelopemetadata/subject/required", "M34", "error"),
    ),
    "M35-alias": (
        event(time={"type": "datetime"}),
        ("/envelopemetadata/time/type", "M35", "warning"),
    ),
    "M35-unknown": (event(x={"type": "text"}), ("/envelopemetadata/x/type", "M35", "error")),
    "M35-only-amqp": (event(x={"type": "uuid"}), ("/envelopemetadata/x/type", "M35", "error")),
    "M36-integer": (
        event(x={"type": "integer", "value": "five"}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36-32-bits": (
        event(x={"type": "integer", "value": 2**31}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36-default": (event(x={"value": 5}), ("/envelopemetadata/x/value", "M36", "error")),
    "M36-no-placeholder": (
        event(x={"type": "boolean", "value": "{x}"}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36-wrapped": (
        {**CE, "envelopemetadata": {"attributes": {"time": {"value": "now"}}}},
        ("/envelopemetadata/attributes/time/value", "M36", "error"),
    ),
    "M36-in-options": (
        {**CE, "envelopeoptions": {"time": {"value": "now"}}},
        ("/envelopeoptions/time/value", "M36", "error"),
    ),
    "M38-operator": (
        event(source={"type": "uritemplate", "value": "/{+path}"}),
        ("/envelopemetadata/source/value", "M38", "error"),
    ),
    "M38-text": (
        event(subject={"value": "{a-b}"}),
        ("/envelopemetadata/subject/value", "M38", "warning"),
    ),
    "M38-topic": (
        sent("MQTT/5.0", topic_name="a/{b"),
        ("/protocoloptions/topic_name", "M38", "error"),
    ),
    "M42": (event(my_name={}), ("/envelopemetadata/my_name", "M42", "error")),
    "M43-value": (
        event(specversion={"value": "0.3"}),
        ("/envelopemetadata/specversion/value", "M43", "error"),
    ),
    "M43-no-value": (
        event(specversion={"required": True}),
        ("/envelopemetadata/specversion", "M43", "warning"),
    ),
    "M43-type": (
        event(specversion={"value": "1.0", "type": "any"}),
        ("/envelopemetadata/specversion/type", "M43", "error"),
    ),
    "M44": (event(id={"required": False}), ("/envelopemetadata/id/required", "M44", "error")),
    "M47": (
        {
            **event(dataschema={"value": "https://example.com/a"}),
            "dataschemaformat": "Avro/1.9",
            "dataschemauri": "https://example.com/b",
        },
        ("/envelopemetadata/dataschema/value", "M47", "error"),
    ),
    "M48": (event(type={"type": "boolean"}), ("/envelopemetadata/type/type", "M48", "warning")),
    "M50": (
        sent("HTTP", headers=[{"name": "a b", "value": "x"}]),
        ("/protocoloptions/headers/0/name", "M50", "error"),
    ),
    "M51": (sent("HTTP", method="GET IT"), ("/protocoloptions/method", "M51", "error")),
    "M52": (sent("HTTP", status="abc"), ("/protocoloptions/status", "M52", "error")),
    "M53": (
        sent("HTTP", status="200", method="GET"),
        ("/protocoloptions/status", "M53", "error"),
    ),
    "M54-headers": (sent("HTTP", headers={}), ("/protocoloptions/headers", "M54", "error")),
    "M54-query": (sent("HTTP", query="a=b"), ("/protocoloptions/query", "M54", "error")),
    "M54-unknown": (sent("HTTP", verb="GET"), ("/protocoloptions/verb", "M54", "warning")),
    "M55": (amqp(trailer={}), ("/protocoloptions/trailer", "M55", "warning")),
    "M55-shape": (amqp(header=5), ("/protocoloptions/header", "M55", "error")),
    "M56-name": (
        amqp(properties={"topic": {}}),
        ("/protocoloptions/properties/topic", "M56", "error"),
    ),
    "M56-type": (
        amqp(properties={"user_id": {"type": "boolean"}}),
        ("/protocoloptions/properties/user_id/type", "M56", "error"),
    ),
    "M56-value": (
        amqp(properties={"group-sequence": {"value": "x"}}),
        ("/protocoloptions/properties/group-sequence/value", "M56", "error"),
    ),
    "M57-type": (
        amqp(properties={"message-id": {"type": "number"}}),
        ("/protocoloptions/properties/message-id/type", "M57", "error"),
    ),
    "M57-value": (
        amqp(properties={"message-id": {"value": "x"}}),
        ("/protocoloptions/properties/message-id/value", "M57", "warning"),
    ),
    "M58": (amqp(footer={"größe": {}}), ("/protocoloptions/footer/größe", "M58", "error")),
    "M59": (amqp(header={"durable": 5}), ("/protocoloptions/header/durable", "M59", "error")),
    "M60-value": (sent("MQTT/5.0", retain=1), ("/protocoloptions/retain", "M60", "error")),
    "M60-version": (
        sent("MQTT/3.1.1", **{"content-type": "a/b"}),
        ("/protocoloptions/content-type", "M60", "error"),
    ),
    "M60-unknown": (sent("MQTT/5.0", topic="x"), ("/protocoloptions/topic", "M60", "warning")),
    "M61-qos": (sent("MQTT/5.0", qos=3), ("/protocoloptions/qos", "M61", "error")),
    "M61-list": (
        sent("MQTT/5.0", user_properties={"a": "b"}),
        ("/protocoloptions/user_properties", "M61", "error"),
    ),
    "M61-name": (
        sent("MQTT/5.0", user_properties=[{"value": "b"}]),
        ("/protocoloptions/user_properties/0", "M61", "error"),
    ),
    "M62-keys": (
        sent("KAFKA", key="a", key_base64="YQ=="),
        ("/protocoloptions/key_base64", "M62", "error"),
    ),
    "M62-partition": (
        sent("KAFKA", partition="first"),
        ("/protocoloptions/partition", "M62", "error"),
    ),
    "M62-headers": (sent("KAFKA", headers=[]), ("/protocoloptions/headers", "M62", "error")),
    "M63-subject": (sent("NATS", subject=5), ("/protocoloptions/subject", "M63", "error")),
    "M63-headers": (sent("NATS", headers={}), ("/protocoloptions/headers", "M63", "error")),
    "M68-object": ({**CE, "envelopemetadata": []}, ("/envelopemetadata", "M68", "error")),
    "M68-uri": (
        {"dataschemaformat": "Avro/1.9", "dataschemauri": "not a uri"},
        ("/dataschemauri", "M68", "error"),
    ),
    "M68-plain": (event(type="t"), ("/envelopemetadata/type", "M68", "warning")),
    "M68-specurl": (
        event(type={"specurl": "a b"}),
        ("/envelopemetadata/type/specurl", "M68", "error"),
    ),
}


@pytest.mark.parametrize(
    ("message", "expected"), [pytest.param(*case, id=name) for name, case in BROKEN.items()]
)
def test_a_broken_rule_is_found_where_it_is_broken(message: dict[str, Any], expected: Told) -> None:
    schemas = {"x": {"schema": {}}, "y": {"schema": {}}}
    findings = check(catalog({"m": message}, schemas))
    assert told(findings) == [expected]
    assert findings[0].file == FILE
    assert findings[0].message
    assert findings[0].advice


def test_every_rule_states_its_requirement() -> None:
    for kind, rules in RULES.items():
        for rule in rules:
            said = (rule.__doc__ or "").partition(":")[0]
            assert said.startswith(("M", "C", "CA-", "endpoint-", "xid-", "default-")), (kind, rule)


@pytest.mark.parametrize(
    ("own", "group", "expected"),
    [
        pytest.param("CloudEvents/1.0", "cloudevents/1.0", [], id="case"),
        pytest.param("CloudEvents/1.0", "SOAP/1.2", [("/envelope", "M8", "error")], id="other"),
    ],
)
def test_messages_have_the_envelope_of_their_group(
    own: str, group: str, expected: list[Told]
) -> None:
    message = {"envelope": own, "envelopemetadata": {}}
    assert told(check(catalog({"m": message, "n": {}}, envelope=group))) == expected


@pytest.mark.parametrize(
    ("own", "group", "expected"),
    [
        pytest.param("HTTP/1.1", "HTTP", [], id="more-precise"),
        pytest.param("MQTT/3.1.1", "MQTT/5.0", [("/protocol", "M12", "error")], id="version"),
        pytest.param("NATS", "KAFKA", [("/protocol", "M12", "error")], id="other"),
    ],
)
def test_messages_have_the_protocol_of_their_group(
    own: str, group: str, expected: list[Told]
) -> None:
    assert told(check(catalog({"m": sent(own)}, protocol=group))) == expected


def test_what_is_inherited_counts_and_is_reported_where_it_is_said() -> None:
    messages = {
        "b": {"dataschemaformat": "Avro/1.9", **sent("HTTP", method="GET")},
        "m": {
            "basemessage": "/messagegroups/g/messages/b",
            "dataschemauri": "/schemagroups/s/schemas/x",
            "protocoloptions": {"status": "200"},
        },
    }
    assert told(check(catalog(messages))) == [("/protocoloptions/status", "M53", "error")]


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
