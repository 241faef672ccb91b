"""What every storage does, wherever it is: subclassed once per kind, with a fixture ``storage``."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.delta import (
    add_columns,
    commit_files,
    create_table,
    open_table,
    table_rows,
)
from heraldry.pipeline.lake.ledger import Ledger, Manifest
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse

SCHEMA = pa.schema([("number", pa.int64())])


class StorageBehaviour:
    """The behaviour that all storages share."""

    def test_a_warehouse_is_there_when_a_job_has_begun(self, storage: Storage) -> None:
        storage.write("default/file", b"of somebody else")
        with pytest.raises(WarehouseError, match="there is no such warehouse"):
            open_warehouse(storage.url)
        Ledger.open(storage.join("_checkpoint"))
        assert open_warehouse(storage.url).url == storage.url

    def test_what_is_written_is_read(self, storage: Storage) -> None:
        assert storage.read("a/b.json") is None
        storage.write("a/b.json", b"one")
        storage.write("a/b.json", b"two")
        assert storage.read("a/b.json") == b"two"
        storage.write("top", b"")
        assert storage.read("top") == b""

    def test_settling_waits_and_changes_nothing(self, storage: Storage) -> None:
        storage.settle()  # before there is anything
        storage.write("a/b", b"one")
        storage.settle()
        assert storage.read("a/b") == b"one"

    def test_names_are_those_directly_below(self, storage: Storage) -> None:
        assert storage.names("a") == []
        for path in ("a/2", "a/1", "a/deep/3", "b/4"):
            storage.write(path, b"x")
        assert storage.names("a") == ["1", "2", "deep"]
        assert storage.names("") == ["a", "b"]

    def test_walk_gives_every_file(self, storage: Storage) -> None:
        assert list(storage.walk("a")) == []
        before = datetime.now(UTC)
        for path in ("a/2", "a/1", "a/deep/er/3", "b/4"):
            storage.write(path, b"x" * len(path))
        found = list(storage.walk("a"))
        assert [(one.path, one.size) for one in found] == [("1", 3), ("2", 3), ("deep/er/3", 11)]
        assert all(abs((one.modified - before).total_seconds()) < 60 for one in found)
        assert [one.path for one in storage.walk("")] == ["a/1", "a/2", "a/deep/er/3", "b/4"]

    def test_exists_and_size(self, storage: Storage) -> None:
        storage.write("a/b", b"four")
        assert [storage.exists(path) for path in ("a", "a/b", "a/c", "c")] == [
            True,
            True,
            False,
            False,
        ]
        assert [storage.size(path) for path in ("a", "a/b", "a/c")] == [None, 4, None]

    def test_delete(self, storage: Storage) -> None:
        storage.write("a/b", b"x")
        storage.delete("a/b")
        storage.delete("a/b")
        storage.delete("never/there")
        assert storage.read("a/b") is None

    def test_delete_tree(self, storage: Storage) -> None:
        for path in ("a/1", "a/deep/2", "ab/3"):
            storage.write(path, b"x")
        storage.delete_tree("a")
        storage.delete_tree("a")
        assert [one.path for one in storage.walk("")] == ["ab/3"]
        assert not storage.exists("a")

    def test_it_travels(self, storage: Storage) -> None:
        packed = pickle.dumps(storage)
        assert len(packed) < 300
        storage.write("a", b"x")
        assert pickle.loads(packed).read("a") == b"x"

    def test_a_sink_says_how_much_it_took(self, storage: Storage) -> None:
        with storage.sink("t/x=1/part.parquet") as sink:
            pq.write_table(pa.table({"number": range(1000)}), sink)
            size = sink.tell()
        assert storage.size("t/x=1/part.parquet") == size

    def test_a_lock_is_held_by_one(self, storage: Storage) -> None:
        with storage.locked("jobs/lock") as free:
            assert free
            with storage.locked("jobs/lock") as second:
                assert not second
            with storage.locked("jobs/other") as other:
                assert other
        with storage.locked("jobs/lock") as free:
            assert free

    def test_one_of_many_gets_a_lock(self, storage: Storage) -> None:
        def hold(_: int) -> bool:
            with storage.locked("lock") as free:
                time.sleep(1 if free else 0)
                return free

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(hold, range(6))) == 1

    def test_another_process_finds_a_lock_held(self, storage: Storage) -> None:
        code = (
            "import sys\n"
            "from heraldry.pipeline.lake.storage import Storage\n"
            "with Storage.open(sys.argv[1]).locked('lock') as free:\n"
            "    print(free)\n"
        )
        command = [sys.executable, "-c", code, storage.url]

        def other() -> str:
            told = subprocess.run(command, env=os.environ, capture_output=True, text=True)
            return told.stdout.strip() or told.stderr

        with storage.locked("lock") as free:
            assert free
            assert other() == "False"
        assert other() == "True"

    def test_a_table_is_made_and_grows(self, storage: Storage) -> None:
        assert open_table(storage, "d/t") is None
        create_table(storage, "d/t", SCHEMA, {})
        for batch, numbers in enumerate([[1, 2], [3]]):
            table = open_table(storage, "d/t")
            assert table is not None
            commit_files(table, [_file(storage, numbers)], "job", batch)
        again = open_table(storage, "d/t")
        assert again is not None
        assert sorted(table_rows(storage, again)["number"].to_pylist()) == [1, 2, 3]

    @pytest.mark.parametrize("name", ["my lake", "büro", "a{b}+c", "lake/a b"], ids=ascii)
    def test_rows_below_a_folder_of_an_odd_name(self, storage: Storage, name: str) -> None:
        """delta-rs tells the address of such a table, and of its files, with percent signs."""
        lake = Storage.open(storage.join(name))
        create_table(lake, "d/t", SCHEMA, {})
        table = open_table(lake, "d/t")
        assert table is not None
        commit_files(table, [_file(lake, [1, 2])], "job", 0)
        assert table_rows(lake, table)["number"].to_pylist() == [1, 2]
        assert table_rows(storage, table)["number"].to_pylist() == [1, 2]

    def test_writers_of_one_table_lose_nothing(self, storage: Storage) -> None:
        """Each opens the table before any of them commits: no commit may replace another."""
        create_table(storage, "d/t", SCHEMA, {})
        tables: list[Any] = [open_table(storage, "d/t") for _ in range(6)]
        files = [_file(storage, [number]) for number in range(6)]

        def commit(number: int) -> int:
            return commit_files(tables[number], [files[number]], f"job-{number}", 0)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(commit, range(6)))
        again = open_table(storage, "d/t")
        assert again is not None
        assert again.version() == 6
        assert sorted(table_rows(storage, again)["number"].to_pylist()) == list(range(6))

    def test_one_of_many_makes_a_table(self, storage: Storage) -> None:
        """Nobody makes it anew: rows that were written for the first one stay readable."""

        def make(number: int) -> list[str]:
            schema = pa.schema([(f"column{number}", pa.int64())])
            table = create_table(storage, "d/t", schema, {})
            return [field.name for field in table.schema().fields]

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(make, range(6)))
        assert found == [found[0]] * 6
        again = open_table(storage, "d/t")
        assert again is not None
        assert again.version() == 0

    def test_jobs_make_a_table_and_commit_to_it(self, storage: Storage) -> None:
        files = [_file(storage, [number]) for number in range(4)]

        def land(number: int) -> bool:
            committer = Committer(storage, f"job-{number}")
            made = committer.make("d/t", {}, files[number])
            committer.commit("d/t", {}, [files[number]], 0)
            add_columns(storage, "d/t", pa.schema([(f"column{number}", pa.int64())]))
            return made

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(land, range(4)))
        again = open_table(storage, "d/t")
        assert again is not None
        assert len(again.schema().fields) == 5
        assert sorted(table_rows(storage, again)["number"].to_pylist()) == list(range(4))

    def test_a_batch_is_decided_once(self, storage: Storage) -> None:
        manifest = Manifest(batch=1, files=(), tables={}, catalog="first")
        ledger = Ledger(storage, "job")
        ledger.prepare(manifest)
        with pytest.raises(PipelineError, match="another job has gone on"):
            ledger.prepare(replace(manifest, catalog="second"))
        ledger.commit(manifest)
        assert ledger.manifest(1) == replace(manifest, committed=True)


def _file(storage: Storage, numbers: list[int]) -> DataFile:
    name = f"part-{'-'.join(map(str, numbers))}.parquet"
    with storage.sink(f"d/t/{name}") as sink:
        pq.write_table(pa.table({"number": numbers}, schema=SCHEMA), sink)
        size = sink.tell()
    return DataFile(name=name, rows=len(numbers), size=size)
