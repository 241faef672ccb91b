"""Rules of groups, ids and versions around the messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource
from heraldry.model.formats import family
from heraldry.model.inherit import borrowed_target
from heraldry.model.problem import Finding
from heraldry.model.rules_message import absent_names, envelope_name, protocol_name
from heraldry.model.rules_subject import Subject
from heraldry.model.xid import Xid

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._~:@-]{0,127}")
_BESIDE_REFERENCE = frozenset(("uri", "xref", "meta", "metaurl", "messageid", "self", "xid"))


def id_charset(subject: Subject) -> Iterator[Finding]:
    """CA-02: an id has 1 to 128 of the allowed characters."""
    for step in subject.steps[1::2]:
        last = str(step)
    if not _ID.fullmatch(last):
        message = f"{last!r} is not an id"
        advice = "use at most 128 letters, digits and . _ ~ : @ -, beginning with no mark but _"
        yield subject.error("CA-02", (), message, advice)


def xid_member(subject: Subject) -> Iterator[Finding]:
    """xid-mismatch: an xid in the document names the place it stands in."""
    given = subject.source.get("xid")
    place = "/" + "/".join(str(step) for step in subject.steps)
    if isinstance(given, str) and given != place:
        message = f"the xid is {given}, but the entity is {place}"
        yield subject.error("xid-mismatch", ("xid",), message, f"write {place}, or leave it out")


GROUP_RULES = (
    id_charset,
    xid_member,
    absent_names,
    envelope_name,
    protocol_name,
)
"""Every rule of a group."""


def borrowed(subject: Subject) -> Iterator[Finding]:
    """C15: a borrowed message is a reference to an existing message and nothing else."""
    resource = subject.resource
    if resource is None or "xref" not in resource.meta:
        return
    if borrowed_target(subject.catalog, resource) is None:
        message = f"the catalog has no message {resource.meta['xref']} to borrow"
        advice = "add the message or the file it is in, or correct the reference"
        yield subject.warning("borrowed-unknown", (), message, advice)
    for name in subject.source:
        if name not in _BESIDE_REFERENCE:
            message = f"{name} has no effect: the message is borrowed"
            advice = "remove it, or use basemessage to change what is borrowed"
            yield subject.warning("C15", (name,), message, advice)


def default_version(subject: Subject) -> Iterator[Finding]:
    """default-version-unknown: defaultversionid names a version the document has."""
    resource = subject.resource
    named = resource.meta.get("defaultversionid") if resource else None
    if resource is None or named is None or str(named) in resource.versions:
        return
    inside = "defaultversionid" not in subject.source
    path = ("meta", "defaultversionid") if inside else ("defaultversionid",)
    message = f"there is no version {named!r}; {resource.default!r} is taken as the default"
    advice = "one of " + ", ".join(resource.versions)
    yield subject.error("default-version-unknown", path, message, advice)


def version_formats(subject: Subject) -> Iterator[Finding]:
    """C42: a format beside versions is the format of every version."""
    common = subject.source.get("format")
    versions = subject.source.get("versions")
    if not isinstance(common, str) or not isinstance(versions, Mapping):
        return
    for id_, version in versions.items():
        own = version.get("format") if isinstance(version, Mapping) else None
        if isinstance(own, str) and not _same_format(own, common):
            path = ("versions", id_, "format")
            message = f"the format is {own}, but {common} beside versions"
            yield subject.error("C42", path, message, "state one format")


def subject_of_group(catalog: Catalog, group: Group) -> Subject:
    """A group as the rules see it."""
    return Subject(
        catalog=catalog,
        file=catalog.file(group.xid),
        steps=(group.xid.groups, group.xid.group),
        source=group.source or group.attributes,
        attributes=group.attributes,
        group=group,
    )


def subject_of_resource(catalog: Catalog, group: Group, resource: Resource) -> Subject:
    """A resource as a whole, for the rules that do not look into versions."""
    xid: Xid = resource.xid
    source: Mapping[str, Any] = resource.source or resource.attributes
    return Subject(
        catalog=catalog,
        file=catalog.file(xid),
        steps=(xid.groups, xid.group, xid.resources, xid.resource),
        source=source,
        attributes=resource.attributes,
        group=group,
        resource=resource,
    )


def _same_format(own: str, common: str) -> bool:
    (name, version), (other, wanted) = family(own), family(common)
    return name == other and (not version or not wanted or version == wanted)


RESOURCE_RULES = (id_charset, xid_member, borrowed, default_version)
"""Every rule of a resource as a whole."""
SCHEMA_RULES = (version_formats,)
"""The rules of schemas as documents of the catalog."""
