"""Definitions whose protocol options break one rule each (M50..M63)."""

from __future__ import annotations

from typing import Any

from tests.conformance.broken_definitions import Case, amqp, sent


def only_in_5(**option: Any) -> Case:
    """An option of MQTT 5.0 in a message of MQTT 3.1.1."""
    (name,) = option
    return sent("MQTT/3.1.1", **option), (f"/protocoloptions/{name}", "M60", "error")


BROKEN_OPTIONS: dict[str, Case] = {
    "M50 a header name is a token": (
        sent("HTTP", headers=[{"name": "a b", "value": "x"}]),
        ("/protocoloptions/headers/0/name", "M50", "error"),
    ),
    "M51 method is a token": (
        sent("HTTP", method="GET IT"),
        ("/protocoloptions/method", "M51", "error"),
    ),
    "M52 status is a response code": (
        sent("HTTP", status="abc"),
        ("/protocoloptions/status", "M52", "error"),
    ),
    "M53 method and status exclude each other": (
        sent("HTTP", status="200", method="GET"),
        ("/protocoloptions/status", "M53", "error"),
    ),
    "M54 headers is an array": (
        sent("HTTP", headers={}),
        ("/protocoloptions/headers", "M54", "error"),
    ),
    "M54 query is a map": (sent("HTTP", query="a=b"), ("/protocoloptions/query", "M54", "error")),
    "M54 HTTP has no other options": (
        sent("HTTP", verb="GET"),
        ("/protocoloptions/verb", "M54", "warning"),
    ),
    "M54 path is a template": (sent("HTTP", path=5), ("/protocoloptions/path", "M54", "error")),
    "M54 a value of query is a text": (
        sent("HTTP", query={"a": 5}),
        ("/protocoloptions/query/a", "M54", "error"),
    ),
    "M54 a header has a name": (
        sent("HTTP", headers=[{"value": "x"}]),
        ("/protocoloptions/headers/0", "M54", "error"),
    ),
    "M55 AMQP has six sections": (amqp(trailer={}), ("/protocoloptions/trailer", "M55", "warning")),
    "M55 a section is an object": (amqp(header=5), ("/protocoloptions/header", "M55", "error")),
    "M56 properties have fixed names": (
        amqp(properties={"topic": {}}),
        ("/protocoloptions/properties/topic", "M56", "error"),
    ),
    "M56 properties have fixed types": (
        amqp(properties={"user_id": {"type": "boolean"}}),
        ("/protocoloptions/properties/user_id/type", "M56", "error"),
    ),
    "M56 a value fits the type of the table (C48)": (
        amqp(properties={"group-sequence": {"value": "x"}}),
        ("/protocoloptions/properties/group-sequence/value", "M56", "error"),
    ),
    "M56 group-sequence is not negative": (
        amqp(properties={"group-sequence": {"value": -1}}),
        ("/protocoloptions/properties/group-sequence", "M56", "error"),
    ),
    "M57 message-id has one of five types": (
        amqp(properties={"message-id": {"type": "number"}}),
        ("/protocoloptions/properties/message-id/type", "M57", "error"),
    ),
    "M57 message-id has a value only as template": (
        amqp(properties={"message-id": {"value": "x"}}),
        ("/protocoloptions/properties/message-id/value", "M57", "warning"),
    ),
    "M57 a uuid is a UUID": (
        amqp(properties={"message-id": {"type": "uuid", "value": "5"}}),
        ("/protocoloptions/properties/message-id/value", "M36", "error"),
        ("/protocoloptions/properties/message-id/value", "M57", "warning"),
    ),
    "M58 own names are AMQP symbols (C8)": (
        amqp(footer={"größe": {}}),
        ("/protocoloptions/footer/größe", "M58", "error"),
    ),
    "M59 durable is a boolean": (
        amqp(header={"durable": 5}),
        ("/protocoloptions/header/durable", "M59", "error"),
    ),
    "M59 ttl is an integer": (
        amqp(header={"ttl": "long"}),
        ("/protocoloptions/header/ttl", "M59", "error"),
    ),
    "M59 priority is at most 255": (
        amqp(header={"priority": 256}),
        ("/protocoloptions/header/priority", "M59", "error"),
    ),
    "M59 header has fixed names": (
        amqp(header={"colour": 1}),
        ("/protocoloptions/header/colour", "M59", "error"),
    ),
    "M60 retain is a boolean": (
        sent("MQTT/5.0", retain=1),
        ("/protocoloptions/retain", "M60", "error"),
    ),
    "M60 content_type is not in MQTT 3.1.1": (
        sent("MQTT/3.1.1", **{"content-type": "a/b"}),
        ("/protocoloptions/content-type", "M60", "error"),
    ),
    "M60 MQTT has no other options": (
        sent("MQTT/5.0", topic="x"),
        ("/protocoloptions/topic", "M60", "warning"),
    ),
    "M60 message_expiry_interval is not negative": (
        sent("MQTT/5.0", message_expiry_interval=-1),
        ("/protocoloptions/message_expiry_interval", "M60", "error"),
    ),
    "M60 payload_format is not in MQTT 3.1.1": only_in_5(payload_format=1),
    "M60 message_expiry_interval is not in MQTT 3.1.1": only_in_5(message_expiry_interval=9),
    "M60 response_topic is not in MQTT 3.1.1": only_in_5(response_topic="a"),
    "M60 correlation_data is not in MQTT 3.1.1": only_in_5(correlation_data="aGk="),
    "M60 user_properties is not in MQTT 3.1.1": only_in_5(user_properties=[]),
    "M61 qos is at most 2": (sent("MQTT/5.0", qos=3), ("/protocoloptions/qos", "M61", "error")),
    "M61 user_properties is an array": (
        sent("MQTT/5.0", user_properties={"a": "b"}),
        ("/protocoloptions/user_properties", "M61", "error"),
    ),
    "M61 a user property has a name": (
        sent("MQTT/5.0", user_properties=[{"value": "b"}]),
        ("/protocoloptions/user_properties/0", "M61", "error"),
    ),
    "M61 payload_format is at most 1": (
        sent("MQTT/5.0", payload_format="2"),
        ("/protocoloptions/payload_format", "M61", "error"),
    ),
    "M62 key and key_base64 exclude each other": (
        sent("KAFKA", key="a", key_base64="YQ=="),
        ("/protocoloptions/key_base64", "M62", "error"),
    ),
    "M62 partition is an integer": (
        sent("KAFKA", partition="first"),
        ("/protocoloptions/partition", "M62", "error"),
    ),
    "M62 headers is a map": (
        sent("KAFKA", headers=[]),
        ("/protocoloptions/headers", "M62", "error"),
    ),
    "M62 key is a text": (sent("KAFKA", key=5), ("/protocoloptions/key", "M62", "error")),
    "M62 key_base64 is base64": (
        sent("KAFKA", key_base64="$"),
        ("/protocoloptions/key_base64", "M62", "error"),
    ),
    "M62 KAFKA has no other options": (
        sent("KAFKA", offset=1),
        ("/protocoloptions/offset", "M62", "warning"),
    ),
    "M63 subject is a template": (
        sent("NATS", subject=5),
        ("/protocoloptions/subject", "M63", "error"),
    ),
    "M63 headers is an array": (
        sent("NATS", headers={}),
        ("/protocoloptions/headers", "M63", "error"),
    ),
    "M63 reply-to is a template": (
        sent("NATS", reply_to=5),
        ("/protocoloptions/reply_to", "M63", "error"),
    ),
    "M63 a header has a name": (
        sent("NATS", headers=[{"value": "x"}]),
        ("/protocoloptions/headers/0", "M63", "error"),
    ),
    "M63 NATS has no other options": (
        sent("NATS", topic="x"),
        ("/protocoloptions/topic", "M63", "warning"),
    ),
}
