"""Binary Avro by fastavro: for schemas whose payloads cannot make it run away.

fastavro reads a few things that it should refuse. Numbers beyond 32 bits, symbols and times of
day that are none, and bytes behind the value are refused here. What remains are second spellings
of valid values (a negative index of a union's type counts from the end, a boolean may be any
byte, a number may have more bytes than it needs), and numbers of more than 64 bits, of which
only some bits are read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

from fastavro import schemaless_reader
from fastavro.read import LOGICAL_READERS
from fastavro.schema import parse_schema

from heraldry.errors import MessageError
from heraldry.model.problem import Problem
from heraldry.schemas.avro.canonical import OWN, decoding_form
from heraldry.schemas.avro.logical import decimal_of, reader_of
from heraldry.schemas.avro.nodes import (
    Array,
    Logical,
    Map,
    Primitive,
    Record,
    Schema,
    Type,
    Union,
)
from heraldry.schemas.avro.shape import Shape

_Check = Callable[[Any], bool]
_FAILURES: Final = (ArithmeticError, EOFError, LookupError, TypeError, ValueError, struct.error)
_REFUSED = Problem(path="/", rule="avro", message="is not a value of the schema")


def fast_reader(schema: Schema, shape: Shape) -> Callable[[bytes], Any] | None:
    """A function from a payload to its value, MessageError without reasons if it has none.

    None for schemas that only the careful reader may read.
    """
    if shape.recursive or shape.dense:
        return None
    try:
        check = _check(schema, schema.top)
    except LookupError:
        return None
    is_record = isinstance(schema.resolve(schema.top), Record)
    # Only a record is parsed once for all; as its only field, a value takes the same bytes.
    fields = [{"name": "value", "type": decoding_form(schema)}]
    form = {"type": "record", "name": "Whole", "fields": fields}
    parsed = _with_symbols(parse_schema(fields[0]["type"] if is_record else form))

    def read(payload: bytes) -> Any:
        stream = BytesIO(payload)
        try:
            value: Any = schemaless_reader(stream, parsed)
            if not is_record:
                value = value["value"]
        except _FAILURES:
            raise MessageError((_REFUSED,)) from None
        if stream.tell() != len(payload) or (check is not None and not check(value)):
            raise MessageError((_REFUSED,))
        return value

    return read


def _with_symbols(parsed: Any) -> Any:
    """Make a negative index of a symbol an error: a dict does not count from the end."""
    waiting = [parsed, *parsed["__named_schemas"].values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if value.get("type") == "enum" and isinstance(value["symbols"], list):
                value["symbols"] = dict(enumerate(value["symbols"]))
            waiting += [value[key] for key in ("items", "values", "type") if key in value]
            waiting += value.get("fields", ())
    return parsed


def _check(schema: Schema, type_: Type) -> _Check | None:
    """A function that tells whether all of a value's int numbers are; None if it has none.

    LookupError where a value does not tell which type of a union it is of.
    """
    node = schema.resolve(type_)
    if isinstance(node, Primitive):
        return _is_int if node.kind == "int" and node.logical is None else None
    if isinstance(node, Record):
        return _record_check(
            [(f.name, check) for f in node.fields if (check := _check(schema, f.type))]
        )
    if isinstance(node, Union):
        return _union_check(schema, node)
    if isinstance(node, (Array, Map)):
        inner = _check(schema, node.items if isinstance(node, Array) else node.values)
        if inner is None:
            return None
        if isinstance(node, Array):
            return lambda value: all(map(inner, value))
        return lambda value: all(map(inner, value.values()))
    return None


def _is_int(value: int) -> bool:
    return -0x80000000 <= value <= 0x7FFFFFFF


def _record_check(checks: list[tuple[str, _Check]]) -> _Check | None:
    numbers = tuple(name for name, check in checks if check is _is_int)
    others = tuple((name, check) for name, check in checks if check is not _is_int)
    if not checks:
        return None

    def check(value: Any) -> bool:
        for name in numbers:
            if not -0x80000000 <= value[name] <= 0x7FFFFFFF:
                return False
        for name, inner in others:  # noqa: SIM110
            if not inner(value[name]):
                return False
        return True

    return check


_SHAPES: dict[str, type] = {"int": int, "record": dict, "map": dict, "array": list}


def _union_check(schema: Schema, node: Union) -> _Check | None:
    branches = [schema.resolve(branch) for branch in node.branches]
    has_long = any(
        branch.kind == "long" and (not branch.logical or branch.logical.name.endswith("-nanos"))
        for branch in branches
    )
    checks: dict[type, _Check] = {}
    for branch in branches:
        inner = _check(schema, branch)
        if inner is None or (branch.kind == "int" and has_long):
            continue
        checks[_SHAPES[branch.kind]] = inner
    if dict in checks and sum(branch.kind in ("record", "map") for branch in branches) > 1:
        raise LookupError
    if not checks:
        return None

    def check(value: Any) -> bool:
        inner = checks.get(type(value))
        return inner is None or inner(value)

    return check


def _own_reader(name: str, kind: str) -> Callable[..., Any]:
    convert = reader_of(Logical(name=name), kind)
    return lambda data, *_: convert(data)


def _decimal(data: bytes, written: dict[str, int], _: Any = None) -> Decimal:
    return decimal_of(data, written["limit"], written["exponent"])


LOGICAL_READERS.update(
    {
        f"{kind}-{OWN}{name}": _own_reader(name, kind)
        for kind, name in (
            ("int", "time-millis"),
            ("long", "time-micros"),
            ("fixed", "uuid"),
            ("fixed", "duration"),
        )
    }
    | {f"{kind}-{OWN}decimal": _decimal for kind in ("fixed", "bytes")}
)
