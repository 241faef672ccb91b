"""What is deprecated and still referenced: groups, base messages, borrowed messages, schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from heraldry.messages.lint_rules import finding
from heraldry.messages.values import read_timestamp
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource
from heraldry.model.inherit import MESSAGE_GROUPS, local_reference
from heraldry.model.problem import Finding, Severity
from heraldry.model.schema_reference import find_schema
from heraldry.model.xid import Xid

_SCHEMAS = ("dataschemaxid", "dataschemauri")


def deprecated(catalog: Catalog, moment: datetime) -> Iterator[Finding]:
    """deprecated: what is referenced is not deprecated; what is so itself may refer to it."""
    for plural in MESSAGE_GROUPS:
        for group in catalog.groups.get(plural, {}).values():
            if notice(group.attributes) is not None:
                continue
            if plural == "endpoints":
                yield from _groups(catalog, group, moment)
            for message in group.resources.get("messages", {}).values():
                if _of_resource(message) is None:
                    yield from _message(catalog, message, moment)


def notice(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The notice of deprecation; an empty one counts, and so does ``true``."""
    given = attributes.get("deprecated")
    if isinstance(given, Mapping):
        return given
    return {} if given is True else None


def _of_resource(resource: Resource, version: str = "") -> Mapping[str, Any] | None:
    found = notice(resource.meta)
    used = resource.versions.get(version or resource.default)
    return found if found is not None or used is None else notice(used.attributes)


def _of(catalog: Catalog, xid: Xid) -> Mapping[str, Any] | None:
    """The notice of an entity, or that of the group it is in."""
    resource, group = catalog.resource(xid), catalog.group(xid)
    found = _of_resource(resource, xid.version) if resource is not None else None
    return found if found is not None or group is None else notice(group.attributes)


def _groups(catalog: Catalog, endpoint: Group, moment: datetime) -> Iterator[Finding]:
    given = endpoint.attributes.get("messagegroups")
    for number, text in enumerate(given if isinstance(given, list) else ()):
        xid = local_reference(text)
        if xid is not None:
            yield from _told(catalog, endpoint.xid, f"messagegroups/{number}", xid, moment)


def _message(catalog: Catalog, message: Resource, moment: datetime) -> Iterator[Finding]:
    references: list[tuple[str, Xid | None]] = [("", local_reference(message.meta.get("xref")))]
    if "xref" not in message.meta:
        base = message.attributes.get("basemessage")
        references.append(("basemessage", local_reference(base)))
        for name in _SCHEMAS:
            text = message.attributes.get(name)
            schema = find_schema(catalog, text) if isinstance(text, str) else None
            references.append((name, schema.xid if schema else None))
    for member, xid in references:
        if xid is not None:
            yield from _told(catalog, message.xid, member, xid, moment)


def _told(
    catalog: Catalog, xid: Xid, member: str, target: Xid, moment: datetime
) -> Iterator[Finding]:
    found = _of(catalog, target)
    if found is None:
        return
    severity: Severity = "warning"
    told = f"{target} is deprecated"
    effective = read_timestamp(found.get("effective"))
    if effective is not None and effective > moment:
        severity, told = "info", f"{target} will be deprecated from {found['effective']}"
    if read_timestamp(found.get("removal")) is not None:
        told += f", and removed from {found['removal']}"
    advice = "refer to what replaces it"
    for name, text in (("alternative", "refer to {} instead"), ("docs", "see {}")):
        if isinstance(found.get(name), str) and found[name]:
            advice = text.format(found[name])
            break
    yield finding(catalog, xid, member, "deprecated", severity, told, advice)
