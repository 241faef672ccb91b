"""A resource at work: its meta attributes and versions, loaded once, changed, saved once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heraldry.store.rows import Kind, Row

if TYPE_CHECKING:
    from heraldry.registry.entity_names import ResourceNames
    from heraldry.registry.unit import Unit


@dataclass(slots=True, kw_only=True)
class VersionDraft:
    """A version as it shall become."""

    id: str
    key: int
    xid: str
    old: Row | None
    values: dict[str, Any]
    document: int = 0
    content: bytes | None = None
    """A document that is to replace the stored one; ``b""``: none at all, or an empty one."""
    empty: bool = False
    """Whether content without bytes was given as a document: it is shown as such (DO-05)."""
    touched: bool = False
    """Whether it has its new epoch: once per request (CA-08)."""
    unrooted: bool = False
    """Whether its versionmode shall choose its ancestor (AL-11, VE-07)."""

    def touch(self, now: str) -> None:
        """Give it the next epoch, because something else changed it (VE-08)."""
        if not self.touched:
            self.touched = True
            self.values["epoch"] += 1
            self.values["modifiedat"] = now

    def point(self, ancestor: str, now: str) -> None:
        """Set its ancestor; that is an update (VE-08)."""
        self.unrooted = False
        if self.values.get("ancestorid") != ancestor:
            self.values["ancestorid"] = ancestor
            self.touch(now)


@dataclass(slots=True, kw_only=True)
class ResourceDraft:
    """A resource as it shall become."""

    names: ResourceNames
    group: Row
    id: str
    key: int
    xid: str
    old: Row | None
    meta: dict[str, Any]
    """With internal names (``#``), ``xref``, ``defaultversionid``."""
    versions: dict[str, VersionDraft] = field(default_factory=dict)
    removed: list[VersionDraft] = field(default_factory=list)
    borrowed: dict[str, Row] = field(default_factory=dict)
    """The versions that it showed of its target before this request ended that, by id."""
    meta_touched: bool = False

    @property
    def xref(self) -> str:
        """The xid it borrows its versions from; ``""``: it has its own."""
        return self.meta.get("xref") or ""

    @property
    def was_xref(self) -> bool:
        """Whether it borrowed its versions before this request."""
        return self.old is not None and bool(self.old.xref)

    @property
    def meta_xid(self) -> str:
        """The xid of its meta entity."""
        return f"{self.xid}/meta"

    def touch_meta(self, now: str) -> None:
        """Give its meta entity the next epoch, once per request (ME-03)."""
        if not self.meta_touched:
            self.meta_touched = True
            self.meta["epoch"] += 1
            self.meta["modifiedat"] = now

    def remove(self, version: VersionDraft) -> None:
        """Take a version away; a new one leaves no trace."""
        del self.versions[version.id]
        if version.old is not None:
            self.removed.append(version)


def open_resource(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    row: Row | None,
) -> ResourceDraft:
    """Load a resource with all its versions, or begin a new one."""
    xid = f"{group.xid}/{names.type.plural}/{id}"
    if row is None:
        meta = {"epoch": 1, "createdat": unit.now, "modifiedat": unit.now}
        key = unit.tx.next_key()
        draft = ResourceDraft(
            names=names, group=group, id=id, key=key, xid=xid, old=None, meta=meta
        )
        draft.meta_touched = True
        return draft
    draft = ResourceDraft(
        names=names, group=group, id=id, key=row.key, xid=xid, old=row, meta=dict(row.attributes)
    )
    if not row.xref:
        for version in unit.tx.children([row.key], f"{names.path}/versions"):
            draft.versions[version.id] = VersionDraft(
                id=version.id,
                key=version.key,
                xid=version.xid,
                old=version,
                values=dict(version.attributes),
                document=version.document,
            )
    return draft


def new_version(unit: Unit, draft: ResourceDraft, id: str) -> VersionDraft:  # noqa: A002
    """A version that was not there before; adding it is a change of the meta entity (CA-10)."""
    version = VersionDraft(
        id=id,
        key=unit.tx.next_key(),
        xid=f"{draft.xid}/versions/{id}",
        old=None,
        values={},
        touched=True,
        unrooted=True,
    )
    draft.versions[id] = version
    draft.touch_meta(unit.now)
    return version


def version_row(draft: ResourceDraft, version: VersionDraft) -> Row:
    """The row of a version."""
    return Row(
        key=version.key,
        parent=draft.key,
        kind=Kind.VERSION,
        type=f"{draft.names.path}/versions",
        xid=version.xid,
        id=version.id,
        attributes=version.values,
        document=version.document,
    )


def resource_row(draft: ResourceDraft) -> Row:
    """The row of a resource; ``xref`` and ``defaultversionid`` are attributes too, for filters."""
    default = draft.versions.get(draft.meta.get("defaultversionid", ""))
    return Row(
        key=draft.key,
        parent=draft.group.key,
        kind=Kind.RESOURCE,
        type=draft.names.path,
        xid=draft.xid,
        id=draft.id,
        attributes=draft.meta,
        default=default.key if default is not None else 0,
        xref=draft.xref,
    )
