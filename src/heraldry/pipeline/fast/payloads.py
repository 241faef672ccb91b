"""Payloads to Arrow: validated JSON texts of one schema into the columns of its table."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from heraldry.errors import MessageError
from heraldry.pipeline.lake.layout import arrow_type
from heraldry.schemas.columns import Column, ColumnType, ListOf, Scalar, Struct
from heraldry.schemas.parse import DEPTH_LIMIT, is_deep, parse

if TYPE_CHECKING:
    from heraldry.schemas.json_schema.schema import JsonSchema

# Only this form is read alike by Arrow and by the judge.
_YEAR = r"(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])"  # there is no year 0 in Python
_INSTANT = rf"^{_YEAR}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{{1,6}})?Z$"
_DAY = rf"^{_YEAR}-\d\d-\d\d$"
_FORMS = {"timestamp": _INSTANT, "date": _DAY}
# An integer to the judge, who has no negative zero of that kind; to Arrow the double -0.0.
_MINUS_ZERO = re.compile(rb"-0[\s,\]}]").search


class PayloadConverter:
    """Validates payloads and converts those of plain columns by Arrow's own JSON reader."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        self._columns = schema.columns
        self._target = pa.schema([(c.name, arrow_type(c.type)) for c in self._columns])
        self._reader: pa.Schema | None = None
        if all(_is_plain(column, top=True) for column in self._columns) and _is_record(schema):
            self._reader = pa.schema([(c.key, _reader_type(c.type)) for c in self._columns])

    def convert(self, payloads: Sequence[Any]) -> tuple[list[int], pa.Table]:
        """The indices of the payloads accepted, and their columns in that order."""
        good: list[int] = []
        values: list[Any] = []
        accepts = self._schema.accepts
        for index, payload in enumerate(payloads):
            value = parsed(payload)
            if value is None or not accepts(value[0], payload):
                continue
            if self._reader is None:
                values.append(value[0])
            elif type(value[0]) is not dict:
                continue  # beyond Arrow's reader: a null even ends the process
            good.append(index)
        if self._reader is None:
            return self._by_row(good, values)
        return self._by_reader(good, payloads)

    def _by_row(self, good: list[int], values: list[Any]) -> tuple[list[int], pa.Table]:
        kept: list[int] = []
        rows: list[dict[str, Any]] = []
        for index, value in zip(good, values, strict=True):
            row = self._schema.to_row(value)
            if isinstance(row, dict):
                kept.append(index)
                rows.append(row)
        return kept, pa.Table.from_pylist(rows, schema=self._target)

    def _by_reader(self, good: list[int], payloads: Sequence[Any]) -> tuple[list[int], pa.Table]:
        """Arrow refuses a block for one row it cannot read: halve until that row is alone."""
        if not good:
            return [], self._target.empty_table()
        try:
            table = self._read([payloads[index] for index in good])
            if any(map(_has_minus_zero, table.columns)):
                plain = [index for index in good if _MINUS_ZERO(payloads[index]) is None]
                if len(plain) < len(good):
                    return self._by_reader(plain, payloads)
            return self._typed(good, table)
        except pa.ArrowInvalid:
            if len(good) == 1:
                return [], self._target.empty_table()
            middle = len(good) // 2
            left, first = self._by_reader(good[:middle], payloads)
            right, second = self._by_reader(good[middle:], payloads)
            return left + right, pa.concat_tables([first, second])

    def _read(self, payloads: list[Any]) -> pa.Table:
        data = b"\n".join(payloads)
        table = pj.read_json(
            io.BytesIO(data),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=pj.ParseOptions(
                explicit_schema=self._reader, unexpected_field_behavior="ignore"
            ),
        )
        table = table.combine_chunks()
        if table.num_rows != len(payloads) or _has_infinity(table) or self._has_gap(table):
            raise pa.ArrowInvalid("rows and payloads do not correspond")
        return table

    def _has_gap(self, table: pa.Table) -> bool:
        """Whether a value is missing that the judge insists on, though the schema may not."""
        return any(
            _gap(chunk, column, 0) for column in self._columns for chunk in table[column.key].chunks
        )

    def _typed(self, good: list[int], table: pa.Table) -> tuple[list[int], pa.Table]:
        """Cast the texts of instants and days, leaving other forms of them to the judge."""
        keep = None
        for column in self._columns:
            if (form := _form(column.type)) is not None:
                fits = pc.fill_null(pc.match_substring_regex(table[column.key], form), True)
                keep = fits if keep is None else pc.and_(keep, fits)
        if keep is not None and not pc.all(keep).as_py():
            table = table.filter(keep)
            good = [index for index, fits in zip(good, keep.to_pylist(), strict=True) if fits]
        arrays = [table[column.key].cast(arrow_type(column.type)) for column in self._columns]
        return good, pa.Table.from_arrays(arrays, schema=self._target)


def parsed(payload: bytes) -> tuple[Any] | None:
    """The one value of a JSON payload, or None where the judge would refuse its line."""
    try:
        value = parse(payload)
    except MessageError:
        return None
    # The judge counts the envelope as a level, too.
    if payload.count(b"[") + payload.count(b"{") >= DEPTH_LIMIT and is_deep([value]):
        return None
    return (value,)


def _form(kind: ColumnType) -> str | None:
    return _FORMS.get(kind.name) if isinstance(kind, Scalar) else None


def _reader_type(kind: ColumnType) -> pa.DataType:
    """What Arrow's reader is asked for: instants and days as text, to be checked first."""
    if _form(kind) is not None:
        return pa.string()
    return arrow_type(kind)


def _is_plain(column: Column, *, top: bool) -> bool:
    """Whether Arrow's reader gives the very values of the judge for a column."""
    match column.type:
        case Scalar(name):
            nested = {"string", "integer", "number", "boolean"}
            return name in (nested | set(_FORMS) if top else nested)
        case ListOf(item):
            return _is_plain(item, top=False)
        case Struct(fields):
            return all(f.name == f.key and _is_plain(f, top=False) for f in fields)
        case _:
            return False


def _is_record(schema: JsonSchema) -> bool:
    """Whether payloads are objects: a lone ``value`` column stands for anything else."""
    return not (len(schema.columns) == 1 and schema.columns[0].key == "")


def _has_infinity(table: pa.Table) -> bool:
    """A number too large for a double: Arrow reads infinity where the judge refuses."""
    return any(_any_number(column, np.isinf) for column in table.columns)


def _has_minus_zero(column: pa.ChunkedArray) -> bool:
    return _any_number(column, lambda numbers: (numbers == 0) & np.signbit(numbers))


def _any_number(column: pa.ChunkedArray, test: Callable[[Any], Any]) -> bool:
    return any(_found(chunk, test) for chunk in column.chunks)


def _found(array: pa.Array, test: Callable[[Any], Any]) -> bool:
    """Whether a test holds for any double, at any depth."""
    if pa.types.is_floating(array.type):
        return bool(test(array.to_numpy(zero_copy_only=False)).any())
    if pa.types.is_struct(array.type):
        return any(_found(child, test) for child in array.flatten())
    if pa.types.is_list(array.type):
        return _found(array.flatten(), test)
    return False


def _gap(array: pa.Array, column: Column, outer: int) -> bool:
    """Whether a column that takes no null has more of them than the record around it."""
    if not column.nullable and array.null_count > outer:
        return True
    match column.type:
        case ListOf(item):
            return _gap(array.flatten(), item, 0)
        case Struct(fields):
            children = zip(array.flatten(), fields, strict=True)
            return any(_gap(child, field, array.null_count) for child, field in children)
        case _:
            return False
