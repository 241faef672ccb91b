"""Whether the tables of a replay can be landed is asked before a letter is judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline import replay as replaying
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.plans import keep_plan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import replay_chunk
from heraldry.pipeline.landing.lander import WorkOrder
from heraldry.pipeline.landing.relanding import Relanded, reland
from tests.pipeline.letters.lettering import land_lines, mask_letters, replays
from tests.pipeline.test_replay import FIRST, MENDED, SECOND, counts, message, run
from tests.pipeline.test_replay_plans import BERLIN, SHOP, good, land, landed
from tests.suites.streams import NUMBER, TEXT, document, kind, line, record


def test_masked_letters_alone_fit_no_table(tmp_path: Path) -> None:
    """No letter is judged, so that nothing is asked of any table, nor added to one."""
    good(tmp_path, TablePlan(), "-b")
    land_lines(tmp_path, FIRST, [message(1, 0)], plan=SHOP)
    mask_letters(tmp_path, ["total"], batch=5)
    more = dict(kind("scan", record(tag=TEXT, weight=NUMBER, note=TEXT)).definition)
    report = run(tmp_path, document(MENDED | {"scan": more}), where=("source=masked-*",))
    assert counts(report) == (0, 0, 1, 0)
    assert [row["outcome"] for row in replays(tmp_path).to_pylist()] == ["masked"]
    table = delta.open_table(Storage(str(tmp_path)), "default/shop/scan")
    assert table is not None
    assert "note" not in {column.name for column in table.schema().fields}


@pytest.mark.parametrize("dry", [True, False], ids=["dry-run", "replay"])
@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        pytest.param({"partition_by": ("amount",)}, WarehouseError, "which is double", id="double"),
        pytest.param({"cluster_by": ("amuont",)}, UsageError, "there is amount", id="misspelled"),
        pytest.param({"partition_by": ("qqqq",)}, UsageError, "heraldry columns", id="unknown"),
    ],
)
def test_what_is_given_is_asked_before_anything_lands(
    tmp_path: Path,
    given: dict[str, Any],
    error: type[Exception],
    told: str,
    dry: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where another letter comes first, which would land."""
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    land_lines(tmp_path, FIRST, [message(0, 0)], plan=SHOP)
    land(tmp_path, SHOP, range(1, 3), batch=1)
    with pytest.raises(error, match=told):
        run(tmp_path, dry_run=dry, **given)
    assert not (tmp_path / "shop").exists()
    assert counts(run(tmp_path)) == (3, 0, 0, 0)


def test_a_column_that_a_table_of_some_job_has(tmp_path: Path) -> None:
    """The definition has lost it; the job's tables, in a database that nobody named, have it."""
    old = dict(kind("scan", record(tag=TEXT, former=TEXT)).definition)
    told = {"specversion": "1.0", "id": "g", "source": "/shops/berlin", "type": "shop.scan"}
    scan = line(told | {"data": {"tag": "t", "former": "f"}})
    land_lines(tmp_path, document({"scan": old}), [scan, message(1, 1)], plan=BERLIN)
    land(tmp_path, SHOP, range(2, 3), "-b")
    with pytest.raises(UsageError, match="there is former"):
        run(tmp_path, cluster_by=("formr",))
    assert counts(run(tmp_path, cluster_by=("former",))) == (2, 0, 0, 0)


@pytest.mark.parametrize("dry", [True, False], ids=["dry-run", "replay"])
def test_the_plan_of_a_job_is_asked_where_letters_are_of_it(tmp_path: Path, dry: bool) -> None:
    """The catalog has changed since that job began: it would be refused now."""
    land(tmp_path, BERLIN, range(2))
    land(tmp_path, TablePlan(database="shop", partition_by=("amount",)), range(2, 4), "-b")
    with pytest.raises(WarehouseError, match="partitioned by amount, which is double"):
        run(tmp_path, dry_run=dry)
    assert landed(tmp_path) == {}
    assert counts(run(tmp_path, dry_run=dry, where=("source=file-0",))) == (2, 0, 0, 0)
    given = {"database": "mended", "partition_by": ("day",)}
    assert run(tmp_path, **given, where=("source=file-b-0",)).landed == 2


def test_a_plan_that_changes_meanwhile_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    land(tmp_path, BERLIN, range(1))
    land(tmp_path, BERLIN, range(1, 2), batch=1)
    job = Ledger.open(f"{tmp_path}/_checkpoint").job
    plan = TablePlan(database="shop", with_base=True, partition_by=("amount",))
    settings = replaying.ReplaySettings(warehouse=str(tmp_path))
    judged: list[TablePlan] = []

    def change(_: str) -> None:
        keep_plan(Storage(str(tmp_path)), job, plan)

    def noted(order: WorkOrder, letters: pa.Table) -> Relanded:
        judged.append(order.plan)
        return reland(order, letters)

    monkeypatch.setattr(replaying, "reland", noted)
    with pytest.raises(WarehouseError, match="partitioned by amount, which is double"):
        replaying.replay(load_bytes(SECOND, "catalog"), settings, change)
    assert judged == [BERLIN]


def test_what_a_table_does_not_do_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often plans of one database take turns."""
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    plain = TablePlan(database="shop", partition_by=("count",))
    told = {"specversion": "1.0", "id": "g", "source": "/shops/berlin", "type": "shop.order"}
    good_order = line(told | {"data": {"id": "g", "total": 1}})
    land_lines(tmp_path, FIRST, [good_order], plan=plain, checkpoint=f"{tmp_path}/_checkpoint-c")
    for batch in range(2):
        for name, payload in (("", False), ("-b", True)):
            plan = replace(plain, keep_payload=payload)
            place = f"{tmp_path}/_checkpoint{name}"
            more: dict[str, Any] = {"source": f"{name}-{batch}", "checkpoint": place, "plan": plan}
            land_lines(tmp_path, FIRST, [message(batch, 0)], batch=batch, **more)
    events: list[str] = []
    settings = replaying.ReplaySettings(warehouse=str(tmp_path))
    report = replaying.replay(load_bytes(SECOND, "catalog"), settings, events.append)
    assert counts(report) == (4, 0, 0, 0)
    reason = "shop.shop.order keeps no partitions: its rows are not divided by count"
    assert [one for one in events if "keeps" in one] == [reason]
