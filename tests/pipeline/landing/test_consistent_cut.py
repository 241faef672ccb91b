"""A consistent cut: a batch is in all of its tables or in none, wherever its job was stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.cli import main
from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.checkpoints import note
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import DEAD_LETTERS, TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import sample_rows
from heraldry.pipeline.landing import batches, committing
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, fixed
from heraldry.pipeline.landing.committing import commit_manifest
from heraldry.pipeline.landing.consistent_cut import cut
from heraldry.pipeline.maintain import Upkeep, maintain
from heraldry.pipeline.replay import ReplaySettings, replay
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from tests.pipeline.landing.local_frame import frame_of
from tests.suites.streams import NUMBER, TEXT, document, kind, line, record

ORDER, SCAN = "default/shop/order", "default/shop/scan"
FIRST = {
    "order": dict(kind("order", record("id", id=TEXT)).definition),
    "scan": dict(kind("scan", record("tag", tag=TEXT)).definition),
}
SECOND = FIRST | {"order": dict(kind("order", record("id", id=TEXT, total=NUMBER)).definition)}
MENDED = FIRST | {"scan": dict(kind("scan", record(tag=TEXT)).definition)}


class Killed(BaseException):
    """The process ends here."""


def orders(*numbers: int) -> list[bytes]:
    return [event("order", number, {"id": "1", "total": 2}) for number in numbers]


def scans(*numbers: int) -> list[bytes]:
    return [event("scan", number, {"tag": "t"}) for number in numbers]


def refunds(*numbers: int) -> list[bytes]:
    """Dead letters: there is no such definition."""
    return [event("refund", number, {"id": "1"}) for number in numbers]


def event(name: str, number: int, data: Mapping[str, Any]) -> bytes:
    common = {"specversion": "1.0", "source": "/shops/berlin", "type": f"shop.{name}"}
    return line(common | {"id": f"{name}-{number}", "data": data})


def checkpoint(lake: Path, name: str) -> str:
    return str(lake / f"_checkpoint-{name}")


class Job:
    """One process of a job with a checkpoint of its own; it begins by finishing what it finds."""

    def __init__(
        self, lake: Path, name: str = "one", definitions: Mapping[str, Any] = FIRST
    ) -> None:
        storage, ledger = Storage.open(str(lake)), Ledger.open(checkpoint(lake, name))
        note(storage, ledger)
        told = LandSettings(source=f"files:{lake}", warehouse=str(lake))
        self.lander = BatchLander(
            settings=told,
            committer=Committer(storage, ledger.job),
            ledger=ledger,
            source=FilesSource(str(lake), told),
            watch=CatalogWatch(fixed(load_bytes(document(dict(definitions)), "c")), 0.0),
            plan=TablePlan(),
            run="run",
            breaker=Breaker(None, ledger),
            window=None,
        )
        pending = ledger.pending()
        if pending is not None:
            commit_manifest(self.lander.committer, ledger, pending)
        self.lander.fit(self.lander.watch.current())

    def land(self, batch: int, lines: list[bytes]) -> None:
        self.lander.land(cast("Any", frame_of(lines, 100 * batch, 1)), batch)

    def land_half(self, batch: int, lines: list[bytes]) -> None:
        """A batch that is killed when it has committed to one of its tables."""
        with dying((ORDER,)), pytest.raises(Killed):
            self.land(batch, lines)


@contextmanager
def dying(only: tuple[str, ...]) -> Iterator[None]:
    """Kill whoever has committed to these tables alone, of all that a batch has."""
    commit_table = committing._commit_table

    def commit(committer: Any, manifest: Any, path: str, files: Any) -> int:
        return commit_table(committer, manifest, path, files) if path in only else 0

    def die(*_: Any) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committing, "_commit_table", commit)
        patch.setattr(batches, "record", die)
        yield


def seen(lake: Path) -> dict[str, list[str]]:
    """The messages that are in a cut, by table, as two readers see them alike."""
    found = {}
    for one in cut(str(lake)):
        name = "position" if one.table.startswith("_dead") else "ce_id"
        if one.table == "_replays":
            continue
        rows = DeltaTable(one.path, version=one.version).to_pyarrow_dataset()  # noqa: F841
        ids = duckdb.sql(f"select {name} from rows order by 1").fetchall()
        frame = pl.read_delta(one.path, version=one.version).sort(name)
        assert frame[name].to_list() == [value for (value,) in ids]
        if ids:
            found[one.table.rpartition(".")[2]] = [value for (value,) in ids]
    return found


@pytest.mark.parametrize(
    "committed", [(), (ORDER,), (SCAN,), (ORDER, SCAN)], ids=["none", "order", "scan", "both"]
)
def test_a_batch_is_in_no_table_until_it_is_in_all(
    tmp_path: Path, committed: tuple[str, ...]
) -> None:
    Job(tmp_path).land(0, [*orders(1), *scans(1)])
    before = {"order": ["order-1"], "scan": ["scan-1"]}
    assert seen(tmp_path) == before
    with dying(committed), pytest.raises(Killed):
        Job(tmp_path).land(1, [*orders(2), *scans(2)])
    assert seen(tmp_path) == before
    Job(tmp_path)
    assert seen(tmp_path) == {"order": ["order-1", "order-2"], "scan": ["scan-1", "scan-2"]}


@pytest.mark.parametrize("name", ["my lake", "büro"], ids=ascii)
def test_a_warehouse_whose_path_has_a_space_or_an_odd_letter(tmp_path: Path, name: str) -> None:
    Job(tmp_path / name).land(0, [*orders(1), *scans(1, 2)])
    found = cut(str(tmp_path / name))
    assert [one.table for one in found] == ["default.shop.order", "default.shop.scan"]
    assert [len(sample_rows(one.path, 10)) for one in found] == [1, 2]


def test_a_first_batch_that_is_not_whole(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no such warehouse"):
        cut(str(tmp_path / "nothing"))
    Job(tmp_path).land_half(0, [*orders(1), *scans(1)])
    assert cut(str(tmp_path)) == ()
    Job(tmp_path)
    assert seen(tmp_path) == {"order": ["order-1"], "scan": ["scan-1"]}


def test_a_table_is_read_with_the_columns_that_it_has_in_the_cut(tmp_path: Path) -> None:
    """Two tables, then one of them alone by another catalog, then both and killed."""
    Job(tmp_path).land(0, [*orders(1), *scans(1)])
    later = Job(tmp_path, definitions=SECOND)  # a version of the table without rows
    assert seen(tmp_path) == {"order": ["order-1"], "scan": ["scan-1"]}
    later.land(1, orders(2))
    whole = {"order": ["order-1", "order-2"], "scan": ["scan-1"]}
    assert seen(tmp_path) == whole
    later.land_half(2, [*orders(3), *scans(3)])
    assert seen(tmp_path) == whole
    version = {one.path: one.version for one in cut(str(tmp_path))}[str(tmp_path / ORDER)]
    rows = pl.read_delta(str(tmp_path / ORDER), version=version).sort("ce_id")
    assert rows["total"].to_list() == [None, 2.0]


def test_a_batch_of_another_job_that_is_not_whole(tmp_path: Path) -> None:
    """What has been committed after it, in a table of both, waits with it: in all of its tables."""
    one, other = Job(tmp_path), Job(tmp_path, "other")
    other.land(0, [*orders(1), *scans(1)])
    one.land_half(0, [*orders(2), *scans(2)])
    other.land(1, [*orders(3), *scans(3)])
    other.land(2, scans(4))
    assert DeltaTable(str(tmp_path / ORDER)).version() == 3
    assert seen(tmp_path) == {"order": ["order-1"], "scan": ["scan-1"]}
    Job(tmp_path)
    assert seen(tmp_path) == {
        "order": ["order-1", "order-2", "order-3"],
        "scan": ["scan-1", "scan-2", "scan-3", "scan-4"],
    }


def test_a_batch_of_another_job_in_other_tables_holds_nothing_back(tmp_path: Path) -> None:
    one, other = Job(tmp_path), Job(tmp_path, "other")
    other.land(0, scans(1))
    one.land_half(0, [*orders(1), *refunds(1)])
    other.land(1, scans(2))
    assert seen(tmp_path) == {"scan": ["scan-1", "scan-2"]}


def test_a_version_that_a_batch_names_has_another_job_in_it(tmp_path: Path) -> None:
    """A killed batch that is finished names versions as it finds them."""
    one, other = Job(tmp_path), Job(tmp_path, "other")
    one.land_half(0, [*orders(1), *scans(1)])
    other.land_half(0, [*orders(2), *scans(2)])
    Job(tmp_path)
    (row,) = batches.batches(Storage.open(str(tmp_path))).to_pylist()
    assert json.loads(row["tables"])[ORDER] == DeltaTable(str(tmp_path / ORDER)).version()
    assert seen(tmp_path) == {"order": ["order-1"], "scan": ["scan-1"]}


def test_a_replay_that_is_not_whole(tmp_path: Path) -> None:
    Job(tmp_path).land(0, [*scans(1), event("scan", 2, {})])
    mended = load_bytes(document(MENDED), "c")
    told = ReplaySettings(warehouse=str(tmp_path), database="default")
    before = {"scan": ["scan-1"], "_dead_letters": ["1+0"]}
    with dying((SCAN,)), pytest.raises(Killed):
        replay(mended, told)
    assert pl.read_delta(str(tmp_path / SCAN)).height == 2
    assert seen(tmp_path) == before
    replay(mended, told)
    assert seen(tmp_path) == before | {"scan": ["scan-1", "scan-2"]}
    assert "_replays" in {one.table for one in cut(str(tmp_path))}


deeds = st.lists(
    st.tuples(
        st.sampled_from(["one", "other"]),
        st.sets(st.sampled_from([ORDER, SCAN, DEAD_LETTERS]), min_size=1),
        st.none() | st.sets(st.sampled_from([ORDER, SCAN, DEAD_LETTERS])),
    ),
    min_size=1,
    max_size=7,
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(deeds)
def test_whatever_jobs_were_stopped_where(
    tmp_path_factory: pytest.TempPathFactory,
    plan: list[tuple[str, set[str], set[str] | None]],
) -> None:
    """No batch is in a part of its tables, and no cut has less than the one before."""
    lake = tmp_path_factory.mktemp("lake")
    made = {ORDER: orders, SCAN: scans, DEAD_LETTERS: refunds}
    done: dict[str, list[set[str]]] = {"one": [], "other": []}
    before: dict[tuple[str, int], set[str]] = {}
    for name, tables, stopped in plan:
        job, number = Job(lake, name), len(done[name])
        lines = [one for path in sorted(tables) for one in made[path](number)]
        done[name].append(tables)
        if stopped is None:
            job.land(number, lines)
        else:
            with dying(tuple(stopped)), pytest.raises(Killed):
                job.land(number, lines)
        now = held(lake, {job_of(lake, each): each for each in done})
        assert all(there == done[each][batch] for (each, batch), there in now.items())
        assert before.keys() <= now.keys()
        before = now
    for name in done:
        Job(lake, name)
    now = held(lake, {job_of(lake, each): each for each in done})
    assert now == {(name, n): there for name, some in done.items() for n, there in enumerate(some)}
    shutil.rmtree(lake)


def job_of(lake: Path, name: str) -> str:
    """What stands for a job in the logs of tables."""
    return Ledger.open(checkpoint(lake, name)).job


def held(lake: Path, jobs: Mapping[str, str]) -> dict[tuple[str, int], set[str]]:
    """The tables that each batch of a cut is in, by the logs up to the version of each."""
    found: dict[tuple[str, int], set[str]] = {}
    for one in cut(str(lake)):
        for version in range(one.version + 1):
            log = Path(one.path, f"_delta_log/{version:020d}.json").read_text()
            for action in map(json.loads, log.splitlines()):
                if "txn" in action:
                    batch = jobs[action["txn"]["appId"]], action["txn"]["version"]
                    found.setdefault(batch, set()).add(str(Path(one.path).relative_to(lake)))
    return found


def compact(lake: Path) -> None:
    maintain(Upkeep(warehouse=str(lake), retention=0.0))


@pytest.mark.parametrize("half", [False, True], ids=["whole", "half"])
@pytest.mark.parametrize(
    "upkeep", [compact, DeltaTable.create_checkpoint], ids=["maintained", "checkpointed"]
)
def test_a_table_that_was_maintained(
    tmp_path: Path, half: bool, upkeep: Callable[[Any], None]
) -> None:
    """Files of the versions that the ledger names may be gone: newer ones hold the same."""
    job = Job(tmp_path)
    for batch in range(3):
        job.land(batch, [*orders(batch), *scans(batch)])
    whole = {name: [f"{name}-{batch}" for batch in range(3)] for name in ("order", "scan")}
    upkeep(tmp_path if upkeep is compact else DeltaTable(str(tmp_path / ORDER)))
    assert seen(tmp_path) == whole
    if half:
        job.land_half(3, [*orders(3), *scans(3)])
        assert seen(tmp_path) == whole
        Job(tmp_path)
    assert len(seen(tmp_path)["order"]) == 3 + half


def test_a_table_that_was_compacted_with_a_batch_that_is_not_whole(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.land(0, [*orders(1), *scans(1)])
    job.land_half(1, [*orders(2), *scans(2)])
    before = DeltaTable(str(tmp_path / ORDER)).version()
    maintain(Upkeep(warehouse=str(tmp_path), vacuum=False))
    assert DeltaTable(str(tmp_path / ORDER)).version() == before + 1
    assert seen(tmp_path) == {"order": ["order-1"], "scan": ["scan-1"]}


def test_the_versions_before_a_batch_that_was_not_finished_are_gone(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.land(0, [*orders(1), *scans(1)])
    job.land_half(1, [*orders(2), *scans(2)])
    DeltaTable(str(tmp_path / ORDER)).create_checkpoint()
    for version in (0, 1):
        (tmp_path / ORDER / f"_delta_log/{version:020d}.json").unlink()
    with pytest.raises(WarehouseError, match="run the job that was stopped"):
        cut(str(tmp_path))
    Job(tmp_path)
    assert len(seen(tmp_path)["order"]) == 2


def test_a_table_that_was_moved_away(tmp_path: Path) -> None:
    """What it had is in no version; that is no reason to leave out what others have."""
    job, other = Job(tmp_path), Job(tmp_path, "other")
    job.land(0, [*orders(1), *scans(1)])
    (tmp_path / ORDER).rename(tmp_path / "_away")
    assert seen(tmp_path) == {"scan": ["scan-1"]}
    other.land(0, orders(2))
    assert seen(tmp_path) == {"order": ["order-2"], "scan": ["scan-1"]}


def test_the_command_tells_versions(tmp_path: Path) -> None:
    Job(tmp_path).land(0, [*orders(1), *scans(1)])
    told = ["tables", "--warehouse", str(tmp_path), "--cut"]
    result = CliRunner().invoke(main, [*told, "--format", "json"])
    assert json.loads(result.stdout) == [
        {"table": "default.shop.order", "path": str(tmp_path / ORDER), "version": 1},
        {"table": "default.shop.scan", "path": str(tmp_path / SCAN), "version": 1},
    ]
    lines = CliRunner().invoke(main, told).stdout.splitlines()
    assert lines[0] == f"default.shop.order  version 1  {tmp_path / ORDER}"
    result = CliRunner().invoke(main, [*told, "--rows", "1"])
    assert result.exit_code == 2
    assert "--rows is for the tables as they are now" in result.stderr
