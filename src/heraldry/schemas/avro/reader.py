"""Binary Avro read with care: located problems, and bounds on depth and size.

fastavro reads most payloads (see fast.py); this reads those of schemas that could make it run
away, and says where and why a payload is refused.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Final

from heraldry.errors import MessageError
from heraldry.model.problem import Problem
from heraldry.schemas.avro.logical import reader_of
from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    FixedBytes,
    Map,
    Primitive,
    Record,
    Resolved,
    Schema,
    Type,
    Union,
    tag,
)
from heraldry.schemas.avro.shape import PARTS_PER_BYTE
from heraldry.schemas.located import pointer
from heraldry.schemas.parse import DEPTH_LIMIT

FREE_PARTS: Final = 20_000
"""How many parts of a value may take no bytes, beside PARTS_PER_BYTE for each byte."""

_float = struct.Struct("<f").unpack_from
_double = struct.Struct("<d").unpack_from


class Cursor:
    """A place in a payload, and the path of the value that is read there."""

    __slots__ = ("at", "data", "depth", "free", "path")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = self.depth = 0
        self.free = FREE_PARTS + PARTS_PER_BYTE * len(data)
        self.path: list[str | int] = []

    def refuse(self, rule: str, message: str, found: Any = None) -> MessageError:
        """The error that the value at this place is refused."""
        seen = None if found is None else str(found)
        problem = Problem(path=pointer(self.path), rule=rule, message=message, found=seen)
        return MessageError((problem,))

    def long(self) -> int:
        """The next number of up to 64 bits."""
        data, at = self.data, self.at
        result = shift = 0
        for position in range(at, min(at + 10, len(data))):
            byte = data[position]
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.at = position + 1
                if result >= 1 << 64:
                    break
                return (result >> 1) ^ -(result & 1)
            shift += 7
        else:
            if len(data) < at + 10:
                raise self.refuse("end", "the payload ends within a number")
        raise self.refuse("number", "is a number of more than 64 bits")

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if size < 0:
            raise self.refuse("length", "has a negative length", size)
        end = self.at + size
        if end > len(self.data):
            told = "is longer than the rest of the payload"
            raise self.refuse("end", told, f"{size} bytes of {len(self.data) - self.at}")
        part = self.data[self.at : end]
        self.at = end
        return part

    def spend(self) -> None:
        """Count a part of the value that takes no bytes."""
        self.free -= 1
        if self.free < 0:
            raise self.refuse("size", "has too many parts for the length of the payload")

    def enter(self) -> None:
        """Go into a record, list or map."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise self.refuse("depth", f"is nested deeper than {DEPTH_LIMIT} levels")
        self.spend()


_Read = Callable[[Cursor], Any]


class Reader:
    """Reads payloads of a schema, as values or (``tagged``) as in the JSON encoding."""

    def __init__(self, schema: Schema, *, tagged: bool = False) -> None:
        self._schema = schema
        self._tagged = tagged
        self._readers: dict[int, _Read] = {}
        self._top = self._reader(schema.top)

    def read(self, payload: bytes) -> Any:
        """The value in a payload, which it takes up to the end; MessageError if there is none."""
        cursor = Cursor(payload)
        try:
            value = self._top(cursor)
        except RecursionError:
            cursor.path.clear()
            raise cursor.refuse("depth", "is nested too deeply") from None
        if cursor.at < len(payload):
            told = "the payload goes on behind the value"
            raise cursor.refuse("end", told, f"{len(payload) - cursor.at} bytes more")
        return value

    def _reader(self, type_: Type) -> _Read:
        node = self._schema.resolve(type_)
        made = self._readers.get(id(node))
        if made is not None:
            return made
        made = self._made(node)
        self._readers[id(node)] = made
        return made

    def _made(self, node: Resolved) -> _Read:
        if isinstance(node, Record):
            return self._record(node)
        if isinstance(node, Union):
            return self._union(node)
        if isinstance(node, Array):
            return self._array(node)
        if isinstance(node, Map):
            return self._map(node)
        if isinstance(node, Enum):
            return _enum(node)
        read = _fixed(node.size) if isinstance(node, FixedBytes) else _PRIMITIVES[node.kind]
        if self._tagged:
            return _spelled(read)
        return read if node.logical is None else _logical(node, read)

    def _record(self, node: Record) -> _Read:
        fields: list[tuple[str, _Read]] = []

        def read(cursor: Cursor) -> dict[str, Any]:
            cursor.enter()
            value: dict[str, Any] = {}
            path = cursor.path
            for name, field in fields:
                path.append(name)
                value[name] = field(cursor)
                path.pop()
            cursor.depth -= 1
            return value

        # Before its fields, which may come back to it.
        self._readers[id(node)] = read
        fields += [(field.name, self._reader(field.type)) for field in node.fields]
        return read

    def _union(self, node: Union) -> _Read:
        branches: list[tuple[str | None, _Read]] = []
        count = len(node.branches)

        def read(cursor: Cursor) -> Any:
            index = cursor.long()
            if not 0 <= index < count:
                raise cursor.refuse("union", f"is not one of the {count} types of a union", index)
            name, branch = branches[index]
            value = branch(cursor)
            return value if name is None else {name: value}

        for branch in node.branches:
            inner = self._schema.resolve(branch)
            bare = not self._tagged or inner.kind == "null"
            branches.append((None if bare else tag(inner), self._reader(branch)))
        return read

    def _array(self, node: Array) -> _Read:
        item = self._reader(node.items)

        def read(cursor: Cursor) -> list[Any]:
            cursor.enter()
            value: list[Any] = []
            path = cursor.path
            while count := _block(cursor):
                for _ in range(count):
                    path.append(len(value))
                    value.append(item(cursor))
                    path.pop()
            cursor.depth -= 1
            return value

        return read

    def _map(self, node: Map) -> _Read:
        member = self._reader(node.values)

        def read(cursor: Cursor) -> dict[str, Any]:
            cursor.enter()
            value: dict[str, Any] = {}
            path = cursor.path
            while count := _block(cursor):
                for _ in range(count):
                    key = _string(cursor)
                    path.append(key)
                    value[key] = member(cursor)
                    path.pop()
            cursor.depth -= 1
            return value

        return read


def _block(cursor: Cursor) -> int:
    count = cursor.long()
    if count < 0:
        count = -count
        if cursor.long() < 0:
            raise cursor.refuse("length", "has a block of negative length")
    return count


def _null(cursor: Cursor) -> None:
    cursor.spend()


def _boolean(cursor: Cursor) -> bool:
    (byte,) = cursor.take(1)
    if byte > 1:
        raise cursor.refuse("boolean", "is neither 0 nor 1", byte)
    return byte == 1


def _int(cursor: Cursor) -> int:
    number = cursor.long()
    if not -0x80000000 <= number <= 0x7FFFFFFF:
        raise cursor.refuse("int", "does not fit in 32 bits", number)
    return number


def _real(cursor: Cursor) -> float:
    value: float = _double(cursor.take(8))[0]
    return value


def _small_real(cursor: Cursor) -> float:
    value: float = _float(cursor.take(4))[0]
    return value


def _bytes(cursor: Cursor) -> bytes:
    return cursor.take(cursor.long())


def _string(cursor: Cursor) -> str:
    try:
        return cursor.take(cursor.long()).decode()
    except UnicodeDecodeError:
        raise cursor.refuse("utf-8", "is not UTF-8") from None


_PRIMITIVES: dict[str, _Read] = {
    "null": _null,
    "boolean": _boolean,
    "int": _int,
    "long": Cursor.long,
    "float": _small_real,
    "double": _real,
    "bytes": _bytes,
    "string": _string,
}


def _fixed(size: int) -> _Read:
    def read(cursor: Cursor) -> bytes:
        if not size:
            cursor.spend()
        return cursor.take(size)

    return read


def _enum(node: Enum) -> _Read:
    symbols, count = node.symbols, len(node.symbols)

    def read(cursor: Cursor) -> str:
        index = cursor.long()
        if not 0 <= index < count:
            raise cursor.refuse("enum", f"is not one of the {count} symbols", index)
        return symbols[index]

    return read


def _logical(node: Primitive | FixedBytes, stored: _Read) -> _Read:
    logical = node.logical
    assert logical is not None
    convert = reader_of(logical, node.kind)

    def read(cursor: Cursor) -> Any:
        value = stored(cursor)
        try:
            return convert(value)
        except ValueError as error:
            raise cursor.refuse(logical.name, str(error)) from None

    return read


def _spelled(stored: _Read) -> _Read:
    def read(cursor: Cursor) -> Any:
        value = stored(cursor)
        if type(value) is bytes:
            return value.decode("latin-1")
        if type(value) is float and not math.isfinite(value):
            # JSON has no such numbers; Avro's own libraries write their names.
            return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
        return value

    return read
