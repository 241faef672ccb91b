"""Letters land where their job would have landed them, however many jobs a warehouse has."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline import replay as replaying
from heraldry.pipeline.job import LandJob
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.plans import keep_plan, kept_plans
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import replay_chunk
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, fixed
from heraldry.pipeline.settings import LandSettings
from tests.pipeline.letters.lettering import land_lines, mask_letters, replays, table_column
from tests.pipeline.test_replay import FIRST, MENDED, counts, message, run
from tests.suites.streams import document, line, xid

SHOP = TablePlan(database="shop", partition_by=("_day",), keep_payload=True, cluster_by=("ce_id",))
BERLIN = TablePlan(database="berlin")


def land(lake: Path, plan: TablePlan | None, numbers: range, name: str = "", **more: Any) -> None:
    """Letters of refunds, by a job of its own for each name."""
    lines = [message(number, 1) for number in numbers]
    checkpoint = f"{lake}/_checkpoint{name}"
    source = f"file{name}-{more.get('batch', 0)}"
    land_lines(lake, FIRST, lines, source=source, plan=plan, checkpoint=checkpoint, **more)


def landed(lake: Path) -> dict[str, list[object]]:
    """The refunds of every database."""
    found = {name: table_column(lake, f"{name}/shop/refund", "ce_id") for name in _databases(lake)}
    return {name: sorted(ids, key=str) for name, ids in found.items() if ids}


def _databases(lake: Path) -> list[str]:
    return sorted(path.name for path in lake.iterdir() if not path.name.startswith("_"))


def ids(numbers: range) -> list[str]:
    return sorted(f"m-{number}" for number in numbers)


def test_letters_land_by_the_plan_of_their_job(tmp_path: Path) -> None:
    land(tmp_path, SHOP, range(3))
    assert run(tmp_path, dry_run=True).tables == {"shop.shop.refund": 3}
    assert run(tmp_path).tables == {"shop.shop.refund": 3}
    assert landed(tmp_path) == {"shop": ids(range(3))}
    table = delta.open_table(Storage(str(tmp_path)), "shop/shop/refund")
    assert table is not None
    assert table.metadata().partition_columns == ["_day"]
    assert table_column(tmp_path, "shop/shop/refund", "_payload") == [
        json.dumps({"amount": n}).encode() for n in range(3)
    ]
    assert json.loads(table.metadata().configuration["heraldry.cluster"]) == ["ce_id"]
    assert {row["table"] for row in replays(tmp_path).to_pylist()} == {"shop.shop.refund"}


def test_variants_land_with_their_base_where_the_job_says_so(tmp_path: Path) -> None:
    variant = {
        "basemessage": xid("refund"),
        "envelope": MENDED["refund"]["envelope"],
        "envelopemetadata": {"subject": {"value": "big", "required": True}},
    }
    common = {"specversion": "1.0", "id": "b", "source": "/shops/berlin", "subject": "big"}
    big = line(common | {"type": "shop.refund", "data": {"amount": 1}})
    land_lines(tmp_path, FIRST, [big], plan=TablePlan(with_base=True))
    report = run(tmp_path, document(MENDED | {"big": variant}))
    assert report.tables == {"default.shop.refund": 1}


def test_one_replay_serves_jobs_of_several_databases(tmp_path: Path) -> None:
    land(tmp_path, SHOP, range(3))
    land(tmp_path, BERLIN, range(3, 5), "-b")
    land(tmp_path, SHOP, range(5, 7), batch=1)
    tables = {"shop.shop.refund": 5, "berlin.shop.refund": 2}
    assert run(tmp_path, dry_run=True).tables == tables
    report = run(tmp_path)
    assert (counts(report), report.tables) == ((7, 0, 0, 0), tables)
    assert landed(tmp_path) == {
        "berlin": ids(range(3, 5)),
        "shop": ids(range(3)) + ids(range(5, 7)),
    }
    assert counts(run(tmp_path)) == (0, 0, 0, 0)


def test_jobs_of_one_table_with_other_plans(tmp_path: Path) -> None:
    """Whoever comes first makes the table; the other one fits its rows to it."""
    land(tmp_path, SHOP, range(3))
    land(tmp_path, TablePlan(database="shop"), range(3, 5), "-b")
    assert run(tmp_path).tables == {"shop.shop.refund": 5}
    payloads = table_column(tmp_path, "shop/shop/refund", "_payload")
    assert Counter(one is None for one in payloads) == {False: 3, True: 2}


def test_what_is_given_wins_over_every_plan(tmp_path: Path) -> None:
    land(tmp_path, SHOP, range(3))
    land(tmp_path, BERLIN, range(3, 5), "-b")
    land(tmp_path, None, range(5, 6), "-old")
    report = run(tmp_path, database="mended", partition_by=("_source",))
    assert report.tables == {"mended.shop.refund": 6}
    table = delta.open_table(Storage(str(tmp_path)), "mended/shop/refund")
    assert table is not None
    assert table.metadata().partition_columns == ["_source"]
    payloads = table_column(tmp_path, "mended/shop/refund", "_payload")
    assert sum(one is not None for one in payloads) == 3, "what is not given is the job's"


def test_the_newest_plan_of_a_job_counts(tmp_path: Path) -> None:
    land(tmp_path, BERLIN, range(3))
    keep_plan(Storage(str(tmp_path)), Ledger.open(f"{tmp_path}/_checkpoint").job, SHOP)
    assert run(tmp_path).tables == {"shop.shop.refund": 3}


def good(lake: Path, plan: TablePlan, name: str) -> None:
    """A row that lands, so that its database is there."""
    told = {"specversion": "1.0", "id": "g", "source": "/shops/berlin", "type": "shop.scan"}
    lines = [line(told | {"data": {"tag": "t", "weight": 1}})]
    land_lines(lake, FIRST, lines, batch=9, plan=plan, checkpoint=f"{lake}/_checkpoint{name}")


def test_letters_of_an_unknown_job_go_to_the_only_database(tmp_path: Path) -> None:
    land(tmp_path, None, range(2))
    good(tmp_path, BERLIN, "-b")
    for kept in (tmp_path / "_plans").iterdir():
        kept.unlink()  # as if the warehouse were older than plans
    (tmp_path / "notes" / "of" / "others").mkdir(parents=True)
    assert run(tmp_path, dry_run=True).tables == {"berlin.shop.refund": 2}
    assert run(tmp_path).tables == {"berlin.shop.refund": 2}


@pytest.mark.parametrize("dry", [True, False], ids=["dry-run", "replay"])
def test_letters_of_an_unknown_job_are_not_guessed(
    tmp_path: Path, dry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where such a letter comes last: nothing of the others has landed before it is told."""
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    land(tmp_path, SHOP, range(2))
    good(tmp_path, BERLIN, "-b")
    land(tmp_path, None, range(2, 4), "-old")
    with pytest.raises(UsageError, match=r"berlin, shop: give --database"):
        run(tmp_path, dry_run=dry)
    assert landed(tmp_path) == {}
    assert run(tmp_path, where=("source=file-0",)).tables == {"shop.shop.refund": 2}
    assert run(tmp_path, database="berlin").tables == {"berlin.shop.refund": 2}
    # what is done with is not asked for its plan
    assert counts(run(tmp_path)) == (0, 0, 0, 0)


def test_letters_beyond_the_limit_are_not_asked_for_their_plan(tmp_path: Path) -> None:
    land(tmp_path, SHOP, range(2))
    land(tmp_path, BERLIN, range(2, 4), "-b")
    land(tmp_path, None, range(4, 6), "-old")
    assert run(tmp_path, limit=4).landed == 4
    with pytest.raises(UsageError, match="--database"):
        run(tmp_path, limit=1)


def test_messages_inside_foreign_letters_have_no_job(tmp_path: Path) -> None:
    headers = {"__connect.errors.topic": "belts", "__connect.errors.exception.message": "away"}
    metadata = {"topic": "connect-dlq", "headers": headers}
    letter = line({"protocol": "KAFKA", "metadata": metadata, "payload": {"speed": 1}})
    land_lines(tmp_path, FIRST, [letter], plan=TablePlan(database="letters"))
    good(tmp_path, BERLIN, "-b")
    with pytest.raises(UsageError, match="--database"):
        run(tmp_path, foreign=True)
    assert run(tmp_path, foreign=True, database="berlin").tables == {"berlin.shop.belt": 1}


def test_masked_letters_need_no_plan(tmp_path: Path) -> None:
    land_lines(tmp_path, FIRST, [message(1, 0)], plan=SHOP)
    good(tmp_path, BERLIN, "-b")
    mask_letters(tmp_path, ["total"], batch=5)
    assert counts(run(tmp_path)) == (1, 0, 1, 0)


def _killed(*given: object) -> None:
    raise KeyboardInterrupt


def _killed_amid(monkeypatch: pytest.MonkeyPatch, lake: Path, deed: str) -> None:
    """A replay that dies at its first manifest: before it is written, or before it is committed."""
    with monkeypatch.context() as dying:
        if deed == "decided":
            dying.setattr(replaying, "commit_manifest", _killed)
        else:
            dying.setattr(Ledger, "prepare", _killed)
        with pytest.raises(KeyboardInterrupt):
            run(lake)


@pytest.mark.parametrize("once", [True, False], ids=["identities", "plain"])
def test_killed_amid_what_was_decided_lands_by_its_plan(
    tmp_path: Path, once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, SHOP, range(3), once=once)
    land(tmp_path, BERLIN, range(3, 5), "-b", once=once)
    _killed_amid(monkeypatch, tmp_path, "decided")
    # Meanwhile both jobs began anew with other options.
    for name in ("", "-b"):
        ledger = Ledger.open(f"{tmp_path}/_checkpoint{name}")
        keep_plan(Storage(str(tmp_path)), ledger.job, TablePlan(database=f"new{name}"))
    report = run(tmp_path)
    assert (report.finished, report.tables) == (1, {"new-b.shop.refund": 2})
    assert landed(tmp_path) == {"shop": ids(range(3)), "new-b": ids(range(3, 5))}
    assert counts(run(tmp_path)) == (0, 0, 0, 0)
    outcomes = Counter(row["outcome"] for row in replays(tmp_path).to_pylist())
    assert outcomes == {"landed": 5}


def test_killed_before_it_was_decided_lands_by_the_plan_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, SHOP, range(3))
    _killed_amid(monkeypatch, tmp_path, "undecided")
    keep_plan(Storage(str(tmp_path)), Ledger.open(f"{tmp_path}/_checkpoint").job, BERLIN)
    assert run(tmp_path).tables == {"berlin.shop.refund": 3}
    assert landed(tmp_path) == {"berlin": ids(range(3))}


@pytest.fixture
def begin(tmp_path: Path) -> Callable[..., str]:
    """Begin a job as a run does before Spark starts: its name."""

    def begun(catalog: bytes = FIRST, **more: Any) -> str:
        inbox = tmp_path / "inbox"
        inbox.mkdir(exist_ok=True)
        settings = LandSettings(source=f"files:{inbox}", warehouse=str(tmp_path / "lake"), **more)
        watch = CatalogWatch(fixed(load_bytes(catalog, "catalog")), 0.0)
        job = LandJob(watch, settings, [])
        job.finish()
        return job.ledger.job

    return begun


def test_a_job_keeps_its_plan_before_it_reads(tmp_path: Path, begin: Callable[..., str]) -> None:
    given: dict[str, Any] = {"database": "shop", "keep_payload": True, "partition_by": ("_day",)}
    job = begin(**given, cluster_by=("ce_id",), with_base=True)
    storage = Storage(str(tmp_path / "lake"))
    whole = TablePlan(**given, cluster_by=("ce_id",), with_base=True)
    assert kept_plans(storage) == {job: whole}
    other = begin(checkpoint=str(tmp_path / "progress"))
    assert kept_plans(storage) == {job: whole, other: TablePlan()}
    assert begin(**given) == job
    assert kept_plans(storage)[job] == TablePlan(**given)


def test_a_plan_that_does_not_fit_its_tables_is_not_kept(
    tmp_path: Path, begin: Callable[..., str]
) -> None:
    lake = tmp_path / "lake"
    job = begin(database="berlin")
    good(lake, BERLIN, "")
    with pytest.raises(WarehouseError, match="no partitions"):
        begin(database="berlin", partition_by=("_day",))
    assert kept_plans(Storage(str(lake)))[job] == BERLIN


def test_the_database_of_an_endpoint_is_in_the_plan(
    tmp_path: Path, begin: Callable[..., str]
) -> None:
    """Nobody named a database: it is the endpoint's."""
    whole = json.loads(FIRST)
    endpoint = {
        "endpointid": "till",
        "usage": ["consumer"],
        "protocol": "KAFKA",
        "protocoloptions": {
            "endpoints": [{"uri": "kafka://127.0.0.1:9"}],
            "options": {"topic": "orders"},
        },
    }
    whole["endpoints"] = {"till": endpoint}
    watch = CatalogWatch(fixed(load_bytes(json.dumps(whole).encode(), "catalog")), 0.0)
    settings = LandSettings(source="endpoint:till", warehouse=str(tmp_path / "lake"))
    job = LandJob(watch, settings, [])
    job.finish()
    plans = kept_plans(Storage(str(tmp_path / "lake")))
    assert plans == {job.ledger.job: TablePlan(database="till")}
    land(tmp_path / "lake", plans[job.ledger.job], range(2))
    assert run(tmp_path / "lake").tables == {"till.shop.refund": 2}
