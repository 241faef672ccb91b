"""Valid values as rows: one closure per column, made once from the column types.

Values are those of JSON, or the typed ones of other formats: an instant is a text or a datetime.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from heraldry.model.problem import Problem
from heraldry.schemas.columns import (
    Column,
    ColumnType,
    Fixed,
    ListOf,
    MapOf,
    ScalarName,
    Struct,
    is_whole,
)
from heraldry.schemas.located import pointer, short
from heraldry.schemas.parse import EXACT, encode
from heraldry.schemas.timestamps import to_date, to_timestamp

_Convert = Callable[[Any], Any]
# name, member, whether null may stand there, converter: a null elsewhere goes to the converter,
# which refuses it, so that no row ever breaks the table it lands in.
_Field = tuple[str, str, bool, _Convert]
Row = dict[str, Any] | tuple[Problem, ...]


class _MisfitError(Exception):
    """A value that its column cannot hold; ``path`` grows from the inside out."""

    def __init__(self, message: str, value: Any) -> None:
        super().__init__(message)
        self.message, self.value = message, value
        self.path: list[str | int] = []

    def problem(self) -> Problem:
        path = pointer(list(reversed(self.path)))
        return Problem(path=path, rule="column", message=self.message, found=short(self.value))


def row_reader(columns: tuple[Column, ...]) -> Callable[[Any], Row]:
    """A function from a valid value to its row, or to all the problems of its columns."""
    if is_whole(columns):
        return _whole(columns[0])
    fields = _fields(columns)

    def read(value: Any) -> Row:
        if type(value) is not dict:
            if value is not None:
                return (_not_a("object", value).problem(),)
            value = {}
        row: dict[str, Any] = {}
        problems: list[Problem] = []
        get = value.get
        for name, key, nullable, convert in fields:
            member = get(key)
            try:
                row[name] = None if member is None and nullable else convert(member)
            except _MisfitError as misfit:
                misfit.path.append(key)
                problems.append(misfit.problem())
        return tuple(problems) if problems else row

    return read


def _fields(columns: tuple[Column, ...]) -> list[_Field]:
    return [(c.name, c.key, c.nullable, _converter(c.type)) for c in columns]


def _whole(column: Column) -> Callable[[Any], Row]:
    name, nullable, convert = column.name, column.nullable, _converter(column.type)

    def read(value: Any) -> Row:
        try:
            return {name: None if value is None and nullable else convert(value)}
        except _MisfitError as misfit:
            return (misfit.problem(),)

    return read


def _converter(kind: ColumnType) -> _Convert:
    if isinstance(kind, ListOf):
        return _list(_converter(kind.item.type), kind.item.nullable)
    if isinstance(kind, Struct):
        return _struct(_fields(kind.fields))
    if isinstance(kind, MapOf):
        return _map(_converter(kind.value.type), kind.value.nullable)
    if isinstance(kind, Fixed):
        return _fixed(kind)
    return _SCALARS[kind.name]


def _list(convert: _Convert, nullable: bool) -> _Convert:
    def read(value: Any) -> list[Any]:
        if type(value) is not list:
            raise _not_a("list", value)
        items: list[Any] = []
        try:
            for item in value:
                items.append(None if item is None and nullable else convert(item))  # noqa: PERF401
        except _MisfitError as misfit:
            misfit.path.append(len(items))
            raise
        return items

    return read


def _struct(fields: list[_Field]) -> _Convert:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise _not_a("object", value)
        get = value.get
        row: dict[str, Any] = {}
        key = ""
        try:
            for name, key, nullable, convert in fields:
                member = get(key)
                row[name] = None if member is None and nullable else convert(member)
        except _MisfitError as misfit:
            misfit.path.append(key)
            raise
        return row

    return read


def _map(convert: _Convert, nullable: bool) -> _Convert:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise _not_a("map", value)
        row: dict[str, Any] = {}
        key = ""
        try:
            for key, member in value.items():
                row[key] = None if member is None and nullable else convert(member)
        except _MisfitError as misfit:
            misfit.path.append(key)
            raise
        return row

    return read


def _fixed(kind: Fixed) -> _Convert:
    step = Decimal(1).scaleb(-kind.scale)
    digits = Context(prec=kind.precision)
    told = f"does not fit a decimal column of {kind.precision} digits, {kind.scale} of a fraction"

    def read(value: Any) -> Decimal:
        try:
            number = value if type(value) is Decimal else Decimal(_decimal_text(value))
            exact = number.quantize(step, context=digits)
        except InvalidOperation:
            raise _MisfitError(told, value) from None
        if exact != number:
            raise _MisfitError(told, value)
        return exact

    return read


def _decimal_text(value: Any) -> str:
    # A double stands for the number that is written so, not for its binary expansion.
    if type(value) in (str, int, float):
        return str(value)
    raise _not_a("decimal number", value)


def _string(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, (UUID, time, date)):
        return value.isoformat() if not isinstance(value, UUID) else str(value)
    raise _not_a("string", value)


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise _not_a("boolean", value)


def _integer(value: Any) -> int:
    number: int
    if type(value) is int:
        number = value
    elif type(value) is float and value.is_integer():
        if abs(value) >= EXACT:
            told = "is too large to be told exactly with a fraction or an exponent"
            raise _MisfitError(told, value)
        number = int(value)
    else:
        raise _not_a("integer", value)
    if -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
        return number
    raise _MisfitError("does not fit a 64-bit integer column", value)


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise _not_a("number", value)
    try:
        return float(value)
    except OverflowError:
        raise _MisfitError("does not fit a 64-bit number column", value) from None


def _timestamp(value: Any) -> datetime:
    if type(value) is datetime:
        # An instant without a zone is read as UTC, wherever the reader is.
        try:
            return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)
        except OverflowError:
            told = "has no representation in a timestamp column"
            raise _MisfitError(told, value.isoformat()) from None
    if type(value) is not str:
        raise _not_a("timestamp", value)
    try:
        return to_timestamp(value)
    except ValueError as error:
        raise _MisfitError(str(error), value) from None


def _date(value: Any) -> date:
    if type(value) is date:
        return value
    if type(value) is not str:
        raise _not_a("date", value)
    try:
        return to_date(value)
    except ValueError as error:
        raise _MisfitError(str(error), value) from None


def _binary(value: Any) -> bytes:
    if type(value) is bytes:
        return value
    if type(value) is not str:
        raise _not_a("binary value", value)
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise _MisfitError("is not base64", value) from None


def _json(value: Any) -> str:
    try:
        return encode(value).decode()
    except (RecursionError, TypeError, ValueError):
        raise _MisfitError("cannot be written as JSON text", None) from None


def _not_a(kind: str, value: Any) -> _MisfitError:
    return _MisfitError(f"does not fit its column, which holds a {kind}", value)


_SCALARS: dict[ScalarName, _Convert] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "timestamp": _timestamp,
    "date": _date,
    "binary": _binary,
    "json": _json,
}
