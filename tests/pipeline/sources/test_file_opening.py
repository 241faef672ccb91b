"""Files of a store: whatever it fails at stops the batch, whatever is wrong in a file does not."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from heraldry.errors import PipelineError
from heraldry.pipeline.sources.file_opening import open_stored
from heraldry.pipeline.sources.file_reading import pieces_of

LINES = b"".join(b'{"number": %d}\n' % number for number in range(300_000))
ADDRESS = "gs://bucket/"


class Breaking(io.RawIOBase):
    """A file on a store that goes away after some reads, as Arrow tells it: without a number."""

    def __init__(self, path: str, reads: int) -> None:
        self._file, self._left = io.FileIO(path), reads

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def read(self, size: int = -1, /) -> bytes:
        self._left -= 1
        if self._left < 0:
            raise OSError("google::cloud::Status(UNAVAILABLE: try again)")
        return self._file.read(size)

    def close(self) -> None:
        self._file.close()
        super().close()


class Store:
    """A store that fails: at the opening of a file, or after some reads of it."""

    reads: int | None = None

    def open_input_file(self, path: str) -> pa.NativeFile:
        if self.reads is None:
            raise OSError("Azure Error: [Transport] GetProperties failed")
        return pa.PythonFile(Breaking(path, self.reads), mode="r")


@pytest.fixture(scope="module", name="folder")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "a.jsonl").write_bytes(LINES)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(LINES, 1))
    (folder / "a.jsonl.bz2").write_bytes(bz2.compress(LINES, 1))
    (folder / "a.jsonl.zst").write_bytes(pa.compress(LINES, "zstd", asbytes=True))
    (folder / "a.json").write_bytes(LINES)
    numbers = list(range(300_000))
    pq.write_table(pa.table({"number": numbers}), folder / "a.parquet", row_group_size=50_000)
    schema = {"type": "record", "name": "R", "fields": [{"name": "number", "type": "long"}]}
    with (folder / "a.avro").open("wb") as out:
        fastavro.writer(out, fastavro.parse_schema(schema), [{"number": n} for n in numbers])
    return folder


NAMES = (
    *("a.jsonl", "a.jsonl.gz", "a.jsonl.bz2", "a.jsonl.zst"),
    *("a.json", "a.parquet", "a.avro"),
)


def read(system: Any, path: Path) -> int:
    """How many lines a worker reads of a file of such a store."""
    with open_stored(system, str(path), f"{ADDRESS}{path.name}") as file:
        return sum(len(lines) for _, lines in pieces_of(file, path.suffix))


@pytest.mark.parametrize("name", NAMES)
def test_a_store_that_works(folder: Path, name: str) -> None:
    assert read(fs.LocalFileSystem(), folder / name) == 300_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reads", [None, 0, 1], ids=["at the opening", "at the first read", "amid"])
def test_a_store_that_fails_stops_the_batch(folder: Path, name: str, reads: int | None) -> None:
    store = Store()
    store.reads = reads
    with pytest.raises(PipelineError, match=r"Azure Error|UNAVAILABLE") as error:
        read(store, folder / name)
    assert f"{ADDRESS}{name}" in error.value.reason


def test_a_file_that_is_gone_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_stored(fs.LocalFileSystem(), str(tmp_path / "a.json"), f"{ADDRESS}a.json")
