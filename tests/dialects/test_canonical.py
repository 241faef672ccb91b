"""Canonical attributes: each tolerant reading rule, and that reading twice changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import canonical

T = {"value": "t"}
MESSAGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "C1-options-hold-properties": (
        {"envelope": "CloudEvents/1.0", "envelopeoptions": {"type": T, "mode": "binary"}},
        {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": T},
            "envelopeoptions": {"mode": "binary"},
        },
    ),
    "C1-metadata-wins": (
        {"envelopemetadata": {"type": {"value": "u"}}, "envelopeoptions": {"type": T}},
        {"envelopemetadata": {"type": {"value": "u"}}, "envelopeoptions": {"type": T}},
    ),
    "C1-other-envelope": (
        {"envelope": "X/1", "envelopeoptions": {"type": T}},
        {"envelope": "X/1", "envelopeoptions": {"type": T}},
    ),
    "C2-wrapper": (
        {"envelopemetadata": {"attributes": {"type": T}}},
        {"envelopemetadata": {"type": T}},
    ),
    "C1-and-C2": (
        {"envelopeoptions": {"attributes": {"type": T}}},
        {"envelopemetadata": {"type": T}},
    ),
    "C38-absent-envelope": (
        {"envelope": "None", "format": "CloudEvents/1.0", "metadata": {}},
        {"envelope": "CloudEvents/1.0", "envelopemetadata": {}},
    ),
    "C2-attribute-of-that-name": (
        {"envelopemetadata": {"attributes": {"type": "string"}}},
        {"envelopemetadata": {"attributes": {"type": "string"}}},
    ),
    "C5-mqtt": (
        {"protocol": "MQTT/5.0", "protocoloptions": {"topic-name": "a", "userproperties": []}},
        {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "a", "user_properties": []}},
    ),
    "C5-amqp": (
        {
            "protocol": "AMQP/1.0",
            "protocoloptions": {
                "application_properties": {"a_b": T},
                "properties": {"message_id": {}, "contenttype": T},
                "header": {"first_acquirer": True},
            },
        },
        {
            "protocol": "AMQP/1.0",
            "protocoloptions": {
                "application-properties": {"a_b": T},
                "properties": {"message-id": {}, "content-type": T},
                "header": {"first-acquirer": True},
            },
        },
    ),
    "C5-inherited-protocol": (
        {"protocoloptions": {"topic-name": "a", "reply": "b"}},
        {"protocoloptions": {"topic_name": "a", "reply-to": "b"}},
    ),
    "C5-both-spellings": (
        {"protocol": "MQTT", "protocoloptions": {"topic-name": "a", "topic_name": "b"}},
        {"protocol": "MQTT", "protocoloptions": {"topic-name": "a", "topic_name": "b"}},
    ),
    "C5-other-protocol": (
        {"protocol": "X", "protocoloptions": {"topic-name": "a"}},
        {"protocol": "X", "protocoloptions": {"topic-name": "a"}},
    ),
    "C6": (
        {"protocol": "MQTT/5.0", "protocoloptions": {"payload_format_indicator": 1}},
        {"protocol": "MQTT/5.0", "protocoloptions": {"payload_format": 1}},
    ),
    "C12": (
        {"protocol": "NATS", "protocoloptions": {"replyto": "b"}},
        {"protocol": "NATS", "protocoloptions": {"reply-to": "b"}},
    ),
    "C13-spelling": (
        {"basemessageuri": "#/messagegroups/g%2e1/messages/m~01"},
        {"basemessage": "/messagegroups/g.1/messages/m~1"},
    ),
    "C13-absolute": ({"basemessageurl": "https://x"}, {"basemessage": "https://x"}),
    "C38": (
        {"format": "CloudEvents/1.0", "metadata": {"attributes": {"type": T}}},
        {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": T}},
    ),
    "C38-core-format": ({"format": "X", "envelope": "Y/1"}, {"format": "X", "envelope": "Y/1"}),
    "C54": ({"protocol": "None", "envelope": ""}, {}),
    "null-is-absent": ({"description": None, "x": {"y": None}}, {"x": {"y": None}}),
    "meta-is-apart": ({"meta": {"a": 1}, "versions": {}, "a": 1}, {"a": 1}),
    "C15": ({"uri": "#/messagegroups/g/messages/m", "a": 1}, {"a": 1}),
    "uri-of-ones-own": ({"uri": "https://x"}, {"uri": "https://x"}),
}
ENDPOINTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "C38-usage": ({"usage": "producer"}, {"usage": ["producer"]}),
    "C38-config": (
        {"config": {"protocol": "NATS", "endpoints": [{"uri": "u"}], "options": {"subject": "s"}}},
        {"protocol": "NATS", "protocoloptions": {"endpoints": [{"url": "u"}], "subject": "s"}},
    ),
    "C41-beside": (
        {"protocol": "AMQP/1.0", "endpoints": [], "deployed": False, "protocoloptions": {}},
        {"protocol": "AMQP/1.0", "protocoloptions": {"endpoints": [], "deployed": False}},
    ),
    "C41-names": (
        {"protocol": "AMQP/1.0", "protocoloptions": {"link_properties": {"a_b": "c"}}},
        {"protocol": "AMQP/1.0", "protocoloptions": {"link-properties": {"a_b": "c"}}},
    ),
    "C52": (
        {"protocoloptions": {"options": {"topic": "a", "qos": 1}, "topic": "b"}},
        {"protocoloptions": {"topic": "b", "qos": 1}},
    ),
    "C53": (
        {"messagegroups": ["#/messagegroups/g", "https://x"]},
        {"messagegroups": ["/messagegroups/g", "https://x"]},
    ),
    "plain": ({"usage": ["consumer"], "channel": "c"}, {"usage": ["consumer"], "channel": "c"}),
}
SCHEMAS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "base64": (
        {"format": "Protobuf/3", "schemabase64": "c3ludGF4"},
        {"format": "Protobuf/3", "schema": "syntax"},
    ),
    "json-text": (
        {"format": "JSONSchema/draft-07", "schema": '{"type": "object"}'},
        {"format": "JSONSchema/draft-07", "schema": {"type": "object"}},
    ),
    "other-text": (
        {"format": "Protobuf/3", "schema": "{}"},
        {"format": "Protobuf/3", "schema": "{}"},
    ),
    "no-json": ({"format": "Avro/1.9", "schema": "{"}, {"format": "Avro/1.9", "schema": "{"}),
    "no-base64": ({"schemabase64": "%"}, {"schemabase64": "%"}),
}


def cases(table: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> list[Any]:
    return [pytest.param(*case, id=name) for name, case in table.items()]


@pytest.mark.parametrize(("source", "expected"), cases(MESSAGES))
def test_messages(source: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonical.message(source) == expected
    assert canonical.message(expected) == expected


@pytest.mark.parametrize(("source", "expected"), cases(ENDPOINTS))
def test_endpoints(source: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonical.endpoint(source) == expected
    assert canonical.endpoint(expected) == expected


@pytest.mark.parametrize(("source", "expected"), cases(SCHEMAS))
def test_schemas(source: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonical.schema(source) == expected
    assert canonical.schema(expected) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            {"uri": "#/messagegroups/g/messages/m"},
            {"xref": "/messagegroups/g/messages/m"},
            id="C15-uri",
        ),
        pytest.param(
            {"xref": "messagegroups/g/messages/m"},
            {"xref": "/messagegroups/g/messages/m"},
            id="C15-xref",
        ),
        pytest.param(
            {"defaultversionid": "1"},
            {"defaultversionid": "1", "defaultversionsticky": True},
            id="C42-default",
        ),
        pytest.param({"meta": {"a": None, "b": 1}}, {"b": 1}, id="null-is-absent"),
    ],
)
def test_meta(source: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonical.meta(source) == expected
