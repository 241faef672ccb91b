"""What a reader makes of a scalar that was written as another type, in the binary encoding."""

from __future__ import annotations

from typing import Final

from google.protobuf.descriptor import FieldDescriptor

from heraldry.schemas.changes import Effect
from heraldry.schemas.protobuf.fields import F

_I32, _U32 = (-(1 << 31), (1 << 31) - 1), (0, (1 << 32) - 1)
_I64, _U64 = (-(1 << 63), (1 << 63) - 1), (0, (1 << 64) - 1)
# The types of one group have one encoding; these are the numbers each of them holds.
_GROUPS: Final[tuple[dict[int, tuple[int, int]], ...]] = (
    {
        F.TYPE_INT32: _I32,
        F.TYPE_INT64: _I64,
        F.TYPE_UINT32: _U32,
        F.TYPE_UINT64: _U64,
        F.TYPE_BOOL: (0, 1),
        F.TYPE_ENUM: _I32,
    },
    {F.TYPE_SINT32: _I32, F.TYPE_SINT64: _I64},
    {F.TYPE_FIXED32: _U32, F.TYPE_SFIXED32: _I32},
    {F.TYPE_FIXED64: _U64, F.TYPE_SFIXED64: _I64},
)
_NAMES: Final = {
    getattr(F, name): name.removeprefix("TYPE_").lower()
    for name in dir(F)
    if name.startswith("TYPE_")
}


def type_name(field: FieldDescriptor) -> str:
    """The type of a field as a document writes it, without its package."""
    kind = field.message_type or field.enum_type
    return _NAMES[field.type] if kind is None else local_name(kind)


def local_name(kind: object) -> str:
    """The name of a message or an enum inside its package."""
    package = kind.file.package  # type: ignore[attr-defined]
    name: str = kind.full_name  # type: ignore[attr-defined]
    return name.removeprefix(f"{package}.") if package else name


def read_as(writer: FieldDescriptor, reader: FieldDescriptor) -> tuple[Effect, str]:
    """Whether each single value of one field is the same in the other; if not, why."""
    if writer.type == F.TYPE_STRING and reader.type == F.TYPE_BYTES:
        return "safe", ""
    if writer.type == F.TYPE_BYTES and reader.type == F.TYPE_STRING:
        return "breaking", "bytes that are not UTF-8 are refused as text"
    for group in _GROUPS:
        if writer.type in group and reader.type in group:
            return _numbers(writer, reader, group)
    return "breaking", "the one is not encoded like the other"


def _numbers(
    writer: FieldDescriptor, reader: FieldDescriptor, group: dict[int, tuple[int, int]]
) -> tuple[Effect, str]:
    low, high = group[writer.type]
    if writer.enum_type is not None and writer.enum_type.is_closed:
        numbers = writer.enum_type.values_by_number
        low, high = min(numbers), max(numbers)
    if reader.enum_type is not None and reader.enum_type.is_closed:
        known = reader.enum_type.values_by_number
        if high - low < len(known) and all(one in known for one in range(low, high + 1)):
            return "safe", ""
        return "breaking", "numbers that the enum does not name are dropped"
    least, most = group[reader.type]
    if least <= low and high <= most:
        return "safe", ""
    return "breaking", "numbers that do not fit are read as other numbers"
