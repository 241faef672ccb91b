"""Rules of protocol options: HTTP, MQTT, KAFKA and NATS (M50..M54, M60..M63)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.formats import protocol_family
from heraldry.model.problem import Finding
from heraldry.model.rules_properties import IN_PROTOCOL, Property, check_properties
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import has_placeholders, whole_number

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS = re.compile(r"[1-5][0-9][0-9]")
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "HTTP": ("M54", {"path": "uritemplate", "method": "string", "status": "string"}),
    "MQTT": (
        "M60",
        {
            "qos": "integer",
            "retain": "boolean",
            "topic_name": "uritemplate",
            "payload_format": "integer",
            "message_expiry_interval": "integer",
            "response_topic": "uritemplate",
            "correlation_data": "binary",
            "content_type": "string",
        },
    ),
    "KAFKA": (
        "M62",
        {"topic": "string", "partition": "integer", "key": "string", "key_base64": "binary"},
    ),
    "NATS": ("M63", {"subject": "uritemplate", "reply-to": "uritemplate"}),
}
"""Per protocol: its rule, and the single options with their types (content_type: C7)."""

_COLLECTIONS = {
    "HTTP": ("headers", "query"),
    "MQTT": ("user_properties",),
    "KAFKA": ("headers",),
    "NATS": ("headers",),
}
_MQTT_5 = (
    "payload_format",
    "message_expiry_interval",
    "response_topic",
    "correlation_data",
    "content_type",
    "user_properties",
)
_EXCLUSIVE = (
    ("HTTP", "M53", ("status", "method"), "a request has a method, a response a status: keep one"),
    ("KAFKA", "M62", ("key_base64", "key"), "keep key for text, or key_base64 for bytes"),
)
_UINT = 2**32 - 1
_RANGES = {
    ("MQTT", "qos"): ("M61", 2),
    ("MQTT", "payload_format"): ("M61", 1),
    ("MQTT", "message_expiry_interval"): ("M60", _UINT),
    ("AMQP", "header", "priority"): ("M59", 255),
    ("AMQP", "header", "ttl"): ("M59", _UINT),
    ("AMQP", "header", "delivery-count"): ("M59", _UINT),
    ("AMQP", "properties", "group-sequence"): ("M56", _UINT),
}
"""Numbers that go from 0 to a top."""


def options(subject: Subject) -> Mapping[str, Any]:
    """The options that the entity itself has."""
    found = subject.attributes.get("protocoloptions")
    return found if isinstance(found, Mapping) else {}


def family(subject: Subject) -> str:
    """The protocol the options are read by."""
    return protocol_family(subject.effective("protocol"))[0]


def declared(value: Any) -> Any:
    """The value of an option, given as a scalar or as an object (C3)."""
    return value.get("value") if isinstance(value, Mapping) else value


def is_token(text: str) -> bool:
    """Whether a text can be an HTTP method or the name of a header (RFC 9110)."""
    return _TOKEN.fullmatch(text) is not None


def properties(subject: Subject) -> Iterator[Finding]:
    """M33..M38, M60, M62, M63 on every option and on every entry of a collection."""
    yield from check_properties(subject, _properties(subject))


def unknown_options(subject: Subject) -> Iterator[Finding]:
    """M54, M60, M62, M63: the options of a predefined protocol are those of its table."""
    name = family(subject)
    if name not in _TABLES:
        return
    rule, table = _TABLES[name]
    known = (*table, *_COLLECTIONS[name])
    for option in options(subject):
        if option not in known:
            message = f"{option!r} is no option of {name}; it is kept but has no effect"
            advice = "one of " + ", ".join(known)
            yield subject.warning(rule, ("protocoloptions", option), message, advice)


def collections(subject: Subject) -> Iterator[Finding]:
    """M54, M61, M62, M63: lists of headers are arrays, Kafka's headers and queries are maps."""
    name = family(subject)
    for option in _COLLECTIONS.get(name, ()):
        value = options(subject).get(option)
        if value is None:
            continue
        rule = "M61" if name == "MQTT" else _TABLES[name][0]
        path: Path = ("protocoloptions", option)
        if name == "KAFKA" and not isinstance(value, Mapping):
            advice = 'write {"name": "value"}'
            yield subject.error(rule, path, "headers is not a map", advice)
        elif option == "query" and not isinstance(value, (Mapping, list)):
            advice = 'write {"name": "value"}'
            yield subject.error(rule, path, "query is not a map", advice)
        elif name != "KAFKA" and option != "query" and not isinstance(value, list):
            advice = 'write [{"name": ..., "value": ...}]'
            yield subject.error(rule, path, f"{option} is not an array", advice)
        elif isinstance(value, list):
            yield from _named(subject, rule, path, value)


def header_names(subject: Subject) -> Iterator[Finding]:
    """M50: a header's name is a valid HTTP field name."""
    headers = options(subject).get("headers")
    if family(subject) != "HTTP" or not isinstance(headers, list):
        return
    for index, header in enumerate(headers):
        name = header.get("name") if isinstance(header, Mapping) else None
        if isinstance(name, str) and not _TOKEN.fullmatch(name):
            path = ("protocoloptions", "headers", index, "name")
            message = f"{name!r} is not a name of an HTTP header"
            yield subject.error("M50", path, message, "use letters, digits and dashes")


def method(subject: Subject) -> Iterator[Finding]:
    """M51: the method is a valid method name, or holds a placeholder."""
    given = declared(options(subject).get("method"))
    if family(subject) != "HTTP" or given is None or has_placeholders(given):
        return
    if isinstance(given, str) and not _TOKEN.fullmatch(given):
        message = f"{given!r} is not an HTTP method"
        yield subject.error("M51", ("protocoloptions", "method"), message, "such as POST")


def status(subject: Subject) -> Iterator[Finding]:
    """M52: the status is a response code from 100 to 599, or holds a placeholder."""
    given = declared(options(subject).get("status"))
    if family(subject) != "HTTP" or given is None or has_placeholders(given):
        return
    if isinstance(given, (str, int)) and not _STATUS.fullmatch(str(given)):
        message = f"{given!r} is not an HTTP status code"
        yield subject.error("M52", ("protocoloptions", "status"), message, 'such as "200"')


def exclusive(subject: Subject) -> Iterator[Finding]:
    """M53, M62: method and status, key and key_base64 exclude each other, inherited or not."""
    for protocol, rule, pair, advice in _EXCLUSIVE:
        whole = subject.effective("protocoloptions")
        own = [name for name in pair if name in options(subject)]
        if family(subject) != protocol or not isinstance(whole, Mapping) or not own:
            continue
        if all(name in whole for name in pair):
            message = f"{pair[1]} and {pair[0]} are both given"
            yield subject.error(rule, ("protocoloptions", own[0]), message, advice)


def mqtt_version(subject: Subject) -> Iterator[Finding]:
    """M60: what came with MQTT 5.0 is not used with MQTT 3.1.1."""
    if protocol_family(subject.effective("protocol")) != ("MQTT", "3.1.1"):
        return
    for name in _MQTT_5:
        if name in options(subject):
            message = f"{name} does not exist in MQTT 3.1.1"
            advice = "leave it out, or use the protocol MQTT/5.0"
            yield subject.error("M60", ("protocoloptions", name), message, advice)


def ranges(subject: Subject) -> Iterator[Finding]:
    """M56, M59, M60, M61: numbers are in the range that their protocol has for them."""
    for (protocol, *steps), (rule, top) in _RANGES.items():
        given: Any = options(subject) if family(subject) == protocol else None
        for step in steps:
            given = given.get(step) if isinstance(given, Mapping) else None
        number = whole_number(declared(given))
        if number is not None and not 0 <= number <= top:
            path = ("protocoloptions", *steps)
            yield subject.error(rule, path, f"{steps[-1]} is {number}", f"0 to {top}")


def _properties(subject: Subject) -> Iterator[Property]:
    name = family(subject)
    if name not in _TABLES:
        return
    rule, table = _TABLES[name]
    allowed = IN_PROTOCOL
    for option, value in options(subject).items():
        path: Path = ("protocoloptions", option)
        if option in table:
            given = str(value) if option == "status" and isinstance(value, int) else value
            yield Property(
                path=path,
                declared=given,
                default=table[option],
                tabled=True,
                rule=rule,
                placeholders=allowed,
            )
        elif option in _COLLECTIONS[name]:
            for step, entry in _entries(value):
                yield Property(path=(*path, step), declared=entry, rule=rule, placeholders=allowed)


def _entries(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((i, entry) for i, entry in enumerate(value) if isinstance(entry, Mapping))


def _named(subject: Subject, rule: str, path: Path, entries: list[Any]) -> Iterator[Finding]:
    """Every entry of an array of headers or properties has a name."""
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str) or not name:
            advice = 'write {"name": ..., "value": ...}'
            yield subject.error(rule, (*path, index), "the entry has no name", advice)


OPTION_RULES = (
    properties,
    unknown_options,
    collections,
    header_names,
    method,
    status,
    exclusive,
    mqtt_version,
    ranges,
)
"""Every rule of the options of HTTP, MQTT, KAFKA and NATS."""
