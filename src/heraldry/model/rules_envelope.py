"""Rules of the CloudEvents envelope: names, types and fixed values of attributes (M42..M48)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.definition import TYPES
from heraldry.model.formats import is_cloudevents
from heraldry.model.problem import Finding
from heraldry.model.rules_properties import Property, check_properties
from heraldry.model.rules_subject import Subject
from heraldry.model.rules_values import ALIASES, has_placeholders, is_media_type

_NAME = re.compile(r"[a-z0-9]+")
_REQUIRED = ("id", "source", "type")
_ADDRESSES = frozenset(("uri", "urireference", "uritemplate", "string"))
_TEXTS = _ADDRESSES | {"symbol", "integer", "timestamp", "duration"}
_NARROWED = {
    "specversion": frozenset(("string",)),
    "id": _TEXTS,
    "type": _TEXTS,
    "subject": _TEXTS,
    "datacontenttype": _TEXTS,
    "source": _ADDRESSES,
    "dataschema": _ADDRESSES,
    "time": frozenset(("timestamp",)),
}
"""The types an attribute of CloudEvents may be declared with (M48, C18, C51)."""

_DEFAULTS = {"source": "urireference", "dataschema": "urireference", "time": "timestamp"}


def attributes(subject: Subject) -> Iterator[Property]:
    """The attributes that the entity itself declares."""
    for name, declared in _metadata(subject).items():
        yield Property(
            path=("envelopemetadata", name),
            declared=declared,
            default=_default(name, declared),
            is_attribute=True,
        )


def properties(subject: Subject) -> Iterator[Finding]:
    """M33, M34, M35, M36, M38, M68 on the attributes of the envelope."""
    if is_cloudevents(subject.effective("envelope")):
        yield from check_properties(subject, attributes(subject))


def names(subject: Subject) -> Iterator[Finding]:
    """M42: names of attributes are lower-case letters and digits."""
    if not is_cloudevents(subject.effective("envelope")):
        return
    for name, declared in _metadata(subject).items():
        path = ("envelopemetadata", name)
        if not _NAME.fullmatch(name):
            message = f"{name!r} is not a name of a CloudEvents attribute"
            advice = "use lower-case letters and digits only"
            yield subject.error("M42", path, message, advice)
        elif not isinstance(declared, Mapping):
            message = f"{name} is declared by a plain value"
            yield subject.warning("M68", path, message, 'write {"value": ...}')


def specversion(subject: Subject) -> Iterator[Finding]:
    """M43: specversion, if declared, is a string with the value 1.0."""
    declared = _declared(subject, "specversion")
    path = ("envelopemetadata", "specversion")
    if declared is None:
        return
    advice = 'write {"value": "1.0", "type": "string"}, or leave specversion out'
    if declared.get("type", "string") != "string":
        yield subject.error("M43", (*path, "type"), "specversion is not of type string", advice)
    if "value" not in declared:
        yield subject.warning("M43", path, "specversion is declared without its value", advice)
    elif declared["value"] != "1.0":
        yield subject.error("M43", (*path, "value"), 'specversion is not "1.0"', advice)


def always_required(subject: Subject) -> Iterator[Finding]:
    """M44: type, id and source are never declared as not required."""
    for name in _REQUIRED:
        declared = _declared(subject, name)
        if declared is not None and declared.get("required") is False:
            path = ("envelopemetadata", name, "required")
            message = f"{name} is declared as not required, but every CloudEvent has it"
            yield subject.error("M44", path, message, "write true, or leave required out")


def dataschema(subject: Subject) -> Iterator[Finding]:
    """M47: the value of the attribute dataschema equals dataschemauri."""
    if not is_cloudevents(subject.effective("envelope")):
        return
    metadata = subject.effective("envelopemetadata")
    declared = metadata.get("dataschema") if isinstance(metadata, Mapping) else None
    uri = subject.effective("dataschemauri")
    value = declared.get("value") if isinstance(declared, Mapping) else None
    if not isinstance(uri, str) or not isinstance(value, str) or not value:
        return
    # A registry writes its own address before an xid, so the shorter text may end the longer.
    if value == uri or has_placeholders(value) or (uri.startswith("/") and value.endswith(uri)):
        return
    message = "the attribute dataschema differs from dataschemauri"
    for path in (("envelopemetadata", "dataschema", "value"), ("dataschemauri",)):
        if subject.says(*path):
            yield subject.error("M47", path, message, "let both name the same schema")
            return


def data_content_type(subject: Subject) -> Iterator[Finding]:
    """M49: a content type that is declared instead of implied is a media type."""
    value = (_declared(subject, "datacontenttype") or {}).get("value")
    if not isinstance(value, str) or not value or has_placeholders(value):
        return
    if not is_media_type(value):
        path = ("envelopemetadata", "datacontenttype", "value")
        message = "the attribute datacontenttype is not a media type"
        yield subject.error("M49", path, message, "such as application/json")


def narrowed(subject: Subject) -> Iterator[Finding]:
    """M48: the type of an attribute may be narrowed, not replaced."""
    if not is_cloudevents(subject.effective("envelope")):
        return
    for name, allowed in _NARROWED.items():
        given = (_declared(subject, name) or {}).get("type")
        if not isinstance(given, str) or name == "specversion":
            continue
        kind = ALIASES.get(given, given)
        if kind in TYPES and kind not in allowed:
            path = ("envelopemetadata", name, "type")
            message = f"the type {given} is no narrower form of the type of {name}"
            yield subject.warning("M48", path, message, "one of " + ", ".join(sorted(allowed)))


def mode(subject: Subject) -> Iterator[Finding]:
    """envelope-options: mode is binary or structured, and format comes with structured only."""
    options = subject.attributes.get("envelopeoptions")
    if not is_cloudevents(subject.effective("envelope")) or not isinstance(options, Mapping):
        return
    given = options.get("mode")
    if given not in (None, "binary", "structured"):
        path, message = ("envelopeoptions", "mode"), "mode is neither binary nor structured"
        yield subject.error("envelope-options", path, message, "write one of them in lower case")
    elif given == "binary" and "format" in options:
        path, message = ("envelopeoptions", "format"), "in binary mode there is no format"
        advice = "leave format out: the content type is that of the data"
        yield subject.error("envelope-options", path, message, advice)


def _metadata(subject: Subject) -> Mapping[str, Any]:
    found = subject.attributes.get("envelopemetadata")
    return found if isinstance(found, Mapping) else {}


def _declared(subject: Subject, name: str) -> Mapping[str, Any] | None:
    if not is_cloudevents(subject.effective("envelope")):
        return None
    found = _metadata(subject).get(name)
    return found if isinstance(found, Mapping) else None


def _default(name: str, declared: Any) -> str:
    """The type of an attribute that declares none; a value with braces is a template (C51)."""
    value = declared.get("value") if isinstance(declared, Mapping) else declared
    kind = _DEFAULTS.get(name, "string")
    return "uritemplate" if kind == "urireference" and _has_brace(value) else kind


def _has_brace(value: Any) -> bool:
    return isinstance(value, str) and "{" in value


ENVELOPE_RULES = (
    properties,
    names,
    specversion,
    always_required,
    dataschema,
    data_content_type,
    narrowed,
    mode,
)
"""Every rule of the envelope's metadata."""
