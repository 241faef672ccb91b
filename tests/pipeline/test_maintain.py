"""Looking after a warehouse: what goes, what stays, and that no row is lost."""

from __future__ import annotations

import json
import os
import random
import time
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, QueryBuilder

from heraldry.cli.maintain import command, size_text
from heraldry.cli.setting import HOURS
from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline import maintain as upkeep
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import PLAIN, Arrangement
from heraldry.pipeline.lake.checkpoints import note
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.maintain import Kept, Maintained, Upkeep, maintain

PATH = "d/g/m"
NAME = "d.g.m"
HOUR = 3600


def configuration(arranged: Arrangement = PLAIN) -> dict[str, str]:
    told = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}
    return told | arranged.configuration


class Lake:
    """A warehouse with one table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.storage = Storage.open(str(folder))
        self.committer = Committer(self.storage, "job")

    def land(self, batches: int, arranged: Arrangement = PLAIN, first: int = 0) -> None:
        for batch in range(first, first + batches):
            rows = pa.table({"n": [batch, -batch], "shop": ["a", "b"]})
            files = ParquetWriter(self.storage, batch).write(PATH, rows, arranged)
            self.committer.commit(PATH, configuration(arranged), files, batch)

    def stray(self, name: str, age: float) -> Path:
        """A file that no table knows."""
        path = self.folder / PATH / name
        path.write_bytes(b"stray")
        then = time.time() - age * HOUR
        os.utime(path, (then, then))
        return path

    @property
    def table(self) -> DeltaTable:
        found = delta.open_table(self.storage, PATH)
        assert found is not None
        return found

    @property
    def version(self) -> int:
        return self.table.version()

    @property
    def numbers(self) -> list[int]:
        table = delta.open_table(self.storage, PATH)
        assert table is not None
        return sorted(delta.table_rows(self.storage, table)["n"].to_pylist())

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        table = delta.open_table(self.storage, PATH)
        assert table is not None
        found = delta.table_rows(self.storage, table).to_pylist()
        return sorted((tuple(row[name] for name in columns) for row in found), key=repr)

    def counts(self, conditions: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """How many rows DuckDB and DataFusion find."""
        table = DeltaTable(self.storage.join(PATH))
        names = ", ".join(f"'{name}'" for name in table.file_uris())
        queries = QueryBuilder().register("t", table)
        found = {}
        for one in conditions:
            (row,) = duckdb.sql(
                f"select count(*) from read_parquet([{names}]) where {one}"
            ).fetchall()
            told = pa.table(queries.execute(f"select count(*) as c from t where {one}").read_all())
            found[one] = (row[0], told["c"][0].as_py())
        return found

    def maintain(self, **more: Any) -> Maintained:
        return maintain(Upkeep(warehouse=str(self.folder), **more))

    def kept(self, **more: Any) -> Kept:
        (found,) = self.maintain(**more).tables
        return found


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no such warehouse"):
        maintain(Upkeep(warehouse=str(tmp_path / "none")))


def test_what_a_compaction_made_is_on_the_disk_before_a_file_goes(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could take both: the new file is not there yet, the old ones no more."""
    lake.land(5)
    files, settle = lake.table.file_uris(), Storage.settle
    there: list[tuple[int, bool]] = []

    def settling(storage: Storage) -> None:
        there.append((lake.version, all(Path(file).exists() for file in files)))
        settle(storage)

    monkeypatch.setattr(Storage, "settle", settling)
    assert lake.kept(retention=0.0).removed == 5
    assert there == [(5, True)]
    assert not any(Path(file).exists() for file in files)
    lake.maintain(dry_run=True)
    assert len(there) == 1


def test_small_files_become_one(lake: Lake) -> None:
    lake.land(5)
    before = lake.numbers
    found = lake.kept()
    assert (found.table, found.compacted, found.into) == (NAME, 5, 1)
    assert found.left == ""
    assert lake.numbers == before
    again = lake.kept()
    assert (again.compacted, again.into, again.removed) == (0, 0, 0)
    lake.land(1, first=5)
    assert len(lake.numbers) == 12


def test_partitions_are_compacted_each(lake: Lake) -> None:
    by_shop = Arrangement((("shop", "string"),))
    lake.land(3, by_shop)
    assert lake.kept(dry_run=True).into == 2
    found = lake.kept()
    assert (found.compacted, found.into) == (6, 2)
    assert len(lake.numbers) == 6
    assert lake.kept().compacted == 0


def test_a_table_keeps_its_order(lake: Lake) -> None:
    lake.land(3, Arrangement((), ("n",)))
    found = lake.kept()
    assert (found.compacted, found.into) == (3, 1)
    table = delta.open_table(lake.storage, PATH)
    assert table is not None
    assert table.history(1)[0]["operation"] == "OPTIMIZE"
    assert json.loads(table.history(1)[0]["operationParameters"].get("zOrderBy", '["n"]')) == ["n"]
    assert lake.kept().compacted == 0


@pytest.mark.parametrize("order", [("shop",), ("shop", "n")], ids=["alone", "with another"])
def test_an_order_by_the_column_of_the_partitions(lake: Lake, order: tuple[str, ...]) -> None:
    lake.land(3, Arrangement((("shop", "string"),), order))
    found = lake.kept()
    assert (found.compacted, found.into, found.left) == (6, 2, "")
    assert len(lake.numbers) == 6
    assert lake.kept().compacted == 0


BY_SHOP = Arrangement((("shop", "string"),))
BY_SHOP_IN_ORDER = Arrangement((("shop", "string"),), ("n",))
BOTH = pytest.mark.parametrize(
    "arranged", [BY_SHOP, BY_SHOP_IN_ORDER], ids=["as they came", "in order"]
)


def land_shops(
    lake: Lake,
    shops: list[str | None],
    batches: int,
    first: int = 0,
    arranged: Arrangement = BY_SHOP_IN_ORDER,
) -> None:
    for batch in range(first, first + batches):
        rows = pa.table({"n": [batch] * len(shops), "shop": pa.array(shops, pa.string())})
        files = ParquetWriter(lake.storage, batch).write(PATH, rows, arranged)
        lake.committer.commit(PATH, configuration(arranged), files, batch)


@pytest.mark.parametrize(
    ("by", "order", "commits"),
    [
        (("shop",), (), 1),
        (("shop",), ("n",), 2),
        (("shop", "day"), (), 1),
        (("day", "shop"), ("n",), 4),
    ],
    ids=["as they came", "in order", "of two columns", "of two columns in order"],
)
def test_partitions_are_compacted_at_once(
    lake: Lake, by: tuple[str, ...], order: tuple[str, ...], commits: int
) -> None:
    """Where there is an order, those without a value for themselves."""
    arranged = Arrangement(tuple((name, "string") for name in by), order)
    shops: list[str | None] = ["it's", 'a "b"', "a,b", r"a\b", None]
    for batch in range(2):
        rows = pa.table({"n": range(10), "shop": shops * 2, "day": ["d1"] * 5 + ["d2"] * 5})
        files = ParquetWriter(lake.storage, batch).write(PATH, rows, arranged)
        lake.committer.commit(PATH, configuration(arranged), files, batch)
    before = lake.rows("n", "shop", "day")
    found = lake.kept()
    assert (found.compacted, found.into, found.left) == (10 * len(by), 5 * len(by), "")
    assert lake.version == 1 + commits
    assert lake.rows("n", "shop", "day") == before


@BOTH
def test_a_partition_that_others_write_in_keeps_no_other_from_it(
    lake: Lake, arranged: Arrangement
) -> None:
    land_shops(lake, ["a", "b"], 3, arranged=arranged)
    table = lake.table
    lake.table.delete("shop = 'a' and n = 0")
    assert upkeep._compact(table, list(upkeep._due(table))) == (5, 2, [])
    assert lake.numbers == [0, 1, 1, 2, 2]


def test_only_partitions_that_need_it_are_written_again(lake: Lake) -> None:
    shops: list[str | None] = [f"s{number}" for number in range(5)]
    land_shops(lake, shops, 2)
    assert (lake.kept().compacted, lake.kept().compacted) == (10, 0)
    land_shops(lake, ["s0"], 2, first=2)
    told = lake.kept(dry_run=True)
    assert (told.compacted, told.into) == (3, 1)
    found = lake.kept()
    assert (found.compacted, found.into) == (3, 1)
    assert lake.kept(dry_run=True).compacted == 0


@pytest.mark.parametrize(
    "odd", ["~berlin", "x" * 300], ids=["a folder that Delta cannot find", "too long a folder"]
)
@BOTH
def test_a_partition_that_cannot_be_compacted_keeps_no_other_from_it(
    lake: Lake, odd: str, arranged: Arrangement
) -> None:
    land_shops(lake, [odd, "oslo", "rome", None], 2, arranged=arranged)
    lake.kept()
    land_shops(lake, [odd, "oslo", "rome", None], 2, first=2, arranged=arranged)
    found = lake.kept()
    assert (found.compacted, found.into) == (9, 3)
    assert found.left.startswith(f"shop={odd[:60]} not compacted: ")
    assert lake.numbers == sorted([0, 1, 2, 3] * 4)


def test_of_many_partitions_that_are_left_some_are_told(lake: Lake) -> None:
    shops: list[str | None] = [f"{number}~" for number in range(8)]
    for first in (0, 2):
        land_shops(lake, shops, 2, first)
        found = lake.kept()
    assert found.left.count("~ not compacted") == 5
    assert found.left.endswith("; 3 more partitions not compacted")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["a b/ü%41", "it's", "", None]),
        ("date", [date(2026, 1, 2), None]),
        ("long", [-5, 0, None]),
        ("boolean", [True, False, None]),
    ],
    ids=["texts", "dates", "integers", "truths"],
)
@pytest.mark.parametrize("order", [(), ("n",)], ids=["as they came", "in order"])
def test_partitions_of_every_type(
    lake: Lake, kind: str, values: list[Any], order: tuple[str, ...]
) -> None:
    arranged = Arrangement((("by", kind),), order)
    for batch in range(2):
        rows = pa.table({"n": list(range(len(values))), "by": pa.array(values)})
        files = ParquetWriter(lake.storage, batch).write(PATH, rows, arranged)
        lake.committer.commit(PATH, configuration(arranged), files, batch)
    before = lake.rows("n", "by")
    found = lake.kept()
    assert (found.compacted, found.left) == (2 * len(values), "")
    assert lake.kept(dry_run=True).compacted == 0
    assert lake.rows("n", "by") == before


@pytest.mark.parametrize("order", [(), ("n",)], ids=["as they came", "in order"])
@pytest.mark.parametrize("shops", [1, 4], ids=["one", "several"])
@pytest.mark.parametrize("seed", range(4))
def test_a_dry_run_says_what_is_done(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, seed: int, shops: int, order: tuple[str, ...]
) -> None:
    """Files of all sizes, some larger than the new ones; some partitions have few of them."""
    monkeypatch.setattr(upkeep, "TARGET", 10_000)
    chance, arranged = random.Random(seed), Arrangement((("shop", "string"),), order)
    for batch in range(10):
        number, length = chance.randrange(shops), chance.choice([9, 9, 600, 1500])
        columns = {"n": [chance.random() for _ in range(length)], "shop": [f"s{number}"] * length}
        rows = pa.table(columns)
        files = ParquetWriter(lake.storage, batch).write(PATH, rows, arranged)
        lake.committer.commit(PATH, configuration(arranged), files, batch)
    told, done = lake.kept(dry_run=True), lake.kept()
    assert told.compacted == done.compacted > 0
    assert order or told.into == done.into


COUNTED = ("f > 10", "f <> f", "isnan(f)", "r['f'] > 10", "f < 2", "k = 1", "k > 1", "t > 'b'")


@pytest.mark.parametrize("rows", [4, 2000], ids=["few rows", "many rows"])
@pytest.mark.parametrize("order", [(), ("k",)], ids=["as they came", "in order"])
def test_queries_count_alike_before_and_after(
    lake: Lake, rows: int, order: tuple[str, ...]
) -> None:
    """Bounds leave out what is no number, which readers take for greater than all numbers."""
    arranged, real = Arrangement((), order), [1.0, float("nan"), None, 3.0] * (rows // 4)
    records = pa.array([{"f": one} for one in real], pa.struct([("f", pa.float64())]))
    for batch in range(2):
        columns = {"k": [batch + 1] * rows, "f": real, "r": records, "t": ["a", "b", None, "c"]}
        table = pa.table(columns | {"t": columns["t"] * (rows // 4)})
        files = ParquetWriter(lake.storage, batch).write(PATH, table, arranged)
        lake.committer.commit(PATH, configuration(arranged), files, batch)
    quarter = rows // 4
    before = lake.counts(COUNTED)
    assert before["f > 10"] == (2 * quarter, 2 * quarter)
    assert lake.kept().compacted == 2
    assert lake.counts(COUNTED) == before
    table = delta.open_table(lake.storage, PATH)
    assert table is not None
    (stats,) = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert (stats["min.k"], stats["max.k"], stats["null_count.t"]) == (1, 2, 2 * quarter)
    assert not {"min.f", "max.f", "min.r.f"} & {name for name, one in stats.items() if one}


def test_a_dry_run_changes_nothing(lake: Lake) -> None:
    lake.land(4)
    stray = lake.stray("stray.parquet", age=1000)
    found = lake.kept(dry_run=True)
    assert (found.compacted, found.into, found.unowned, found.freed) == (4, 1, 1, 5)
    assert stray.exists()
    table = delta.open_table(lake.storage, PATH)
    assert table is not None
    assert table.version() == 3


def test_one_at_a_time_looks_after_a_warehouse(lake: Lake) -> None:
    """Of two compactions of the same files both would be committed, and rows be there twice."""
    lake.land(4)
    before = lake.numbers
    with lake.storage.locked("_checkpoint/maintain/lock") as free:
        assert free
        with pytest.raises(WarehouseError, match=r"by another process \(wait for it\)"):
            lake.kept()
        assert lake.kept(dry_run=True).compacted == 4
    assert lake.kept().compacted == 4
    assert lake.numbers == before


def test_old_versions_go(lake: Lake) -> None:
    lake.land(3)
    lake.kept()
    assert lake.kept().removed == 0
    found = lake.kept(retention=0)
    assert found.removed == 3
    assert found.freed > 0
    assert len(lake.numbers) == 6
    assert len(list((lake.folder / PATH).glob("*.parquet"))) == 1
    assert lake.kept(retention=0).removed == 0


def test_part_of_an_hour_counts_as_a_whole_one(lake: Lake) -> None:
    """A retention is never shorter than was said: readers rely on it."""
    lake.land(3)
    lake.kept()
    assert lake.kept(retention=0.5).removed == 0
    assert lake.kept(retention=0).removed == 3


def test_what_nobody_owns_goes_when_it_is_old(lake: Lake) -> None:
    lake.land(1)
    old, young = lake.stray("old.parquet", age=200), lake.stray("young.parquet", age=23)
    assert lake.kept().unowned == 1
    assert not old.exists()
    assert lake.kept(retention=0).unowned == 0
    assert young.exists()


@pytest.mark.parametrize("place", ["_checkpoint", "_checkpoint/replay", "elsewhere", "noted"])
def test_what_a_batch_will_commit_stays(lake: Lake, tmp_path: Path, place: str) -> None:
    lake.land(1)
    stray = lake.stray("prepared.parquet", age=1000)
    usual = place.startswith("_checkpoint")
    checkpoint = str(lake.folder / place if usual else tmp_path / place)
    ledger = Ledger.open(checkpoint)
    file = ManifestFile(table=PATH, name=stray.name, rows=1, size=5)
    manifest = Manifest(batch=7, files=(file,), tables={PATH: configuration()})
    ledger.prepare(manifest)
    told = (checkpoint,) if place == "elsewhere" else ()
    if place == "noted":
        lake.storage.write(f"_checkpoints/{ledger.job}", checkpoint.encode())
    assert lake.kept(checkpoints=told).unowned == 0
    assert stray.exists()
    ledger.commit(manifest)
    assert lake.kept(checkpoints=told).unowned == 1


def test_files_stay_while_a_job_cannot_be_asked(lake: Lake, tmp_path: Path) -> None:
    """Its checkpoint is on another machine, or has been moved."""
    lake.land(1)
    stray = lake.stray("prepared.parquet", age=1000)
    ledger = Ledger.open(str(tmp_path / "progress"))
    file = ManifestFile(table=PATH, name=stray.name, rows=1, size=5)
    ledger.prepare(Manifest(batch=7, files=(file,), tables={PATH: configuration()}))
    note(lake.storage, ledger)
    moved = tmp_path / "moved"
    (tmp_path / "progress").rename(moved)
    found = lake.kept()
    assert (found.removed, found.unowned) == (0, 0)
    assert found.left.startswith("files without an owner stay (1): a job that may yet commit them")
    assert found.left.endswith(ledger.storage.url)
    assert stray.exists()
    told = lake.kept(checkpoints=(str(moved),))
    assert (told.unowned, told.left) == (0, "")
    (lake.folder / "_checkpoints" / ledger.job).unlink()
    assert lake.kept().unowned == 1


@pytest.mark.parametrize("hours", [720, 200.5])
def test_a_long_retention_outlives_what_the_log_remembers(lake: Lake, hours: float) -> None:
    """The log forgets removed files after a week; they still had a version an hour ago."""
    lake.land(3)
    lake.kept(retention=hours)
    then = time.time() - 200 * HOUR
    for entry in sorted((lake.folder / PATH / "_delta_log").glob("*.json")):
        actions = [json.loads(one) for one in entry.read_text().splitlines()]
        for action in actions:
            if "remove" in action:
                action["remove"]["deletionTimestamp"] = int(then * 1000)
        entry.write_text("\n".join(json.dumps(one) for one in actions))
    files = list((lake.folder / PATH).glob("part-*.parquet"))
    for file in files:
        os.utime(file, (then - 1000 * HOUR, then - 1000 * HOUR))
    table = delta.open_table(lake.storage, PATH)
    assert table is not None
    table.create_checkpoint()
    found = lake.kept(retention=hours)
    assert (found.removed, found.unowned) == (0, 0)
    assert lake.kept().removed == 3


def test_a_table_that_remembers_long_enough_is_left_as_it_is(lake: Lake) -> None:
    lake.land(1)
    versions = []
    for hours in (168, 720, 720, 300):
        lake.kept(retention=hours)
        table = delta.open_table(lake.storage, PATH)
        assert table is not None
        versions.append(table.version())
    assert versions == [0, 1, 1, 1]
    table.alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 9 days"})
    lake.kept(retention=720)
    table.update_incremental()
    assert table.version() == 2


@pytest.mark.parametrize("dry_run", [False, True], ids=["done", "dry"])
@pytest.mark.parametrize("hours", [float("nan"), float("inf"), -1.0, 876_000.5, 1e300], ids=str)
def test_a_retention_without_sense_changes_nothing(lake: Lake, hours: float, dry_run: bool) -> None:
    lake.land(3)
    before = lake.version, lake.table.metadata().configuration
    with pytest.raises(UsageError, match="give a retention from 0 to 876,000 hours"):
        lake.maintain(retention=hours, dry_run=dry_run)
    assert (lake.version, lake.table.metadata().configuration) == before


def test_the_longest_retention_is_kept(lake: Lake) -> None:
    assert upkeep.LONGEST_RETENTION == HOURS
    lake.land(3)
    found = lake.kept(retention=float(HOURS))
    assert (found.compacted, found.removed, found.unowned) == (3, 0, 0)
    told = lake.table.metadata().configuration
    assert told["delta.deletedFileRetentionDuration"] == f"interval {HOURS} hours"


def test_old_manifests_go(lake: Lake) -> None:
    lake.land(1)
    ledger = Ledger.open(str(lake.folder / "_checkpoint"))
    for batch in range(105):
        ledger.prepare(Manifest(batch=batch, files=(), tables={}, committed=True))
    assert lake.maintain(dry_run=True).manifests == 5
    assert lake.maintain().manifests == 5
    assert ledger.manifest(4) is None
    assert ledger.manifest(5) is not None
    assert lake.maintain().manifests == 0


def test_only_what_is_asked_for(lake: Lake) -> None:
    lake.land(3)
    lake.stray("old.parquet", age=1000)
    found = lake.kept(vacuum=False)
    assert (found.compacted, found.unowned) == (3, 0)
    lake.land(2, first=3)
    found = lake.kept(compact=False)
    assert (found.compacted, found.unowned) == (0, 1)
    with pytest.raises(WarehouseError, match="there is no table no"):
        lake.maintain(tables=("no.such.table",))
    assert lake.kept(tables=(NAME,)).table == NAME


def test_the_tables_of_the_warehouse_itself(lake: Lake) -> None:
    lake.land(1)
    delta.create_table(lake.storage, "_dead_letters", pa.schema([("line", pa.binary())]), {})
    assert [kept.table for kept in lake.maintain().tables] == ["_dead_letters", NAME]


def test_a_running_job_goes_on(lake: Lake) -> None:
    """A job that knew where the table stood finds that it moved."""
    lake.land(3)
    lake.kept(retention=0)
    lake.land(3, first=3)
    assert lake.numbers == sorted(n for batch in range(6) for n in (batch, -batch))


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (3e15, "3000.0 TB")],
    ids=str,
)
def test_sizes(size: float, text: str) -> None:
    assert size_text(size) == text


def test_the_command(lake: Lake) -> None:
    lake.land(3)
    lake.stray("old.parquet", age=1000)
    run = CliRunner().invoke(command, ["--warehouse", str(lake.folder), "--dry-run"])
    assert run.exit_code == 0, run.output
    assert run.output == (
        "d.g.m\n  3 files made into 1\n  1 file without an owner removed\n"
        "1 table, 1 in need, 5 B freed (dry run: nothing was changed)\n"
    )
    run = CliRunner().invoke(command, ["--warehouse", str(lake.folder), "--compact", "-o", "json"])
    (told,) = json.loads(run.output)["tables"]
    assert (told["compacted"], told["into"], told["unowned"]) == (3, 1, 0)
    run = CliRunner().invoke(command, ["--warehouse", str(lake.folder), "--vacuum"])
    assert "1 file without an owner removed" in run.output
