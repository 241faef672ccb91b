"""The part of a registry that the rules of messages look at, as a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heraldry.dialects.xreg_1_0 import canonical
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource, Version
from heraldry.model.inherit import MESSAGE_GROUPS, MOST_BASES, local_reference
from heraldry.model.xid import Xid
from heraldry.store.rows import Kind, Row

if TYPE_CHECKING:
    from heraldry.store.store import Reader

_NAMING_SCHEMAS = ("dataschemaxid", "dataschemauri")


class TouchedCatalog:
    """A catalog that grows by what the messages under the rules refer to; nothing is read twice."""

    def __init__(self, tx: Reader) -> None:
        self._tx = tx
        self._groups: dict[str, dict[str, Group]] = {}
        self._absent: set[str] = set()
        self.catalog = Catalog(groups=self._groups)

    def group_of(self, row: Row) -> Group:
        """A group in its canonical form."""
        known = self._groups.setdefault(row.type, {})
        if row.id not in known:
            read = canonical.endpoint if row.type == "endpoints" else canonical.messagegroup
            known[row.id] = Group(
                xid=Xid(row.type, row.id),
                attributes=read(row.attributes),
                resources={"messages": {}, "schemas": {}},
                source=row.attributes,
            )
        return known[row.id]

    def messages(self, rows: Sequence[Row]) -> Iterator[tuple[Group, Resource]]:
        """Messages with their groups, once everything they refer to is in the catalog."""
        found = self._read(rows)
        self._add_referred(found)
        for message in found:
            group = self.catalog.group(message.xid)
            if group is not None:
                yield group, message

    def _read(self, rows: Sequence[Row]) -> list[Resource]:
        versions: dict[int, list[Row]] = {row.key: [] for row in rows}
        for type_ in dict.fromkeys(row.type for row in rows):
            keys = [row.key for row in rows if row.type == type_]
            for version in self._tx.children(keys, f"{type_}/versions"):
                versions[version.parent].append(version)
        return [message for row in rows if (message := self._add(row, versions[row.key]))]

    def _add(self, row: Row, versions: Sequence[Row]) -> Resource | None:
        xid = Xid.parse(row.xid)
        group = self._group(xid)
        if group is None or not versions:
            return None
        read = canonical.message if xid.resources == "messages" else dict
        resource = Resource(
            xid=xid,
            versions={
                one.id: Version(id=one.id, attributes=read(one.attributes), source=one.attributes)
                for one in versions
            },
            default=next((one.id for one in versions if one.key == row.default), versions[-1].id),
            meta={"xref": row.xref} if row.xref else {},
            # Findings then say which version they are about.
            source={"versions": {one.id: True for one in versions}},
        )
        collection: Any = group.resources[xid.resources]
        collection[xid.resource] = resource
        return resource

    def _group(self, xid: Xid) -> Group | None:
        group = self.catalog.group(xid)
        if group is None:
            row = self._tx.find(f"/{xid.groups}/{xid.group}")
            group = self.group_of(row) if row is not None and row.kind is Kind.GROUP else None
        return group

    def _add_referred(self, messages: Sequence[Resource]) -> None:
        """Load base messages, step by step up their chains, and schemas that are named twice."""
        level = list(messages)
        for _ in range(MOST_BASES):
            wanted = {xid: None for message in level for xid in _references(message)}
            rows = [row for xid in wanted if (row := self._unread(xid)) is not None]
            if not rows:
                return
            level = self._read(rows)

    def _unread(self, xid: Xid) -> Row | None:
        """The row of a message or schema that is not in the catalog yet."""
        text = str(xid)
        if text in self._absent or self.catalog.resource(xid) is not None:
            return None
        row = self._tx.find(text)
        if row is None or row.kind is not Kind.RESOURCE:
            self._absent.add(text)
            return None
        return row


def _references(resource: Resource) -> Iterator[Xid]:
    """What the rules need beside a resource: its base messages, its target, its schemas (M28)."""
    if resource.xid.resources != "messages":
        return
    for version in resource.versions.values():
        texts = [version.attributes.get("basemessage"), resource.meta.get("xref")]
        if all(name in version.attributes for name in _NAMING_SCHEMAS):
            texts += [canonical.reference(version.attributes[name]) for name in _NAMING_SCHEMAS]
        for text in texts:
            xid = local_reference(text)
            if xid is not None and (
                (xid.resources == "messages" and xid.groups in MESSAGE_GROUPS)
                or (xid.resources == "schemas" and xid.groups == "schemagroups")
            ):
                yield replace(xid, version="", meta=False)
