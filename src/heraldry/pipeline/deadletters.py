"""Dead letters: every message that did not land, in full, with the reasons."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.errors import WarehouseError
from heraldry.messages.verdict import Rejected
from heraldry.pipeline.delta import open_table, table_files
from heraldry.pipeline.layout import DEAD_LETTERS

SCHEMA = pa.schema(
    [
        ("stage", pa.string()),
        ("rule", pa.string()),
        ("definition", pa.string()),
        ("path", pa.string()),
        ("message", pa.string()),
        ("expected", pa.string()),
        ("found", pa.string()),
        ("problems", pa.string()),
        ("near", pa.string()),
        ("line", pa.binary()),
        ("batch", pa.int64()),
        ("source", pa.string()),
        ("position", pa.string()),
        ("received", pa.timestamp("us", "UTC")),
    ]
)
_GROUP = ("stage", "rule", "definition", "path", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterGroup:
    """Letters with the same cause."""

    stage: str
    rule: str
    definition: str | None
    path: str
    message: str
    count: int


def letter(line: bytes, verdict: Rejected) -> dict[str, Any]:
    """One letter without its place; the first problem is the reason it is grouped by."""
    first = verdict.problems[0]
    return {
        "stage": verdict.stage,
        "rule": first.rule,
        "definition": verdict.definition,
        "path": first.path,
        "message": first.message,
        "expected": first.expected,
        "found": first.found,
        "problems": msgspec.json.encode(verdict.problems).decode(),
        "near": msgspec.json.encode(verdict.near).decode(),
        "line": line,
    }


def groups(
    warehouse: str, *, rule: str | None = None, definition: str | None = None
) -> tuple[LetterGroup, ...]:
    """Letters by cause, the most frequent first."""
    table = _read(warehouse, [*_GROUP], rule=rule, definition=definition)
    counted = table.group_by(list(_GROUP)).aggregate([([], "count_all")]).to_pylist()
    found = [LetterGroup(**{k: row[k] for k in _GROUP}, count=row["count_all"]) for row in counted]
    return tuple(sorted(found, key=lambda g: (-g.count, g.stage, g.rule, g.path, g.message)))


def letters(
    warehouse: str,
    limit: int | None = None,
    *,
    rule: str | None = None,
    definition: str | None = None,
) -> Iterator[dict[str, Any]]:
    """The letters themselves in order of arrival, each with the original message as ``line``."""
    table = _read(warehouse, SCHEMA.names, rule=rule, definition=definition)
    table = table.sort_by([("batch", "ascending"), ("source", "ascending")])
    for row in table.slice(0, limit if limit is not None else table.num_rows).to_pylist():
        yield _shown(row)


def _read(
    warehouse: str, columns: Sequence[str], *, rule: str | None, definition: str | None
) -> pa.Table:
    if not os.path.isdir(warehouse):
        raise WarehouseError(warehouse, "there is no such warehouse", "land something there first")
    table = open_table(os.path.join(warehouse, DEAD_LETTERS))
    if table is None:
        return SCHEMA.empty_table().select(list(columns))
    wanted: Mapping[str, str | None] = {"rule": rule, "definition": definition}
    condition = None
    for name, value in wanted.items():
        if value is not None:
            term = pc.field(name) == value
            condition = term if condition is None else condition & term
    return table_files(table).to_table(columns=list(columns), filter=condition)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """A letter as JSON can hold it: bytes that are no text become base64."""
    line: bytes = row.pop("line")
    row["problems"] = msgspec.json.decode(row["problems"])
    row["near"] = msgspec.json.decode(row["near"])
    row["received"] = row["received"].isoformat().replace("+00:00", "Z")
    try:
        row["line"] = line.decode()
    except UnicodeDecodeError:
        row["line_base64"] = base64.b64encode(line).decode()
    return row
