"""Rules of a message itself: envelope, protocol, base message and payload (M5..M32, M68)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.formats import present, protocol_family, same_envelope, same_protocol
from heraldry.model.inherit import MESSAGE_GROUPS, borrowed_target, local_reference
from heraldry.model.problem import Finding
from heraldry.model.rules_options import declared, family
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import (
    has_placeholders,
    is_absolute,
    is_media_type,
    is_reference,
    media_type,
)
from heraldry.model.schema_reference import find_schema

_NAME_VERSION = re.compile(r"[^/\s]+/[^/\s]+")
_NAME = re.compile(r"[^/\s]+(/[^/\s]+)?")
_PREDEFINED = {
    "HTTP": ("", "1.1", "2", "3"),
    "AMQP": ("", "1.0"),
    "MQTT": ("", "3.1.1", "5.0"),
    "KAFKA": ("",),
    "NATS": ("",),
}
_RESPELT = {
    "HTTP": ("1", "2.0", "3.0"),
    "AMQP": ("1",),
    "MQTT": ("5",),
}
"""Versions that mean a predefined protocol under another name; others stand for themselves."""


def absent_names(subject: Subject) -> Iterator[Finding]:
    """M5, M9: envelope and protocol are non-empty texts; "None" is read as absent (C54)."""
    for name, rule in (("envelope", "M5"), ("protocol", "M9")):
        given = subject.source.get(name)
        if given is None:
            continue
        if not isinstance(given, str):
            message = f"{name} is not a text"
            yield subject.error(rule, (name,), message, "write NAME/VERSION")
        elif present(given) is None:
            message = f"{name} is {given!r}, which is read as absent"
            yield subject.warning(rule, (name,), message, f"leave {name} out")


def envelope_name(subject: Subject) -> Iterator[Finding]:
    """M6, M7: an envelope is NAME/VERSION; CloudEvents 1.0 is called CloudEvents/1.0 (C11)."""
    given = subject.attributes.get("envelope")
    if not isinstance(given, str):
        return
    path, advice = ("envelope",), "write CloudEvents/1.0"
    name, _, version = given.strip().lower().partition("/")
    if name == "cloudevents" and not version:
        if not _is_endpoint(subject):
            yield subject.warning("M6", path, f"{given!r} has no version", advice)
    elif name == "cloudevents" and version.removeprefix("v").split(".")[0] == "1":
        if version != "1.0":
            message = f"{given!r} is not the name of CloudEvents 1.0"
            yield subject.error("M7", path, message, advice)
    elif not _NAME_VERSION.fullmatch(given.strip()) and not _is_endpoint(subject):
        advice = "write NAME/VERSION, such as CloudEvents/1.0"
        yield subject.error("M6", path, f"{given!r} is not NAME/VERSION", advice)


def protocol_name(subject: Subject) -> Iterator[Finding]:
    """M10, M11: a protocol is NAME or NAME/VERSION, under its predefined name (C11)."""
    given = subject.attributes.get("protocol")
    if not isinstance(given, str):
        return
    path = ("protocol",)
    if not _NAME.fullmatch(given):
        message = f"{given!r} is neither NAME nor NAME/VERSION"
        yield subject.error("M10", path, message, "such as KAFKA or MQTT/5.0")
        return
    name, _, version = given.upper().partition("/")
    meant = protocol_family(given)
    if name in {"MQTT", "AMQP"} and not version:
        if _is_endpoint(subject):
            return
        message = f"{given!r} has no version and is read as {meant[0]}/{meant[1]}"
        yield subject.warning("M10", path, message, f"write {meant[0]}/{meant[1]}")
    elif version in _RESPELT.get(name, ()) or (version and name in {"KAFKA", "NATS"}):
        message = f"{given!r} is not the predefined name"
        names = [f"{name}/{known}" if known else name for known in _PREDEFINED[name]]
        yield subject.warning("M11", path, message, "one of " + ", ".join(names))


def group_names(subject: Subject) -> Iterator[Finding]:
    """M8, M12, M13: a message has the envelope and protocol of its group (C16)."""
    for name, rule, same in (
        ("envelope", "M8", same_envelope),
        ("protocol", "M12", same_protocol),
    ):
        own, common = _own_or_borrowed(subject, name), subject.group.attributes.get(name)
        if isinstance(own, str) and isinstance(common, str) and not same(own, common):
            message = f"the {name} is {own}, but that of the group is {common}"
            advice = f"write {common}, or move the message to another group"
            yield subject.error(rule, _name_path(subject, name), message, advice)


def base_reference(subject: Subject) -> Iterator[Finding]:
    """M14: basemessage is the xid of a message or one of its versions, or an absolute URI."""
    given = subject.attributes.get("basemessage")
    if given is None or is_absolute(given):
        return
    xid = local_reference(given)
    if xid and xid.resources == "messages" and xid.groups in MESSAGE_GROUPS and not xid.meta:
        return
    message = f"{given!r} is not the xid of a message"
    advice = "write /messagegroups/GROUP/messages/MESSAGE"
    yield subject.error("M14", ("basemessage",), message, advice)


def base_cycle(subject: Subject) -> Iterator[Finding]:
    """M18: a chain of base messages does not come back to itself."""
    if subject.cycle:
        message = "basemessage is circular: " + " -> ".join(subject.cycle)
        yield subject.error("M18", ("basemessage",), message, "let one of them have no base")


def details(subject: Subject) -> Iterator[Finding]:
    """M19, M20: envelope comes with envelopemetadata, protocol with protocoloptions (C17)."""
    if "basemessage" in subject.attributes:
        return
    pairs = (("envelope", "envelopemetadata", "M19"), ("protocol", "protocoloptions", "M20"))
    for name, needed, rule in pairs:
        if name in subject.attributes and needed not in subject.attributes:
            message = f"{name} is given without {needed}"
            yield subject.warning(rule, (name,), message, f"add {needed}, {{}} if it is empty")


def schema_format(subject: Subject) -> Iterator[Finding]:
    """M21, M22: dataschemaformat is NAME/VERSION; without a version any is meant (C44)."""
    given = subject.attributes.get("dataschemaformat")
    path = ("dataschemaformat",)
    if given is None:
        return
    if not isinstance(given, str) or not given.strip():
        message = "dataschemaformat is not a non-empty text"
        yield subject.error("M21", path, message, "such as JSONSchema/draft-07")
    elif not _NAME.fullmatch(given.strip()):
        message = f"{given!r} is not NAME/VERSION"
        yield subject.error("M22", path, message, "such as JSONSchema/draft-07")
    elif "/" not in given:
        message = f"{given!r} has no version"
        yield subject.warning("M22", path, message, "such as JSONSchema/draft-07 or Avro/1.11")


def schema_needs_format(subject: Subject) -> Iterator[Finding]:
    """M23, M24: dataschema and dataschemauri come with dataschemaformat."""
    if subject.effective("dataschemaformat") is not None:
        return
    for name, rule in (("dataschema", "M23"), ("dataschemauri", "M24")):
        if name in subject.attributes:
            message = f"{name} is given without dataschemaformat"
            advice = "add dataschemaformat, such as JSONSchema/draft-07"
            yield subject.error(rule, (name,), message, advice)


def one_schema(subject: Subject) -> Iterator[Finding]:
    """M25: dataschema and dataschemauri exclude each other."""
    if "dataschema" in subject.attributes and "dataschemauri" in subject.attributes:
        message = "dataschema and dataschemauri are both given"
        yield subject.error("M25", ("dataschema",), message, "keep one of them")


def schema_xid(subject: Subject) -> Iterator[Finding]:
    """M27: dataschemaxid is the xid of a schema or one of its versions."""
    given = subject.attributes.get("dataschemaxid")
    if given is None:
        return
    xid = local_reference(given)
    if xid is None or xid.resources != "schemas" or xid.meta:
        message = f"{given!r} is not the xid of a schema"
        advice = "write /schemagroups/GROUP/schemas/SCHEMA"
        yield subject.error("M27", ("dataschemaxid",), message, advice)


def same_schema(subject: Subject) -> Iterator[Finding]:
    """M28: dataschemauri names the schema that dataschemaxid names (C22)."""
    xid, uri = (subject.attributes.get(name) for name in ("dataschemaxid", "dataschemauri"))
    if not isinstance(xid, str) or not isinstance(uri, str):
        return
    first, second = (find_schema(subject.catalog, text) for text in (xid, uri))
    if first and second and first.xid != second.xid:
        message = "dataschemauri names another schema than dataschemaxid"
        advice = f"write {xid}, or leave dataschemauri out"
        yield subject.error("M28", ("dataschemauri",), message, advice)


def content_type(subject: Subject) -> Iterator[Finding]:
    """M32: datacontenttype is a media type."""
    given = subject.attributes.get("datacontenttype")
    if given is not None and not is_media_type(given):
        message = f"{given!r} is not a media type"
        yield subject.error("M32", ("datacontenttype",), message, "such as application/json")


def same_content_type(subject: Subject) -> Iterator[Finding]:
    """M29, M31: all places that state the type of the payload agree (C39)."""
    if subject.definition is None:
        return
    stated = [(path, text) for path, text in _content_types(subject) if is_media_type(text)]
    for path, text in stated[1:]:
        first_path, first = stated[0]
        if media_type(text) == media_type(first):
            continue
        where = path if subject.says(*path) else first_path
        if subject.says(*where):
            message = f"the content type is {text} here, but {first} in {first_path[0]}"
            advice = "state one content type everywhere"
            yield subject.error("M29", where, message, advice)


def shapes(subject: Subject) -> Iterator[Finding]:
    """M68: metadata and options are objects, dataschemauri is a URI reference."""
    for name in ("envelopemetadata", "envelopeoptions", "protocoloptions"):
        if not isinstance(subject.attributes.get(name, {}), Mapping):
            message = f"{name} is not an object"
            yield subject.error("M68", (name,), message, "write members by name in braces")
    uri = subject.attributes.get("dataschemauri")
    if uri is not None and not is_reference(uri):
        message = f"{uri!r} is not a URI reference"
        advice = "write an xid such as /schemagroups/GROUP/schemas/SCHEMA, or a URL"
        yield subject.error("M68", ("dataschemauri",), message, advice)


def _is_endpoint(subject: Subject) -> bool:
    """Whether an endpoint itself is at hand: it may leave versions out (C16, R63)."""
    return subject.resource is None and subject.group.xid.groups == "endpoints"


def _own_or_borrowed(subject: Subject, name: str) -> Any:
    resource = subject.resource
    if resource is None or "xref" not in resource.meta:
        return subject.attributes.get(name)
    target = borrowed_target(subject.catalog, resource)
    group = subject.catalog.group(target.xid) if target else None
    if target is None or group is None:
        return None
    return target.attributes.get(name, group.attributes.get(name))


def _name_path(subject: Subject, name: str) -> Path:
    borrowed = subject.resource is not None and "xref" in subject.resource.meta
    return () if borrowed else (name,)


def _content_types(subject: Subject) -> Iterator[tuple[Path, str]]:
    """The places that state the content type of the payload, without templates."""
    definition = subject.definition
    if definition is None:
        return
    mode = declared(definition.envelopeoptions.get("mode"))
    structured = mode == "structured" or str(definition.datacontenttype or "").lower().startswith(
        "application/cloudevents"
    )
    places: list[tuple[Path, Any]] = [(("datacontenttype",), definition.datacontenttype)]
    if structured:
        places.append((("envelopeoptions", "format"), definition.envelopeoptions.get("format")))
    else:
        attribute = declared(definition.envelopemetadata.get("datacontenttype"))
        places.append((("envelopemetadata", "datacontenttype", "value"), attribute))
    places += _in_options(definition.protocoloptions, family(subject))
    for path, text in places:
        if isinstance(text, str) and text and not has_placeholders(text):
            yield path, text


def _in_options(options: Mapping[str, Any], protocol: str) -> list[tuple[Path, Any]]:
    if protocol == "MQTT":
        return [(("protocoloptions", "content_type"), declared(options.get("content_type")))]
    if protocol == "AMQP":
        path: Path = ("protocoloptions", "properties", "content-type")
        section = options.get("properties")
        inner = section.get("content-type") if isinstance(section, Mapping) else None
        return [(path, declared(inner))]
    headers = options.get("headers")
    if isinstance(headers, Mapping):
        return [
            (("protocoloptions", "headers", key), declared(value))
            for key, value in headers.items()
            if _is_content_type(value.get("name", key) if isinstance(value, Mapping) else key)
        ]
    if isinstance(headers, list):
        entries = [(i, entry) for i, entry in enumerate(headers) if isinstance(entry, Mapping)]
        return [
            (("protocoloptions", "headers", i, "value"), entry.get("value"))
            for i, entry in entries
            if _is_content_type(entry.get("name"))
        ]
    return []


def _is_content_type(name: Any) -> bool:
    return isinstance(name, str) and name.lower() == "content-type"


MESSAGE_RULES = (
    absent_names,
    envelope_name,
    protocol_name,
    group_names,
    base_reference,
    base_cycle,
    details,
    schema_format,
    schema_needs_format,
    one_schema,
    schema_xid,
    same_schema,
    content_type,
    same_content_type,
    shapes,
)
"""Every rule of a message but those of its envelope's metadata and protocol's options."""
