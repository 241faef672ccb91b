"""What a field is: the questions that readers, writers, columns and comparisons all ask."""

from __future__ import annotations

from typing import Final

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    OneofDescriptor,
)
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

from heraldry.schemas.protobuf.protoc import WELL_KNOWN

F = FieldDescriptor
INT32: Final = frozenset((F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32))
INT64: Final = frozenset((F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64))
UINT32: Final = frozenset((F.TYPE_UINT32, F.TYPE_FIXED32))
UINT64: Final = frozenset((F.TYPE_UINT64, F.TYPE_FIXED64))

NESTING_LIMIT: Final = 100
"""How many messages may be nested in one another: the limit of all runtimes."""

WRAPPERS: Final = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
"""The messages that hold one scalar, to tell its absence."""

JSON_LIKE: Final = frozenset(
    f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue", "Any")
)
"""The messages that hold values of any shape."""

TIMESTAMP: Final = "google.protobuf.Timestamp"
DURATION: Final = "google.protobuf.Duration"
FIELD_MASK: Final = "google.protobuf.FieldMask"
_SPECIAL = WRAPPERS | JSON_LIKE | {TIMESTAMP, DURATION, FIELD_MASK}


def special(message: Descriptor | None) -> str:
    """The name of a well-known type whose values are not those of its fields; else nothing."""
    # A document may declare a message of that name, in any shape: only the compiler's own count.
    if message is None or message.file.name not in WELL_KNOWN:
        return ""
    return message.full_name if message.full_name in _SPECIAL else ""


def is_null(kind: EnumDescriptor | None) -> bool:
    """Whether an enum is the NullValue of the compiler, which JSON spells null."""
    if kind is None or kind.file.name not in WELL_KNOWN:
        return False
    return bool(kind.full_name == "google.protobuf.NullValue")


def takes_null(field: FieldDescriptor) -> bool:
    """Whether null is a value of a field, and not its absence."""
    is_value = special(field.message_type) == "google.protobuf.Value"
    return not field.is_repeated and (is_value or is_null(field.enum_type))


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map, which the wire knows as a list of entries."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """The key and the value of a map."""
    assert field.message_type is not None
    key, value = field.message_type.fields
    return key, value


def is_proto3(file: FileDescriptor) -> bool:
    """Whether a document is in proto3, where texts are UTF-8 in any case."""
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return bool(proto.syntax == "proto3")


def choices(message: Descriptor) -> list[OneofDescriptor]:
    """The oneofs of a message that are written as such; ``optional`` makes further ones."""
    if not message.oneofs:
        return []
    proto = DescriptorProto()
    message.CopyToProto(proto)
    made = {one.oneof_index for one in proto.field if one.proto3_optional}
    return [one for one in message.oneofs if one.index not in made]


def reachable(message: Descriptor) -> list[Descriptor]:
    """A message and all those that its fields hold, directly or not."""
    found = {message.full_name: message}
    waiting = [message]
    while waiting:
        for field in waiting.pop().fields:
            inner = field.message_type
            if inner is not None and inner.full_name not in found:
                found[inner.full_name] = inner
                waiting.append(inner)
    return list(found.values())


def impossible(message: Descriptor) -> frozenset[str]:
    """The messages, here or below, that have no value: they would be nested without end."""
    left = {
        one.full_name: {
            field.message_type.full_name
            for field in one.fields
            if field.is_required and field.message_type is not None
        }
        for one in reachable(message)
    }
    for _ in range(NESTING_LIMIT):
        possible = [name for name, needed in left.items() if needed.isdisjoint(left)]
        if not possible:
            break
        for name in possible:
            del left[name]
    return frozenset(left)


def has_required(message: Descriptor) -> bool:
    """Whether a value may lack something: a required field here or below."""
    return any(field.is_required for one in reachable(message) for field in one.fields)
