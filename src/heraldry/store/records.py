"""Rows as the database has them, and back."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from heraldry.store.facts import fold
from heraldry.store.rows import Change, Kind, Row, State

ROW: Final = (
    "e.key, e.parent, e.kind, e.type, e.xid, e.id, e.attributes, e.chosen, e.xref, e.document, "
    "e.borrowed"
)
ENTITY: Final = (
    *("key", "parent", "kind", "type", "xid", "folded", "id", "place", "attributes", "chosen"),
    *("xref", "document", "borrowed"),
)
CHANGE: Final = ("sequence", "at", "correlation", "actor", "action", "xid", "changed")

_KINDS = (None, Kind.GROUP, Kind.RESOURCE, Kind.VERSION)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_decode_state = msgspec.json.Decoder(State).decode


def row_of(record: tuple[Any, ...]) -> Row:
    """The entity of a record with the columns ``ROW``."""
    key, parent, kind, type_, xid, id_, attributes, chosen, xref, document, borrowed = record
    return Row(
        key=key,
        parent=parent,
        kind=_KINDS[kind],  # type: ignore[arg-type]
        type=type_,
        xid=xid,
        id=id_,
        attributes=_decode(attributes),
        default=chosen,
        xref=xref,
        document=document,
        borrowed=borrowed == 1,
    )


def record_of(row: Row) -> tuple[Any, ...]:
    """An entity as a record with the columns ``ENTITY``."""
    return (
        row.key,
        row.parent,
        int(row.kind),
        row.type,
        row.xid,
        fold(row.xid),
        row.id,
        fold(row.id),
        _encode(row.attributes),
        row.default,
        row.xref,
        row.document,
        int(row.borrowed),
    )


def state_of(content: bytes) -> State:
    """The state that was kept."""
    return _decode_state(content)


def state_content(state: State) -> bytes:
    """A state as it is kept."""
    return _encode(state)


def change_of(record: tuple[Any, ...]) -> Change:
    """The change of a record with the columns ``CHANGE``."""
    sequence, at, correlation, actor, action, xid, changed = record
    return Change(
        at=at,
        correlation=correlation,
        actor=actor,
        action=action,
        xid=xid,
        changed=tuple(_decode(changed)),
        sequence=sequence,
    )


def change_record(change: Change, sequence: int) -> tuple[Any, ...]:
    """A change as a record with the columns ``CHANGE``."""
    changed = _encode(change.changed).decode()
    return (
        sequence,
        change.at,
        change.correlation,
        change.actor,
        change.action,
        change.xid,
        changed,
    )
