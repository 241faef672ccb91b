"""Rules of property definitions, wherever they stand: type, value, template (M33..M38, M68)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.model.definition import TYPES
from heraldry.model.problem import Finding
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import (
    ALIASES,
    TEXTUAL,
    has_placeholders,
    is_reference,
    template_fault,
    value_fault,
)

_ONLY_MESSAGE_ID = frozenset(("ulong", "uuid"))
_EVERYWHERE = frozenset(("string", "uritemplate"))
"""Types whose values may hold placeholders in an envelope and in HTTP (M67)."""
IN_AMQP = _EVERYWHERE | {"symbol", "uri"}
"""The same for AMQP."""
IN_PROTOCOL = _EVERYWHERE | {"symbol"}
"""The same for MQTT, KAFKA and NATS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One header, property or attribute that a message declares, as a scalar or an object (C3).

    ``type`` is the declared one, else that of the table it is in; ``rule`` is the rule of that
    table, for values that do not fit it.
    """

    path: Path
    declared: Any
    default: str = "string"
    tabled: bool = False
    rule: str = "M36"
    placeholders: frozenset[str] = _EVERYWHERE
    is_message_id: bool = False
    is_attribute: bool = False

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of the definition; a scalar is one that has only a value."""
        if isinstance(self.declared, Mapping):
            return self.declared
        return {"value": self.declared}

    @property
    def is_object(self) -> bool:
        """Whether it is declared as an object."""
        return isinstance(self.declared, Mapping)

    @property
    def type(self) -> str:
        """The type its value has to have, under the name the specification uses."""
        given = self.members.get("type")
        name = given if isinstance(given, str) else self.default
        return ALIASES.get(name, name)

    @property
    def value(self) -> Any:
        """The value, None where there is none."""
        value = self.members.get("value")
        return None if value == "" else value

    def at(self, member: str) -> Path:
        """The path of one of its members."""
        return (*self.path, member) if self.is_object else self.path


def description(subject: Subject, one: Property) -> Iterator[Finding]:
    """M33: a description is a non-empty text."""
    text = one.members.get("description", "x")
    if one.is_object and (not isinstance(text, str) or not text):
        advice = "write a sentence, or leave description out"
        yield subject.error("M33", one.at("description"), "description is empty", advice)


def required(subject: Subject, one: Property) -> Iterator[Finding]:
    """M34: required is true or false."""
    if one.is_object and not isinstance(one.members.get("required", False), bool):
        message = "required is neither true nor false"
        yield subject.error("M34", one.at("required"), message, "write true or false, unquoted")


def type_name(subject: Subject, one: Property) -> Iterator[Finding]:
    """M35: the type is one of the listed names; older names are read (C18, C19)."""
    given = one.members.get("type") if one.is_object else None
    if given is None:
        return
    if isinstance(given, str) and given in ALIASES:
        message = f"the type {given!r} is an older name"
        yield subject.warning("M35", one.at("type"), message, f"write {ALIASES[given]!r}")
    elif not isinstance(given, str) or given not in TYPES:
        advice = "one of " + ", ".join(sorted(TYPES - _ONLY_MESSAGE_ID))
        yield subject.error("M35", one.at("type"), f"{given!r} is not a type", advice)
    elif given in _ONLY_MESSAGE_ID and not one.is_message_id:
        message = f"the type {given!r} is for the AMQP message-id only"
        yield subject.error("M35", one.at("type"), message, "use integer, string or any")


def tabled_type(subject: Subject, one: Property) -> Iterator[Finding]:
    """M56, M60, M62, M63: a property that the table lists keeps the table's type."""
    given = one.type
    if not one.tabled or not isinstance(one.members.get("type"), str) or given == one.default:
        return
    # Texts may be narrowed, and official models type binary values as templates.
    if given in TEXTUAL and (one.default in TEXTUAL or one.default == "binary"):
        return
    if given in TYPES:
        message = f"the type is {given}, but {one.path[-1]} is {_a(one.default)} here"
        yield subject.error(one.rule, one.at("type"), message, f"leave type out: {one.default}")


def value(subject: Subject, one: Property) -> Iterator[Finding]:
    """M36: a value is valid for its type; texts such as "5" and "true" count."""
    given = one.value
    if given is None:
        return
    if has_placeholders(given) and (one.type in one.placeholders or one.type == "binary"):
        return
    expected = value_fault(one.type, given)
    if expected is not None:
        rule = "M36" if one.is_object and "type" in one.members else one.rule
        message = f"the value is not {_a(one.type)}"
        advice = f"expected {expected}"
        if not isinstance(given, str) and one.type == "string" and one.is_object:
            advice += ", or a type that fits the value"
        yield subject.error(rule, one.at("value"), message, advice)
    elif one.is_attribute and one.type == "integer" and not -(2**31) <= int(given) < 2**31:
        message = "the value does not fit a CloudEvents integer"
        yield subject.error("M36", one.at("value"), message, "expected 32 bits, signed")


def template(subject: Subject, one: Property) -> Iterator[Finding]:
    """M38: placeholders are {symbol}: no operators, no other characters, braces in pairs."""
    given = one.value
    if not isinstance(given, str) or one.type not in one.placeholders:
        return
    fault = template_fault(given)
    if fault is None:
        return
    advice = "write placeholders as {name}, with letters, digits and underscores"
    if one.type == "uritemplate":
        yield subject.error("M38", one.at("value"), fault, advice)
    else:
        advice += "; without a placeholder the text is taken literally"
        yield subject.warning("M38", one.at("value"), fault, advice)


def specurl(subject: Subject, one: Property) -> Iterator[Finding]:
    """M68: specurl is a URI reference."""
    if one.is_object and not is_reference(one.members.get("specurl", "x")):
        message = "specurl is not a URI reference"
        yield subject.error("M68", one.at("specurl"), message, "write the URL of the text")


PROPERTY_RULES = (description, required, type_name, tabled_type, value, template, specurl)
"""Every rule of a property definition."""


def check_properties(subject: Subject, found: Iterator[Property]) -> Iterator[Finding]:
    """All rules on all properties that the entity itself declares."""
    for one in found:
        for rule in PROPERTY_RULES:
            yield from rule(subject, one)


def _a(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" and not name.startswith("uri") else f"a {name}"
