"""Values as binary Avro, typed or in a JSON spelling, with a located problem for each misfit."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from typing import Any, Final, Literal

from heraldry.model.problem import Problem
from heraldry.schemas.avro.choose import may_be, rank, rank_real
from heraldry.schemas.avro.logical import reader_of, stored
from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    Field,
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
from heraldry.schemas.located import PROBLEM_LIMIT, pointer, short
from heraldry.schemas.parse import DEPTH_LIMIT

Spelling = Literal["plain", "avro", "default"]
"""How values without a JSON type are spelled.

``plain``: bytes in base64, decimals as numbers; a union's value is as it is. ``avro``: the JSON
encoding of Avro, bytes as the characters of their numbers, unions tagged; an untagged value is
taken where only one type of the union fits. ``default``: the same without logical types and tags.
"""

TRIAL_LIMIT: Final = 10_000
"""How many parts of a value may be defaults, or be tried within what is tried already.

Each part is tried for each type of a union: once is linear, within one another it is not.
"""

_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_RANGES = {"int": 1 << 31, "long": 1 << 63}


def write(schema: Schema, value: Any, spelling: Spelling) -> bytes | tuple[Problem, ...]:
    """The binary form of a value, or why it has none: the first PROBLEM_LIMIT problems."""
    return write_type(schema, schema.top, value, spelling)


def write_type(
    schema: Schema, type_: Type, value: Any, spelling: Spelling
) -> bytes | tuple[Problem, ...]:
    """The same for a type of the schema."""
    writing = _Writing(schema, spelling)
    try:
        writing.write(type_, value)
    except RecursionError:
        return (Problem(path="/", rule="depth", message="is nested too deeply"),)
    return tuple(writing.problems[:PROBLEM_LIMIT]) or bytes(writing.out)


class _Writing:
    """One value on its way into ``out``; what is wrong with it gets into ``problems``."""

    def __init__(self, schema: Schema, spelling: Spelling) -> None:
        self._schema = schema
        self._spelling = spelling
        self._path: list[str | int] = []
        self._depth = self._trials = 0
        # Whether only what decodes to an equal value is taken.
        self._exact = False
        self._left = TRIAL_LIMIT
        self.out = bytearray()
        self.problems: list[Problem] = []

    def write(self, type_: Type, value: Any) -> None:
        if self._trials > 1:
            self._left -= 1
        if self._left < 0:
            self._refuse("size", "has too many parts that defaults or unions leave open", None)
            return
        if len(self.problems) >= PROBLEM_LIMIT:
            return
        node = self._schema.resolve(type_)
        if isinstance(node, Union):
            self._union(node, value)
        elif isinstance(node, (Record, Array, Map)):
            self._container(node, value)
        elif isinstance(node, Enum):
            self._enum(node, value)
        elif node.logical is not None and self._spelling != "default":
            self._logical(node, value)
        elif isinstance(node, FixedBytes):
            self._fixed(node, value)
        else:
            self._primitive(node.kind, value)

    def _refuse(self, rule: str, message: str, value: Any, expected: str | None = None) -> None:
        # What is refused only because it would change is not told.
        found = None if value is None or self._exact else short(value)
        path = pointer(self._path)
        self.problems.append(
            Problem(path=path, rule=rule, message=message, expected=expected, found=found)
        )

    def _mismatch(self, kind: str, value: Any) -> None:
        found = "null" if value is None or self._exact else short(value)
        self.problems.append(
            Problem(
                path=pointer(self._path),
                rule="type",
                message=f"is not of type {kind}",
                expected=kind,
                found=found,
            )
        )

    def _inside(self, key: str | int, type_: Type, value: Any) -> None:
        self._path.append(key)
        self.write(type_, value)
        self._path.pop()

    def _container(self, node: Record | Array | Map, value: Any) -> None:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            self._refuse("depth", f"is nested deeper than {DEPTH_LIMIT} levels", None)
        elif isinstance(node, Record):
            self._record(node, value)
        elif isinstance(node, Array):
            self._array(node, value)
        else:
            self._map(node, value)
        self._depth -= 1

    def _record(self, node: Record, value: Any) -> None:
        if not isinstance(value, dict):
            self._mismatch("record", value)
            return
        for field in node.fields:
            if field.name in value:
                self._inside(field.name, field.type, value[field.name])
            elif field.has_default and not self._exact:
                self._default(field)
            else:
                told = f"misses the field {field.name!r}, which has no default"
                self._refuse("required", told, None, field.name)
        known = {field.name for field in node.fields}
        if not known.issuperset(value):
            extra = [key for key in value if key not in known]
            self._refuse("fields", "has fields that the record does not have", extra)

    def _default(self, field: Field) -> None:
        outer, self._spelling = self._spelling, "default"
        self._trials += 2
        self._inside(field.name, field.type, field.default)
        self._trials -= 2
        self._spelling = outer

    def _array(self, node: Array, value: Any) -> None:
        if not isinstance(value, (list, tuple)):
            self._mismatch("array", value)
            return
        if value:
            self._long(len(value))
        for index, item in enumerate(value):
            self._inside(index, node.items, item)
        self.out.append(0)

    def _map(self, node: Map, value: Any) -> None:
        if not isinstance(value, dict):
            self._mismatch("map", value)
            return
        if value:
            self._long(len(value))
        for key, member in value.items():
            if isinstance(key, str):
                self._path.append(key)
                self._string(key)
                self._path.pop()
                self._inside(key, node.values, member)
            else:
                self._refuse("map", "has a key that is not a string", None)
        self.out.append(0)

    def _enum(self, node: Enum, value: Any) -> None:
        if isinstance(value, str) and value in node.positions:
            self._long(node.positions[value])
        else:
            expected = ", ".join(node.symbols[:20])
            self._refuse("enum", "is not one of the symbols", value, expected)

    def _fixed(self, node: FixedBytes, value: Any) -> None:
        data = self._data("fixed", value)
        if data is not None and len(data) != node.size:
            self._refuse("size", f"does not have {node.size} bytes", value, str(node.size))
        elif data is not None:
            self.out += data

    def _logical(self, node: Primitive | FixedBytes, value: Any) -> None:
        assert node.logical is not None
        size = node.size if isinstance(node, FixedBytes) else 0
        if self._spelling == "avro" and isinstance(value, str) and _stores_bytes(node, value):
            # The JSON encoding spells what is stored; reading it back tells whether it is valid.
            self._fixed(node, value) if isinstance(node, FixedBytes) else self._bytes(value)
            return
        try:
            data = stored(node.logical, node.kind, value, size)
        except ValueError as error:
            self._refuse(node.logical.name, str(error), value)
            return
        if self._exact and not _comes_back(node, data, value):
            self._refuse(node.logical.name, "is not stored as it is", value)
            return
        if node.kind == "fixed":
            self.out += data
        elif node.kind == "bytes":
            self._bytes(data)
        else:
            self._primitive(node.kind, data)

    def _primitive(self, kind: str, value: Any) -> None:
        if kind == "null":
            if value is not None:
                self._mismatch(kind, value)
        elif kind == "boolean":
            if type(value) is bool:
                self.out.append(value)
            else:
                self._mismatch(kind, value)
        elif kind in _RANGES:
            self._integer(kind, value)
        elif kind == "string":
            self._string(value)
        elif kind == "bytes":
            self._bytes(value)
        else:
            self._real(kind, value)

    def _integer(self, kind: str, value: Any) -> None:
        if type(value) is not int:
            self._mismatch(kind, value)
        elif not -_RANGES[kind] <= value < _RANGES[kind]:
            bits = _RANGES[kind].bit_length()
            self._refuse(kind, f"does not fit in {bits} bits", value)
        else:
            self._long(value)

    def _long(self, value: int) -> None:
        number = (value << 1) ^ (value >> 63)
        while number > 0x7F:
            self.out.append(number & 0x7F | 0x80)
            number >>= 7
        self.out.append(number)

    def _real(self, kind: str, value: Any) -> None:
        if type(value) is str and not self._exact:
            value = _FLOATS.get(value, value)
        if type(value) not in (int, float) or (self._exact and rank_real(kind, value)):
            self._mismatch(kind, value)
            return
        try:
            self.out += struct.pack("<f" if kind == "float" else "<d", value)
        except (OverflowError, struct.error):
            self._refuse(kind, f"does not fit in a {kind}", value)

    def _string(self, value: Any) -> None:
        if not isinstance(value, str):
            self._mismatch("string", value)
            return
        try:
            data = value.encode()
        except UnicodeEncodeError:
            self._refuse("utf-8", "has characters that UTF-8 does not have", None)
            return
        self._long(len(data))
        self.out += data

    def _bytes(self, value: Any) -> None:
        data = self._data("bytes", value)
        if data is not None:
            self._long(len(data))
            self.out += data

    def _data(self, kind: str, value: Any) -> bytes | None:
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        if not isinstance(value, str) or (self._exact and self._spelling == "plain"):
            self._mismatch(kind, value)
            return None
        try:
            if self._spelling == "plain":
                return b64decode(value, validate=True)
            return value.encode("latin-1")
        except ValueError:
            told = "is not base64" if self._spelling == "plain" else "has characters beyond U+00FF"
            self._refuse(kind, told, value)
            return None

    def _union(self, node: Union, value: Any) -> None:
        branches = [self._schema.resolve(branch) for branch in node.branches]
        tagged = self._tagged(branches, value)
        if tagged is not None and self._spelling == "avro":
            self._branch(tagged, branches[tagged], next(iter(value.values())))
            return
        ranks = {
            index: rank(branch, value)
            for index, branch in enumerate(branches)
            if may_be(branch, value, self._spelling)
        }
        if len(ranks) == 1:
            (index,) = ranks
            self._branch(index, branches[index], value)
        elif ranks:
            self._several(branches, sorted(ranks, key=ranks.__getitem__), value)
        elif tagged is not None:
            self._branch(tagged, branches[tagged], next(iter(value.values())))
        else:
            self._none(branches, value)

    def _tagged(self, branches: list[Resolved], value: Any) -> int | None:
        if isinstance(value, dict) and len(value) == 1 and self._spelling != "default":
            (name,) = value
            for index, branch in enumerate(branches):
                if tag(branch) == name and branch.kind != "null":
                    return index
        return None

    def _branch(self, index: int, branch: Resolved, value: Any) -> None:
        self._long(index)
        self.write(branch, value)

    def _several(self, branches: list[Resolved], order: list[int], value: Any) -> None:
        """Write the first type that fits, the likeliest first, or say why that one does not.

        A type that keeps the value as it is goes before all that change it.
        """
        problems: list[Problem] = []
        start, before, outer = len(self.out), len(self.problems), self._exact
        self._trials += 1
        for exact in (True,) if outer else (True, False):
            for index in order:
                self._exact = exact
                self._branch(index, branches[index], value)
                self._exact = outer
                if len(self.problems) == before or self._left < 0:
                    self._trials -= 1
                    return
                if exact is outer and not problems:
                    problems = self.problems[before:]
                del self.problems[before:], self.out[start:]
        self.problems += problems
        self._trials -= 1

    def _none(self, branches: list[Resolved], value: Any) -> None:
        expected = ", ".join(tag(branch) for branch in branches[:20])
        found = "null" if value is None else short(value)
        self.problems.append(
            Problem(
                path=pointer(self._path),
                rule="union",
                message="is of none of the types of the union",
                expected=expected,
                found=found,
            )
        )


def _comes_back(node: Primitive | FixedBytes, data: Any, value: Any) -> bool:
    assert node.logical is not None
    back = reader_of(node.logical, node.kind)(data)
    return type(back) is type(value) and bool(back == value)


def _stores_bytes(node: Primitive | FixedBytes, text: str) -> bool:
    # A UUID or a duration in its usual text is longer than what is stored.
    return node.kind == "bytes" or (isinstance(node, FixedBytes) and len(text) == node.size)
