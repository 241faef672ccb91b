"""Registries for the tests of stores: files in directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heraldry.store.rows import Change, Kind, Row, State
from heraldry.store.store import Reader, Store, Writer

DIRS, FILES, VERSIONS = "dirs", "dirs/files", "dirs/files/versions"
FIRST = State(
    id="xreg",
    attributes={"epoch": 1, "name": "first"},
    capabilities={},
    modelsource={"groups": {}},
    model={"groups": {"dirs": {"plural": "dirs"}}},
)


@dataclass(frozen=True, kw_only=True)
class File:
    """A resource to be made: its versions by id, the last of them is the default."""

    versions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    xref: str = ""


def add_group(tx: Writer, id_: str, attributes: Mapping[str, Any] = {}, type_: str = DIRS) -> Row:
    row = Row(
        key=tx.next_key(),
        parent=0,
        kind=Kind.GROUP,
        type=type_,
        xid=f"/{type_}/{id_}",
        id=id_,
        attributes=attributes,
    )
    tx.save(row)
    return row


ONE_VERSION = File(versions={"v1": {}})


def add_file(tx: Writer, group: Row, id_: str, file: File = ONE_VERSION) -> Row:
    row = Row(
        key=tx.next_key(),
        parent=group.key,
        kind=Kind.RESOURCE,
        type=FILES,
        xid=f"{group.xid}/files/{id_}",
        id=id_,
        attributes=file.meta,
        xref=file.xref,
    )
    default = 0
    for version, attributes in file.versions.items():
        default = add_version(tx, row, version, attributes).key
    row = replace(row, default=default)
    tx.save(row)
    return row


def add_version(
    tx: Writer, resource: Row, id_: str, attributes: Mapping[str, Any] = {}, document: int = 0
) -> Row:
    row = Row(
        key=tx.next_key(),
        parent=resource.key,
        kind=Kind.VERSION,
        type=VERSIONS,
        xid=f"{resource.xid}/versions/{id_}",
        id=id_,
        attributes=attributes,
        document=document,
    )
    tx.save(row)
    return row


def fill(store: Store, tree: Mapping[str, Mapping[str, File]]) -> list[Row]:
    """Save directories with files; all rows of them."""
    made: list[Row] = []
    with store.write() as tx:
        for id_, files in tree.items():
            group = add_group(tx, id_)
            made += [group, *(add_file(tx, group, name, file) for name, file in files.items())]
    return made


def got(tx: Reader, xid: str) -> Row:
    found = tx.find(xid)
    assert found is not None
    return found


def note(xid: str, number: int = 0) -> Change:
    return Change(
        at="2026-01-01T00:00:00Z",
        correlation=f"request {number}",
        actor="ada",
        action="updated",
        xid=xid,
        changed=("name", "epoch"),
    )


def ids(rows: Sequence[Row]) -> list[str]:
    return [row.id for row in rows]
