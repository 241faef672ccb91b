"""Landing letters again: judged like any line, with the places that the letters kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.pipeline.identities.duplicates import Rows
from heraldry.pipeline.identities.once import rewrite
from heraldry.pipeline.lake.layout import DEAD_LETTERS, NAME_KEY
from heraldry.pipeline.lake.ledger import ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.lander import Lander, WorkOrder
from heraldry.pipeline.sources.lines import Lines

COLUMNS = ("letter", "line", "masked", "source", "position", "received", "time")
"""What landing a letter again takes."""

_WHOLE: Mapping[str, Any] = MappingProxyType({})
_REASONS = ("source", "position", "stage", "rule", "message", "definition")

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a letter: the table it is in, or the reason it was refused.

    One that is ``repeated`` did not land: a message with its identity is in a table already.
    """

    definition: str | None
    table: str | None = None
    stage: str | None = None
    rule: str | None = None
    message: str | None = None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Relanded:
    """The files of some letters that land, the tables' configurations, and every outcome.

    ``places`` and ``digests`` are those of each file's rows, by its name.
    """

    files: list[ManifestFile] = field(default_factory=list)
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    outcomes: dict[Place, Outcome] = field(default_factory=dict)
    places: dict[str, list[Place]] = field(default_factory=dict)
    digests: dict[str, bytes] = field(default_factory=dict)

    def without(self, storage: Storage, drop: Mapping[str, Rows]) -> Relanded:
        """The same without some rows of its files: those letters are repeated."""
        files: list[ManifestFile] = []
        outcomes = dict(self.outcomes)
        for file in self.files:
            rows = drop.get(file.name)
            left = file if rows is None else rewrite(storage, file, rows)[0]
            files += [] if left is None else [left]
            for row in () if rows is None else rows.tolist():
                place = self.places[file.name][row]
                outcomes[place] = Outcome(outcomes[place].definition, repeated=True)
        kept = {file.table for file in files}
        tables = {path: told for path, told in self.tables.items() if path in kept}
        return replace(self, files=files, tables=tables, outcomes=outcomes)


def reland(order: WorkOrder, letters: pa.Table) -> Relanded:
    """Judge letters again and write those that land; the columns are :data:`COLUMNS`.

    No two of the letters may have the same place.
    """
    lines = Lines(
        _array(letters["line"]),
        _array(letters["source"]).dictionary_encode(),
        _array(letters["position"]),
        _array(letters["time"]),
        _array(letters["received"]),
    )
    found = Relanded()
    for row in Lander(order).land(lines).to_pylist():
        path = f"{row['path']}/{row['file']}"
        if row["path"] == DEAD_LETTERS:
            _add_refused(found, order.storage, path)
            order.storage.delete(path)
        else:
            _add_landed(found, order.storage, row, path)
    return found


def _add_refused(found: Relanded, storage: Storage, path: str) -> None:
    for row in _columns(storage, path, _REASONS):
        found.outcomes[row["source"], row["position"]] = Outcome(
            row["definition"], None, row["stage"], row["rule"], row["message"]
        )


def _add_landed(found: Relanded, storage: Storage, row: dict[str, Any], path: str) -> None:
    configuration = json.loads(row["table"])
    table = ".".join(json.loads(configuration[NAME_KEY]))
    found.tables[row["path"]] = configuration
    found.files.append(
        ManifestFile(
            table=row["path"],
            name=row["file"],
            rows=row["rows"],
            size=row["size"],
            partition=row["partition"],
            stats=row["stats"],
        )
    )
    partition = json.loads(row["partition"])
    places = found.places.setdefault(row["file"], [])
    found.digests[row["file"]] = row["identities"]
    for one in _columns(storage, path, ("_source", "_position", "_definition"), partition):
        places.append((one["_source"], one["_position"]))
        found.outcomes[places[-1]] = Outcome(one["_definition"], table)


def _columns(
    storage: Storage,
    path: str,
    names: Sequence[str],
    partition: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """Some columns of a file; the values of its partition stand only in its name."""
    known = {name: partition[name] for name in names if name in partition}
    system, root = storage.filesystem()
    with system.open_input_file(f"{root}/{path}") as handle:
        rows = pq.read_table(handle, columns=[name for name in names if name not in known])
    for row in rows.to_pylist():
        yield row | known


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
