"""What is deprecated and still referenced: groups, base messages, borrowed messages, schemas."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from heraldry.messages.deprecation import (
    documentation_of,
    entity_notice,
    is_early,
    notice,
    resource_notice,
    text_of,
)
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
                if resource_notice(message) is None:
                    yield from _message(catalog, message, moment)


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
    found = entity_notice(catalog, target)
    if found is None:
        return
    severity: Severity = "warning"
    told = f"{target} is deprecated"
    if is_early(found, moment):
        severity, told = "info", f"{target} will be deprecated from {found['effective']}"
    if read_timestamp(found.get("removal")) is not None:
        told += f", and removed from {found['removal']}"
    advice = "refer to what replaces it"
    if alternative := text_of(found, "alternative"):
        advice = f"refer to {alternative} instead"
    elif documentation := documentation_of(found):
        advice = f"see {documentation}"
    yield finding(catalog, xid, member, "deprecated", severity, told, advice)
