"""The columns of a message: one for each field, by the field's name."""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from heraldry.schemas.columns import (
    COLUMN_LIMIT,
    DEPTH_LIMIT,
    Column,
    ColumnType,
    Fixed,
    Scalar,
    ScalarName,
    Struct,
    list_of,
    map_of,
    whole,
)
from heraldry.schemas.names import legal_names
from heraldry.schemas.protobuf.fields import (
    INT32,
    INT64,
    JSON_LIKE,
    TIMESTAMP,
    UINT32,
    UINT64,
    WRAPPERS,
    F,
    entry,
    is_map,
    special,
)

_JSON = Scalar("json")
_SCALARS: dict[int, ScalarName] = {
    **dict.fromkeys(INT32 | INT64 | UINT32, "integer"),
    F.TYPE_DOUBLE: "number",
    F.TYPE_FLOAT: "number",
    F.TYPE_BOOL: "boolean",
    F.TYPE_BYTES: "binary",
}


def columns_of(message: Descriptor) -> tuple[Column, ...]:
    """The fields of a message as columns; a message without any is the column ``value``."""
    kind = _Reader().message(message, frozenset(), 0)
    return kind.fields if isinstance(kind, Struct) else whole(kind, nullable=False)


class _Reader:
    def __init__(self) -> None:
        self._left = COLUMN_LIMIT

    def message(self, message: Descriptor, above: frozenset[str], depth: int) -> ColumnType:
        kind = special(message)
        if kind in WRAPPERS:
            return self._single(message.fields[0], above, depth)
        if kind:
            name: ScalarName = "json" if kind in JSON_LIKE else "string"
            return Scalar("timestamp" if kind == TIMESTAMP else name)
        count = len(message.fields)
        if message.full_name in above or depth >= DEPTH_LIMIT or not 0 < count <= self._left:
            return _JSON
        self._left -= count
        within = above | {message.full_name}
        names = legal_names(field.name for field in message.fields)
        return Struct(
            tuple(
                Column(
                    name=name,
                    key=field.name,
                    type=self._field(field, within, depth + 1),
                    nullable=not (field.is_repeated or field.is_required)
                    and bool(field.has_presence),
                )
                for name, field in zip(names, message.fields, strict=True)
            )
        )

    def _field(self, field: FieldDescriptor, above: frozenset[str], depth: int) -> ColumnType:
        if not field.is_repeated:
            return self._single(field, above, depth)
        if depth >= DEPTH_LIMIT:
            return _JSON
        held = entry(field)[1] if is_map(field) else field
        kind = self._single(held, above, depth + 1)
        # Null is what a Value may hold wherever it stands.
        nullable = special(held.message_type) == "google.protobuf.Value"
        return (map_of if is_map(field) else list_of)(kind, nullable=nullable)

    def _single(self, field: FieldDescriptor, above: frozenset[str], depth: int) -> ColumnType:
        if field.message_type is not None:
            return self.message(field.message_type, above, depth)
        if field.type in UINT64:
            return Fixed(20, 0)
        return Scalar(_SCALARS.get(field.type, "string"))
