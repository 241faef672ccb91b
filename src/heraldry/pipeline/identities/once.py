"""Every message once: the files of a batch without the rows that came before.

Workers write as if nothing repeats and say the digests of every row. As a rule none of them is
known and nothing is left to do; files that do hold repeated rows are written again without them,
before the batch is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.pipeline.identities.duplicates import Rows, Window
from heraldry.pipeline.lake.layout import DEAD_LETTERS
from heraldry.pipeline.lake.ledger import ManifestFile
from heraldry.pipeline.lake.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The files of a batch that are left, how many rows went, and the letters among those."""

    files: tuple[ManifestFile, ...]
    repeated: int = 0
    letters: tuple[pa.Table, ...] = ()


def keep_once(
    storage: Storage,
    window: Window,
    batch: int,
    files: Sequence[ManifestFile],
    digests: Mapping[str, bytes],
) -> Once:
    """Take repeated rows out of a batch's files, and remember its identities.

    ``digests`` has those of every file by its name; a file without any repeats nothing.
    """
    letters = {file.name for file in files if file.table == DEAD_LETTERS}
    found = window.repeated(batch, digests, letters)
    kept: list[ManifestFile] = []
    lost: list[pa.Table] = []
    for file in files:
        drop = found.drop.get(file.name)
        if drop is None:
            kept.append(file)
            continue
        left, gone = rewrite(storage, file, drop)
        kept += [left] if left is not None else []
        if file.name in letters:
            lost.append(gone)
    window.remember(found)
    return Once(files=tuple(kept), repeated=found.count, letters=tuple(lost))


def rewrite(
    storage: Storage, file: ManifestFile, drop: Rows
) -> tuple[ManifestFile | None, pa.Table]:
    """Write a file again without some rows: the new file, None where no row is left; the rows.

    The new one stands beside the old one, which goes: neither is part of a table yet.
    """
    system, root = storage.filesystem()
    with system.open_input_file(f"{root}/{file.table}/{file.name}") as handle:
        parquet = pq.ParquetFile(handle)
        table, options = parquet.read(), _options(parquet.metadata.row_group(0))
    keep = np.ones(table.num_rows, np.bool_)
    keep[drop] = False
    left = table.filter(pa.array(keep))
    written = None
    if left.num_rows:
        name = f"{file.name.removesuffix('.parquet')}-once.parquet"
        with storage.sink(f"{file.table}/{name}") as sink:
            pq.write_table(left, sink, store_schema=False, **options)
            size = sink.tell()
        written = msgspec.structs.replace(
            file, name=name, rows=left.num_rows, size=size, stats=_stats_of(left, file.stats)
        )
    storage.delete(f"{file.table}/{file.name}")
    return written, table.filter(pa.array(~keep))


def _options(group: pq.RowGroupMetaData) -> dict[str, Any]:
    """How a file was written: its compression, and the columns with a dictionary or with bounds.

    Numbers with a fraction have no bounds: those would not hold for NaN, and queries miss it.
    """
    columns = [group.column(number) for number in range(group.num_columns)]
    return {
        "compression": columns[0].compression.lower(),
        "use_dictionary": [one.path_in_schema for one in columns if one.has_dictionary_page]
        or False,
        "write_statistics": [one.path_in_schema for one in columns if one.statistics is not None]
        or False,
    }


def _stats_of(table: pa.Table, stats: str) -> str:
    """What a commit says of a file that lost rows: bounds still hold, but need not be met."""
    if not stats:
        return stats
    told = msgspec.json.decode(stats) | {"numRecords": table.num_rows, "tightBounds": False}
    if "nullCount" in told:
        told["nullCount"] = {
            name: table[name].null_count for name in told["nullCount"] if name in table.column_names
        }
    return msgspec.json.encode(told).decode()
