"""Definitions that break one rule each, by the rule: where it is found, and how grave it is."""

from __future__ import annotations

from typing import Any

Told = tuple[str, str, str]
Case = tuple[Any, ...]
"""A message, then what is told about it: location, rule and severity."""

CE: dict[str, Any] = {"envelope": "CloudEvents/1.0"}
M = "/messagegroups/g/messages/m"
"""The xid of the message in its catalog; locations begin below it."""


def event(**metadata: Any) -> dict[str, Any]:
    """A definition of events."""
    return {**CE, "envelopemetadata": metadata}


def sent(protocol: str, **options: Any) -> dict[str, Any]:
    """A definition of messages of a protocol."""
    return {"protocol": protocol, "protocoloptions": options}


def amqp(**sections: Any) -> dict[str, Any]:
    """A definition of AMQP messages; section names may be spelled with underscores."""
    return sent("AMQP/1.0", **{name.replace("_", "-"): value for name, value in sections.items()})


def wrong_value(kind: str, value: Any) -> Case:
    """An attribute with a value that is not of its type."""
    told = ("/envelopemetadata/x/value", "M36", "error")
    return event(x={"type": kind, "value": value}), told


BROKEN: dict[str, Case] = {
    "M5 an envelope called None is read as absent": (
        {"envelope": "None"},
        ("/envelope", "M5", "warning"),
    ),
    "M5 envelope is a text": (
        {"envelope": 1, "envelopemetadata": {}},
        ("/envelope", "M5", "error"),
    ),
    "M6 CloudEvents without a version is read (C11)": (
        {"envelope": "CloudEvents", "envelopemetadata": {}},
        ("/envelope", "M6", "warning"),
    ),
    "M6 envelope is NAME/VERSION": (
        {"envelope": "SOAP", "envelopemetadata": {}},
        ("/envelope", "M6", "error"),
    ),
    "M7 CloudEvents 1.0 is called CloudEvents/1.0": (
        {"envelope": "CloudEvents/1.0.2", "envelopemetadata": {}},
        ("/envelope", "M7", "error"),
    ),
    "M9 an empty protocol is read as absent (C54)": (
        {"protocol": ""},
        ("/protocol", "M9", "warning"),
    ),
    "M10 MQTT without a version is read as 5.0 (C11)": (
        sent("MQTT"),
        ("/protocol", "M10", "warning"),
    ),
    "M10 protocol is NAME or NAME/VERSION": (sent("a/b/c"), ("/protocol", "M10", "error")),
    "M11 HTTP/2.0 is not a predefined name": (sent("HTTP/2.0"), ("/protocol", "M11", "warning")),
    "M11 KAFKA has no version": (sent("Kafka/0.11"), ("/protocol", "M11", "warning")),
    "M14 basemessage is an xid": ({"basemessage": "m2"}, ("/basemessage", "M14", "error")),
    "M14 basemessage names a message": (
        {"basemessage": "/schemagroups/s/schemas/x"},
        ("/basemessage", "M14", "error"),
    ),
    "M14 basemessageurl is basemessage (C13)": (
        {"basemessageurl": "x"},
        ("/basemessageurl", "M14", "error"),
    ),
    "M18 a message is not its own base": ({"basemessage": M}, ("/basemessage", "M18", "error")),
    "M19 envelope comes with envelopemetadata (C17)": (CE, ("/envelope", "M19", "warning")),
    "M20 protocol comes with protocoloptions (C17)": (
        {"protocol": "NATS"},
        ("/protocol", "M20", "warning"),
    ),
    "M21 dataschemaformat is not empty": (
        {"dataschemaformat": " "},
        ("/dataschemaformat", "M21", "error"),
    ),
    "M22 dataschemaformat is NAME/VERSION": (
        {"dataschemaformat": "a/b/c"},
        ("/dataschemaformat", "M22", "error"),
    ),
    "M22 a format without version is read (C44)": (
        {"dataschemaformat": "Avro"},
        ("/dataschemaformat", "M22", "warning"),
    ),
    "M23 dataschema comes with dataschemaformat": (
        {"dataschema": {}},
        ("/dataschema", "M23", "error"),
    ),
    "M24 dataschemauri comes with dataschemaformat": (
        {"dataschemauri": "/schemagroups/s/schemas/x"},
        ("/dataschemauri", "M24", "error"),
    ),
    "M25 dataschema and dataschemauri exclude each other": (
        {"dataschemaformat": "Avro/1.9", "dataschema": {}, "dataschemauri": "/x"},
        ("/dataschema", "M25", "error"),
    ),
    "M27 dataschemaxid names a schema": (
        {"dataschemaxid": "/messagegroups/g/messages/m"},
        ("/dataschemaxid", "M27", "error"),
    ),
    "M28 dataschemauri names the schema of dataschemaxid": (
        {
            "dataschemaformat": "JSONSchema/draft-07",
            "dataschemaxid": "/schemagroups/s/schemas/x",
            "dataschemauri": "/schemagroups/s/schemas/y",
        },
        ("/dataschemauri", "M28", "error"),
    ),
    "M29 datacontenttype agrees with an HTTP header": (
        {
            "datacontenttype": "application/json",
            **sent("HTTP", headers=[{"name": "content-type", "value": "text/plain"}]),
        },
        ("/protocoloptions/headers/0/value", "M29", "error"),
    ),
    "M29 datacontenttype agrees with the attribute": (
        {**event(datacontenttype={"value": "a/b"}), "datacontenttype": "a/c"},
        ("/envelopemetadata/datacontenttype/value", "M29", "error"),
    ),
    "M29 datacontenttype agrees with the AMQP property": (
        {
            "datacontenttype": "application/json",
            **amqp(properties={"content_type": {"value": "text/plain"}}),
        },
        ("/protocoloptions/properties/content_type", "M29", "error"),
    ),
    "M29 datacontenttype agrees with the MQTT property": (
        {"datacontenttype": "application/json", **sent("MQTT/5.0", content_type="text/plain")},
        ("/protocoloptions/content_type", "M29", "error"),
    ),
    "M29 datacontenttype agrees with a KAFKA header": (
        {
            "datacontenttype": "application/json",
            **sent("KAFKA", headers={"type": {"name": "content-type", "value": "text/plain"}}),
        },
        ("/protocoloptions/headers/type", "M29", "error"),
    ),
    "M29 datacontenttype agrees with a NATS header": (
        {
            "datacontenttype": "application/json",
            **sent("NATS", headers=[{"name": "Content-Type", "value": "text/plain"}]),
        },
        ("/protocoloptions/headers/0/value", "M29", "error"),
    ),
    "M30 datacontenttype of a nested event is that of the envelope (C39)": (
        {
            **event(datacontenttype={"value": "text/plain"}),
            "envelopeoptions": {"mode": "structured", "format": "application/cloudevents+json"},
            "datacontenttype": "application/json",
        },
        ("/envelopeoptions/format", "M29", "error"),
    ),
    "M32 datacontenttype is a media type": (
        {"datacontenttype": "json"},
        ("/datacontenttype", "M32", "error"),
    ),
    "M33 a description is not empty": (
        event(id={"description": ""}),
        ("/envelopemetadata/id/description", "M33", "error"),
    ),
    "M34 required is a boolean": (
        event(subject={"required": "yes"}),
        ("/envelopemetadata/subject/required", "M34", "error"),
    ),
    "M35 datetime is an older name of timestamp (C19)": (
        event(time={"type": "datetime"}),
        ("/envelopemetadata/time/type", "M35", "warning"),
    ),
    "M35 type is one of the list": (
        event(x={"type": "text"}),
        ("/envelopemetadata/x/type", "M35", "error"),
    ),
    "M35 uuid is for the AMQP message-id": (
        event(x={"type": "uuid"}),
        ("/envelopemetadata/x/type", "M35", "error"),
    ),
    "M36 value is an integer": (
        event(x={"type": "integer", "value": "five"}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36 an integer of an event has 32 bits": (
        event(x={"type": "integer", "value": 2**31}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36 value is a string without a type": (
        event(x={"value": 5}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36 a boolean is no template": (
        event(x={"type": "boolean", "value": "{x}"}),
        ("/envelopemetadata/x/value", "M36", "error"),
    ),
    "M36 value inside attributes (C2)": (
        {**CE, "envelopemetadata": {"attributes": {"time": {"value": "now"}}}},
        ("/envelopemetadata/attributes/time/value", "M36", "error"),
    ),
    "M36 value inside envelopeoptions (C1)": (
        {**CE, "envelopeoptions": {"time": {"value": "now"}}},
        ("/envelopeoptions/time/value", "M36", "error"),
    ),
    "M36 value is base64": wrong_value("binary", "$$$$"),
    "M36 value is true or false": wrong_value("boolean", "yes"),
    "M36 value is a duration": wrong_value("duration", "15 minutes"),
    "M36 value is a number": wrong_value("number", "ten"),
    "M36 value is letters, digits and underscores": wrong_value("symbol", "a-b"),
    "M36 value is a timestamp": wrong_value("timestamp", "2024-02-30T00:00:00Z"),
    "M36 value is a URI": wrong_value("uri", "/relative"),
    "M36 value is a URI reference": wrong_value("urireference", "a b"),
    "M36 value is a text": wrong_value("uritemplate", 5),
    "M38 a placeholder has no operator": (
        event(source={"type": "uritemplate", "value": "/{+path}"}),
        ("/envelopemetadata/source/value", "M38", "error"),
    ),
    "M38 a placeholder of a string is a symbol": (
        event(subject={"value": "{a-b}"}),
        ("/envelopemetadata/subject/value", "M38", "warning"),
    ),
    "M38 braces come in pairs": (
        sent("MQTT/5.0", topic_name="a/{b"),
        ("/protocoloptions/topic_name", "M38", "error"),
    ),
    "M42 attribute names are lower-case letters and digits": (
        event(my_name={}),
        ("/envelopemetadata/my_name", "M42", "error"),
    ),
    "M43 specversion is 1.0": (
        event(specversion={"value": "0.3"}),
        ("/envelopemetadata/specversion/value", "M43", "error"),
    ),
    "M43 specversion has its value": (
        event(specversion={"required": True}),
        ("/envelopemetadata/specversion", "M43", "warning"),
    ),
    "M43 specversion is a string": (
        event(specversion={"value": "1.0", "type": "any"}),
        ("/envelopemetadata/specversion/type", "M43", "error"),
    ),
    "M44 id is never optional": (
        event(id={"required": False}),
        ("/envelopemetadata/id/required", "M44", "error"),
    ),
    "M44 type is never optional": (
        event(type={"required": False}),
        ("/envelopemetadata/type/required", "M44", "error"),
    ),
    "M44 source is never optional": (
        event(source={"required": False}),
        ("/envelopemetadata/source/required", "M44", "error"),
    ),
    "M47 the attribute dataschema equals dataschemauri": (
        {
            **event(dataschema={"value": "https://example.com/a"}),
            "dataschemaformat": "Avro/1.9",
            "dataschemauri": "https://example.com/b",
        },
        ("/envelopemetadata/dataschema/value", "M47", "error"),
    ),
    "M48 the type of an attribute is narrowed": (
        event(type={"type": "boolean"}),
        ("/envelopemetadata/type/type", "M48", "warning"),
    ),
    "M48 time stays a timestamp": (
        event(time={"type": "string"}),
        ("/envelopemetadata/time/type", "M48", "warning"),
    ),
    "M49 a declared datacontenttype is a media type": (
        event(datacontenttype={"value": "json"}),
        ("/envelopemetadata/datacontenttype/value", "M49", "error"),
    ),
    "M67 a symbol of an event is no template": wrong_value("symbol", "{x}"),
    "M67 a URI of an event is no template": wrong_value("uri", "https://{host}/"),
    "M68 envelopemetadata is an object": (
        {**CE, "envelopemetadata": []},
        ("/envelopemetadata", "M68", "error"),
    ),
    "M68 dataschemauri is a URI reference": (
        {"dataschemaformat": "Avro/1.9", "dataschemauri": "not a uri"},
        ("/dataschemauri", "M68", "error"),
    ),
    "M68 an attribute is declared by an object": (
        event(type="t"),
        ("/envelopemetadata/type", "M68", "warning"),
    ),
    "M68 specurl is a URI reference": (
        event(type={"specurl": "a b"}),
        ("/envelopemetadata/type/specurl", "M68", "error"),
    ),
    "M68 protocoloptions is an object": (
        {"protocol": "NATS", "protocoloptions": []},
        ("/protocoloptions", "M68", "error"),
    ),
    "M68 envelopeoptions is an object": (
        {**event(), "envelopeoptions": "binary"},
        ("/envelopeoptions", "M68", "error"),
    ),
}
