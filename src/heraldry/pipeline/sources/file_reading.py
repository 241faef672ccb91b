"""Files that are read by their path in the workers: packed lines, JSON, Parquet and Avro.

Every message becomes one line with its place: the block it stands in (a row group, a block of
Avro; 0 where a file has none) and its number there. A file that breaks off is read as far as it
goes; one line then stands for the rest, and becomes a dead letter. So does the line of a row of
Parquet with a value that Python has no word for (a year beyond 9999). A file that is gone stops the
batch, unless the job may go on without it: then a line stands for it, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.errors import MessageError, MissingExtraError, PipelineError
from heraldry.pipeline.sources import event_batches, packed_lines
from heraldry.pipeline.sources.file_opening import open_file
from heraldry.pipeline.sources.file_times import in_utc
from heraldry.pipeline.sources.record_lines import Record, wordless, writer_of
from heraldry.schemas.located import pointer

Piece = tuple[int, list[bytes]]
"""A block's number, and lines of it."""

LINES = (".jsonl", ".ndjson")
"""How the names of files of plain lines end, in any case."""
ENDINGS = (
    *(line + packed for line in LINES for packed in packed_lines.SUFFIXES),
    ".json",
    ".parquet",
    ".avro",
)
"""How the names of the files end that are read here."""
SCHEMA = "value binary, source string, block bigint, number bigint"

_ARROW = pa.schema(
    [("value", pa.binary()), ("source", pa.string()), ("block", pa.int64()), ("number", pa.int64())]
)
_ROWS = 2000
_SHOWN = 2000
_TOLD = 500
_BYTES = 8 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_BROKEN = (MessageError, EOFError, ValueError, zlib.error, pa.ArrowException)
_VALUES = (OverflowError, TypeError, UnicodeDecodeError)
"""What a value of Parquet raises that Python has no word for: a map by records, too."""


def is_read(path: str) -> bool:
    """Whether the file at a path below a folder is read; hidden and private ones are others'."""
    parts = PurePosixPath(path).parts
    return fits(path, LINES + ENDINGS) and not any(one.startswith((".", "_")) for one in parts)


def fits(path: str, endings: tuple[str, ...]) -> bool:
    """Whether a path ends so, in any case."""
    return path.lower().endswith(endings)


def read_paths(
    batches: Iterator[pa.RecordBatch], *, goes_on: bool = False
) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow``: the lines of all files whose addresses come as ``source``."""
    for batch in batches:
        for source in batch.column("source").to_pylist():
            yield from read_file(source, goes_on=goes_on)


def read_file(source: str, *, goes_on: bool = False) -> Iterator[pa.RecordBatch]:
    """The lines of one file with their places, in batches of a bounded size.

    ``goes_on``: a file that is gone becomes one line; else it is a PipelineError.
    """
    block = number = 0
    try:
        for found, lines in _bounded(_pieces(source)):
            if found != block:
                block, number = found, 0
            yield _batch(source, block, number, lines)
            number += len(lines)
    except _BROKEN as error:
        yield _batch(source, block, number, [unreadable(source, error)])
    except FileNotFoundError as error:
        if not goes_on:
            advice = "put it back, or go on without it: --source-option on_loss=continue"
            raise PipelineError("read a file", f"{source} is gone ({advice})") from error
        yield _batch(source, block, number, [unreadable(source, ValueError("is gone"))])
    except OSError as error:
        if error.errno is not None:
            raise  # the machine's fault, not the file's: it is tried again
        yield _batch(source, block, number, [unreadable(source, error)])


def unreadable(what: str, error: Exception, path: str | None = None) -> bytes:
    """The line that stands for what cannot be read: the rest of a file, or one record.

    ``path`` leads to what is wrong within a record, which ``what`` shows as a text.
    """
    if isinstance(error, MessageError):
        first = error.problems[0]
        told = first.message + (f": {first.found}" if first.found else "")
    else:
        told = str(error).partition("\n")[0] or type(error).__name__
    within = {} if path is None else {"path": path[:_TOLD]}
    return msgspec.json.encode({"unreadable": what, **within, "reason": told[:_TOLD]})


def _pieces(source: str) -> Iterator[Piece]:
    with open_file(source) as file:
        yield from pieces_of(file, PurePosixPath(source).suffix.lower())


def pieces_of(file: pa.NativeFile, suffix: str) -> Iterator[Piece]:
    """The lines of an open file of the kind that its name ends with."""
    if suffix == ".parquet":
        yield from _parquet(file)
    elif suffix == ".avro":
        yield from _avro(file)
    elif suffix == ".json":
        if file.size() > event_batches.LIMIT:
            raise ValueError(f"has more than {event_batches.LIMIT} bytes: write JSON lines")
        yield from ((0, [line]) for line in event_batches.read_values(file.read()))
    else:
        yield from ((0, lines) for lines in _unmarked(packed_lines.read_lines(file, suffix)))


def _unmarked(parts: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    """The lines of a file without the byte order mark that it may begin with."""
    for first in parts:
        yield [first[0].removeprefix(_MARK), *first[1:]]
        break
    yield from parts


def _parquet(file: pa.NativeFile) -> Iterator[Piece]:
    """Rows by their row group; of every group only some rows are held at once."""
    # Old timestamps (INT96) reach far beyond the years that 64 bits of nanoseconds can count.
    parquet = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
    names = parquet.schema_arrow.names
    if len(set(names)) < len(names):
        raise ValueError("has two columns of the same name")
    writer = writer_of(names)
    for group in range(parquet.num_row_groups):
        for found in parquet.iter_batches(_ROWS, row_groups=[group]):
            yield group, _rows(in_utc(found), writer)


def _rows(batch: pa.RecordBatch, writer: Callable[[Record], bytes]) -> list[bytes]:
    """The lines of some rows, at once; only where a value is none of Python's, one by one."""
    names = batch.schema.names
    try:
        columns = [_values(batch, name) for name in names]
    except LookupError as error:
        raise ValueError(f"has an unknown time zone: {error}") from error
    except _VALUES:
        if batch.num_rows == 1:
            return [_unreadable_row(batch)]
        rows_alone = (batch.slice(number, 1) for number in range(batch.num_rows))
        return [line for row in rows_alone for line in _rows(row, writer)]
    rows: Iterable[Record] = (
        dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
    )
    return [_line(writer, row) for row in rows]


def _values(batch: pa.RecordBatch, name: str) -> list[Any]:
    """The values of a column; headers may have the same name twice."""
    maps = None if name == "headers" else "lossy"
    values: list[Any] = batch.column(name).to_pylist(maps_as_pydicts=maps)
    return values


def _unreadable_row(row: pa.RecordBatch) -> bytes:
    """The letter of one row, with its values as far as they go, and the columns that do not."""
    shown: dict[str, Any] = {}
    told: dict[str, str] = {}
    for name in row.schema.names:
        try:
            shown[name] = _values(row, name)[0]
        except (*_VALUES, LookupError) as error:
            shown[name] = " ".join(str(row.column(name)).split())
            told[name] = str(error)
    reason = ValueError("; ".join(f"{name}: {one}" for name, one in told.items()))
    return unreadable(ascii(shown)[:_SHOWN], reason, pointer([*told][:1]))


def _avro(file: pa.NativeFile) -> Iterator[Piece]:
    try:
        # Only now: files of all other kinds are read without it.
        from heraldry.schemas.avro.container import read_blocks
    except ModuleNotFoundError as error:
        raise MissingExtraError("avro", error.name or "fastavro") from error
    writer, known = writer_of(()), None
    for block, record in read_blocks(file):
        if record.keys() != known:
            writer, known = writer_of(record.keys()), record.keys()
        yield block, [_line(writer, record)]


def _line(writer: Callable[[Record], bytes], record: Record) -> bytes:
    """The line of a record; one that JSON has no words for is a letter of its own."""
    try:
        return writer(record)
    except RecursionError:
        deep = ValueError("is nested too deep")
        return unreadable(ascii(list(record))[:_SHOWN], deep, _place(record, deep))
    except (TypeError, ValueError, LookupError, MessageError) as error:
        return unreadable(ascii(dict(record))[:_SHOWN], error, _place(record, error))


def _place(record: Record, error: Exception) -> str:
    """Where in a record the cause of an error is, as far as it can be told."""
    return error.problems[0].path if isinstance(error, MessageError) else pointer(wordless(record))


def _bounded(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same lines in pieces that are neither tiny nor large; also those before an error."""
    held: list[bytes] = []
    block = size = 0
    try:
        for found, lines in pieces:
            if held and (found != block or size >= _BYTES or len(held) >= _ROWS):
                yield block, held
                held, size = [], 0
            block = found
            held += lines
            size += sum(map(len, lines))
    except (*_BROKEN, OSError):
        if held:
            yield block, held
        raise
    if held:
        yield block, held


def _batch(source: str, block: int, first: int, lines: list[bytes]) -> pa.RecordBatch:
    count = len(lines)
    columns = [
        pa.array(lines, pa.binary()),
        pa.repeat(pa.scalar(source), count),
        pa.repeat(pa.scalar(block, pa.int64()), count),
        pa.array(range(first, first + count), pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
