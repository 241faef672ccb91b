"""Rules of AMQP 1.0 options: sections and their properties (M55..M59)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.problem import Finding
from heraldry.model.rules_options import family, options
from heraldry.model.rules_properties import IN_AMQP, Property, check_properties
from heraldry.model.rules_subject import Subject

_FREE = ("application-properties", "message-annotations", "delivery-annotations", "footer")
_SECTIONS = ("properties", "header", *_FREE)
PROPERTIES = {
    "message-id": "string",
    "user-id": "binary",
    "to": "uritemplate",
    "subject": "string",
    "reply-to": "uritemplate",
    "correlation-id": "string",
    "content-type": "string",
    "content-encoding": "string",
    "absolute-expiry-time": "timestamp",
    "creation-time": "timestamp",
    "group-id": "string",
    "group-sequence": "integer",
    "reply-to-group-id": "uritemplate",
}
"""The fixed properties and their types (M56); content types are no symbols in fact (C7)."""

HEADER = {
    "durable": "boolean",
    "priority": "integer",
    "ttl": "integer",
    "first-acquirer": "boolean",
    "delivery-count": "integer",
}
"""The members of the header and their types (M59)."""

_MESSAGE_ID = ("ulong", "uuid", "binary", "string", "uritemplate")


def properties(subject: Subject) -> Iterator[Finding]:
    """M33..M38, M56, M59 on every property of every section."""
    if family(subject) == "AMQP":
        yield from check_properties(subject, _properties(subject))


def sections(subject: Subject) -> Iterator[Finding]:
    """M55: the options are the six sections of an AMQP message, each an object."""
    if family(subject) != "AMQP":
        return
    for name, value in options(subject).items():
        path = ("protocoloptions", name)
        if name not in _SECTIONS:
            message = f"{name!r} is no section of AMQP; it is kept but has no effect"
            yield subject.warning("M55", path, message, "one of " + ", ".join(_SECTIONS))
        elif not isinstance(value, Mapping):
            yield subject.error("M55", path, f"{name} is not an object", 'write {"name": {...}}')


def fixed_names(subject: Subject) -> Iterator[Finding]:
    """M56, M59: properties and header have the names AMQP gives them."""
    for section, table, rule in (("properties", PROPERTIES, "M56"), ("header", HEADER, "M59")):
        for name in _section(subject, section):
            if name not in table:
                path = ("protocoloptions", section, name)
                message = f"{name!r} is not in the AMQP section {section}"
                advice = "one of " + ", ".join(table)
                if section == "properties":
                    advice += "; own properties belong in application-properties"
                yield subject.error(rule, path, message, advice)


def message_id(subject: Subject) -> Iterator[Finding]:
    """M57: message-id has one of five types, and a value only as a template."""
    declared = _section(subject, "properties").get("message-id")
    if not isinstance(declared, Mapping):
        return
    path = ("protocoloptions", "properties", "message-id")
    given = declared.get("type", "string")
    if given not in _MESSAGE_ID:
        message = f"message-id cannot be of type {given}"
        yield subject.error("M57", (*path, "type"), message, "one of " + ", ".join(_MESSAGE_ID))
    elif given != "uritemplate" and declared.get("value") not in (None, ""):
        message = "message-id has a fixed value, but identifies one message"
        advice = "leave value out, or use the type uritemplate"
        yield subject.warning("M57", (*path, "value"), message, advice)


def symbols(subject: Subject) -> Iterator[Finding]:
    """M58: names of own properties, annotations and footers are ASCII symbols (C8)."""
    for section in _FREE:
        for name in _section(subject, section):
            if not name or not name.isascii():
                path = ("protocoloptions", section, name)
                message = f"{name!r} is not an AMQP symbol"
                yield subject.error("M58", path, message, "use ASCII characters")


def _section(subject: Subject, name: str) -> Mapping[str, Any]:
    if family(subject) != "AMQP":
        return {}
    found = options(subject).get(name)
    return found if isinstance(found, Mapping) else {}


def _properties(subject: Subject) -> Iterator[Property]:
    for section in _SECTIONS:
        table = {"properties": PROPERTIES, "header": HEADER}.get(section, {})
        for name, declared in _section(subject, section).items():
            if table and name not in table:
                continue
            yield Property(
                path=("protocoloptions", section, name),
                declared=declared,
                default=table.get(name, "string"),
                tabled=bool(table) and name != "message-id",
                rule={"properties": "M56", "header": "M59"}.get(section, "M36"),
                placeholders=IN_AMQP,
                is_message_id=section == "properties" and name == "message-id",
            )


AMQP_RULES = (properties, sections, fixed_names, message_id, symbols)
"""Every rule of AMQP options."""
