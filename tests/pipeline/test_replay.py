"""Replay: letters land exactly once when the catalog is mended, whatever kills it in between."""

from __future__ import annotations

import json
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import replay_chunk
from heraldry.pipeline.landing.replay_report import ReplayReport
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.letters.letter import SCHEMA
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.landing.without_spark import RECEIVED
from tests.pipeline.letters.lettering import (
    add_letters,
    land_lines,
    mask_letters,
    replays,
    table_column,
)
from tests.suites.streams import (
    DRAFT_07,
    NUMBER,
    TEXT,
    WHOLE,
    document,
    kind,
    line,
    record,
    xid,
)

ORDER = kind("order", record("id", "total", id=TEXT, total=NUMBER))
SCAN = kind("scan", record("tag", tag=TEXT, weight=NUMBER))
BROKEN = {"order": dict(ORDER.definition), "scan": dict(SCAN.definition)}
BELT = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "belts"},
    "dataschemaformat": DRAFT_07,
    "dataschema": record(speed=NUMBER),
}
MENDED = {
    # totals may be texts, and orders may have a count
    "order": dict(
        kind(
            "order", record("id", id=TEXT, total={"type": ["string", "number"]}, count=WHOLE)
        ).definition
    ),
    "scan": dict(SCAN.definition),
    # a definition nobody had written yet
    "refund": dict(kind("refund", record(amount=NUMBER)).definition),
    "belt": BELT,
}
FIRST, SECOND = document(BROKEN), document(MENDED)


def message(number: int, cause: int) -> bytes:
    """One of five causes: a total that is a text, an unknown type, a topic, no JSON, no tag."""
    common = {"specversion": "1.0", "id": f"m-{number}", "source": "/shops/berlin"}
    match cause:
        case 0:
            data: Any = {"id": f"m-{number}", "total": "much"}
            return line(common | {"type": "shop.order", "data": data})
        case 1:
            return line(common | {"type": "shop.refund", "data": {"amount": number}})
        case 2:
            metadata = {"topic": "belts", "key": f"m-{number}"}
            return line({"protocol": "KAFKA", "metadata": metadata, "payload": {"speed": number}})
        case 3:
            return f"m-{number} is no message".encode()
    return line(common | {"type": "shop.scan", "data": {"weight": 1.5}})


def run(warehouse: Path, catalog: bytes = SECOND, **more: Any) -> ReplayReport:
    settings = ReplaySettings(warehouse=str(warehouse), **more)
    report = replay(load_bytes(catalog, "catalog"), settings)
    total = report.landed + report.refused + report.masked + report.skipped + report.repeated
    assert report.selected == total
    return report


def counts(report: ReplayReport) -> tuple[int, int, int, int]:
    return report.landed, report.refused, report.masked, report.skipped


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Two batches of ten letters each: four of every cause."""
    for batch in (0, 1):
        lines = [message(batch * 10 + n, n % 5) for n in range(10)]
        received = RECEIVED.replace(hour=batch)
        land_lines(tmp_path, FIRST, lines, batch=batch, received=received, source=f"file-{batch}")
    return tmp_path


def test_what_was_mended_lands(warehouse: Path) -> None:
    report = run(warehouse)
    assert counts(report) == (12, 8, 0, 0)
    assert report.tables == {f"default.shop.{name}": 4 for name in ("order", "refund", "belt")}
    assert sorted(report.rules) == ["json", "required"]
    assert table_column(warehouse, "default/shop/refund", "ce_id") == ["m-1", "m-6", "m-11", "m-16"]


def test_rows_keep_the_place_of_the_letter(warehouse: Path) -> None:
    run(warehouse)
    path = "default/shop/order"
    assert table_column(warehouse, path, "_position") == ["0+0", "0+5", "0+0", "0+5"]
    assert table_column(warehouse, path, "_source") == ["file-0"] * 2 + ["file-1"] * 2
    assert table_column(warehouse, path, "_batch") == [-1] * 4
    hours = [time.hour for time in table_column(warehouse, path, "_received")]  # type: ignore[attr-defined]
    assert hours == [0, 0, 1, 1]


def test_a_second_replay_lands_nothing_again(warehouse: Path) -> None:
    run(warehouse)
    assert counts(run(warehouse)) == (0, 8, 0, 0)
    assert len(table_column(warehouse, "default/shop/order", "ce_id")) == 4
    history = replays(warehouse).to_pylist()
    assert Counter((row["replay"], row["outcome"]) for row in history) == {
        (1, "landed"): 12,
        (1, "refused"): 8,
        (2, "refused"): 8,
    }
    assert {row["attempt"] for row in history if row["replay"] == 2} == {2}


def test_history_tells_why(warehouse: Path) -> None:
    run(warehouse)
    rows = replays(warehouse).to_pylist()
    landed = next(row for row in rows if row["table"] == "default.shop.order")
    assert (landed["definition"], landed["stage"], landed["rule"]) == (xid("order"), None, None)
    refused = next(row for row in rows if row["rule"] == "required")
    assert (refused["outcome"], refused["stage"], refused["table"]) == ("refused", "validate", None)
    assert refused["message"] == "misses the required property 'tag'"
    assert len({row["letter"] for row in rows}) == 20


def test_letters_stay_and_landed_ones_are_closed(warehouse: Path) -> None:
    run(warehouse)
    assert sum(group.count for group in deadletters.groups(str(warehouse))) == 8
    assert sum(group.count for group in deadletters.groups(str(warehouse), closed=True)) == 20
    assert len(list(deadletters.letters(str(warehouse)))) == 8
    assert len(list(deadletters.letters(str(warehouse), closed=True))) == 20
    for letter in deadletters.letters(str(warehouse), closed=True):
        found = deadletters.find_letter(str(warehouse), letter["letter"][:12])
        assert [row["outcome"] for row in found["replays"]] in (["landed"], ["refused"])


def test_the_guard_stops_after_so_many_attempts(warehouse: Path) -> None:
    found = [counts(run(warehouse, max_attempts=2)) for _ in range(3)]
    assert found == [(12, 8, 0, 0), (0, 8, 0, 0), (0, 0, 0, 8)]
    # another catalog is another matter
    scan = dict(kind("scan", record(tag=TEXT, weight=NUMBER)).definition)
    third = document(MENDED | {"scan": scan})
    assert counts(run(warehouse, third, max_attempts=2)) == (4, 4, 0, 0)


def test_terms_and_limits_select(warehouse: Path) -> None:
    assert counts(run(warehouse, where=("rule=type, batch=1",))) == (2, 0, 0, 0)
    assert run(warehouse, limit=3).selected == 3
    assert counts(run(warehouse, where=("stage=decode",))) == (0, 4, 0, 0)
    run(warehouse)
    assert sum(row["outcome"] == "landed" for row in replays(warehouse).to_pylist()) == 12
    with pytest.raises(UsageError, match="nonsense"):
        run(warehouse, where=("nonsense",))


def test_a_dry_run_writes_nothing(warehouse: Path) -> None:
    before = sorted(warehouse.rglob("*"))
    report = run(warehouse, dry_run=True)
    assert counts(report) == (12, 8, 0, 0)
    assert report.tables == {f"default.shop.{name}": 4 for name in ("order", "refund", "belt")}
    assert sorted(warehouse.rglob("*")) == before
    assert counts(run(warehouse)) == (12, 8, 0, 0)


@pytest.mark.parametrize("dry", [True, False], ids=["dry-run", "replay"])
def test_letters_that_hold_letters_of_other_tools(tmp_path: Path, dry: bool) -> None:
    """Somebody landed a dead-letter topic as it is: the messages inside are what is wanted."""
    headers = {"__connect.errors.topic": "belts", "__connect.errors.exception.message": "away"}
    metadata = {"topic": "connect-dlq", "headers": headers}
    letter = line({"protocol": "KAFKA", "metadata": metadata, "payload": {"speed": 1}})
    land_lines(tmp_path, SECOND, [letter, message(1, 3)])
    assert counts(run(tmp_path, dry_run=True)) == (0, 2, 0, 0)
    report = run(tmp_path, foreign=True, dry_run=dry)
    assert counts(report) == (1, 1, 0, 0)
    assert report.tables == {"default.shop.belt": 1}
    assert table_column(tmp_path, "default/shop/belt", "speed") == ([] if dry else [1.0])


def test_masked_letters_are_told_and_left(warehouse: Path) -> None:
    mask_letters(warehouse, ["total"], batch=5)
    # All that is no JSON, and all with a total; the others are letters like any.
    assert counts(run(warehouse)) == (20, 12, 8, 0)
    assert counts(run(warehouse)) == (0, 12, 8, 0)
    rows = replays(warehouse).to_pylist()
    assert [row["replay"] for row in rows if row["outcome"] == "masked"] == [1] * 8


def test_letters_of_one_place_are_told_apart(warehouse: Path) -> None:
    """Two jobs may read the same place, and find other messages there."""
    whole = SCHEMA.names
    rows = pa.Table.from_batches(
        deadletters.letter_batches(Storage(str(warehouse)), whole), schema=SCHEMA
    )
    swapped = rows.set_column(
        rows.schema.get_field_index("line"), "line", rows["line"].combine_chunks()[::-1]
    ).set_column(
        rows.schema.get_field_index("letter"), "letter", pa.array([f"x{n}" for n in range(20)])
    )
    add_letters(warehouse, swapped.cast(SCHEMA), batch=9)
    assert counts(run(warehouse)) == (24, 16, 0, 0)
    assert counts(run(warehouse)) == (0, 16, 0, 0)
    history = replays(warehouse).to_pylist()
    assert sum(row["outcome"] == "landed" for row in history) == 24
    assert len({row["letter"] for row in history}) == 40
    assert len(table_column(warehouse, "default/shop/order", "ce_id")) == 8


def test_old_letters_have_an_id_by_their_place(warehouse: Path, tmp_path_factory: Any) -> None:
    """Tables from before there were ids are read as they are."""
    old = tmp_path_factory.mktemp("old")
    names = [n for n in SCHEMA.names if n not in ("letter", "catalog", "masked", "time")]
    rows = pa.Table.from_batches(deadletters.letter_batches(Storage(str(warehouse)), names))
    add_letters(old, rows, batch=0)
    assert counts(run(old)) == (12, 8, 0, 0)
    assert counts(run(old)) == (0, 8, 0, 0)


def test_a_table_gains_columns(warehouse: Path) -> None:
    good = {"specversion": "1.0", "id": "g", "source": "/shops/berlin", "type": "shop.scan"}
    scan = line(good | {"data": {"tag": "t", "weight": 1}})
    land_lines(warehouse, FIRST, [scan], batch=2)
    more = dict(kind("scan", record(tag=TEXT, weight=NUMBER, note=TEXT)).definition)
    run(warehouse, document(MENDED | {"scan": more}))
    assert table_column(warehouse, "default/shop/scan", "note") == [None] * 5


def test_a_column_of_another_type_is_a_new_one(warehouse: Path) -> None:
    good = {"specversion": "1.0", "id": "g", "source": "/shops/berlin", "type": "shop.order"}
    land_lines(warehouse, FIRST, [line(good | {"data": {"id": "1", "total": 1}})], batch=2)
    assert counts(run(warehouse)) == (12, 8, 0, 0)
    path = "default/shop/order"
    assert Counter(table_column(warehouse, path, "total")) == {1.0: 1, None: 4}
    assert Counter(table_column(warehouse, path, "total_2")) == {None: 1, '"much"': 4}


@pytest.mark.parametrize("column", ["_source", "_day", "ce_id"])
def test_tables_with_partitions(warehouse: Path, column: str) -> None:
    assert counts(run(warehouse, partition_by=(column,))) == (12, 8, 0, 0)
    assert counts(run(warehouse)) == (0, 8, 0, 0)
    assert len(set(table_column(warehouse, "default/shop/order", "ce_id"))) == 4


def test_variants_land_with_their_base(warehouse: Path) -> None:
    variant = {
        "basemessage": xid("refund"),
        "envelope": MENDED["refund"]["envelope"],
        "envelopemetadata": {"subject": {"value": "big", "required": True}},
    }
    catalog = document(MENDED | {"big": variant})
    common = {"specversion": "1.0", "id": "b", "source": "/shops/berlin", "subject": "big"}
    big = line(common | {"type": "shop.refund", "data": {"amount": 1}})
    land_lines(warehouse, FIRST, [big], batch=2)
    report = run(warehouse, catalog, with_base=True)
    assert report.tables["default.shop.refund"] == 5
    definitions = Counter(table_column(warehouse, "default/shop/refund", "_definition"))
    assert definitions == {xid("refund"): 4, xid("big"): 1}
    history = {row["definition"]: row["table"] for row in replays(warehouse).to_pylist()}
    assert history[xid("big")] == "default.shop.refund"


def test_one_replay_at_a_time(warehouse: Path) -> None:
    refused: list[str] = []

    def second(_: str) -> None:
        with pytest.raises(WarehouseError) as told:
            run(warehouse)
        refused.append(str(told.value))
        assert run(warehouse, dry_run=True).landed == 0

    replay(load_bytes(SECOND, "catalog"), ReplaySettings(warehouse=str(warehouse)), second)
    place = f"{warehouse}/_checkpoint/replay"
    assert refused == [f"{place}: another replay is running in this warehouse (wait for it)"]
    assert len(table_column(warehouse, "default/shop/order", "ce_id")) == 4


def test_who_is_refused_has_read_and_begun_nothing(warehouse: Path) -> None:
    """A ledger is named by who holds the lock: two of one name would not know each other's."""
    place = f"{warehouse}/_checkpoint/replay"
    with (
        Ledger(Storage(place), job="").locked(),
        pytest.raises(WarehouseError, match="another replay"),
    ):
        run(warehouse)
    assert Ledger.find(place) is None


def test_nothing_to_replay(tmp_path: Path) -> None:
    Ledger.open(f"{tmp_path}/_checkpoint")
    assert counts(run(tmp_path)) == (0, 0, 0, 0)
    assert not (tmp_path / "_replays").exists()
    with pytest.raises(WarehouseError, match="no such warehouse"):
        run(tmp_path / "none")


def test_small_chunks(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    assert counts(run(warehouse)) == (12, 8, 0, 0)
    assert {row["replay"] for row in replays(warehouse).to_pylist()} == {1, 2}


def test_a_job_may_land_beside_it(warehouse: Path) -> None:
    """Both append to the same tables: Delta's commits are tried again, and none is lost."""
    good = {"specversion": "1.0", "source": "/shops/berlin", "type": "shop.refund"}
    failed: list[Exception] = []

    def land() -> None:
        try:
            for n in range(10):
                lines = [line(good | {"id": f"g-{n}-{k}", "data": {"amount": 1}}) for k in range(5)]
                land_lines(warehouse, SECOND, lines, batch=10 + n)
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    thread = threading.Thread(target=land)
    thread.start()
    for number in range(4):
        run(warehouse, where=(f"position=0+{number * 5 + 1}",), limit=1)
        run(warehouse, limit=1, where=("definition!=nothing",))
    run(warehouse)
    thread.join()
    assert failed == []
    ids = Counter(table_column(warehouse, "default/shop/refund", "ce_id"))
    assert len(ids) == 54
    assert set(ids.values()) == {1}


def test_numbers_go_on_after_the_history_was_lost(warehouse: Path) -> None:
    """A number that a table has already would count as committed, and its rows would be lost."""
    run(warehouse, where=("rule=type",))
    storage = Storage(str(warehouse))
    (warehouse / "_replays").rename(warehouse / "_lost")
    assert counts(run(warehouse)) == (12, 8, 0, 0)
    assert len(table_column(warehouse, "default/shop/refund", "ce_id")) == 4
    table = delta.open_table(storage, "default/shop/order")
    assert table is not None
    assert set(table_column(warehouse, "default/shop/order", "_batch")) == {-1, -2}


def test_at_is_now(warehouse: Path) -> None:
    before = datetime.now(UTC)
    run(warehouse)
    assert all(row["at"] >= before for row in replays(warehouse).to_pylist())
    json.dumps([row["letter"] for row in replays(warehouse).to_pylist()])


@pytest.fixture
def selective(tmp_path: Path) -> Path:
    """A job of scans alone: two orders were not wanted, and a scan was no good."""
    lines = [*(message(number, 0) for number in range(2)), message(2, 4)]
    land_lines(tmp_path, SECOND, lines, only=(xid("scan"),))
    return tmp_path


@pytest.mark.parametrize(
    ("terms", "expected", "left_out"),
    [
        pytest.param((), (0, 1), 2, id="nothing-asked"),
        pytest.param(("source=file",), (0, 1), 2, id="another-column"),
        pytest.param(("source=file", "stage=validate"), (0, 1), 0, id="none-of-them-meant"),
        pytest.param(("rule!=type",), (0, 1), 2, id="other-rules-excluded"),
        pytest.param(("rule=required",), (0, 1), 0, id="another-rule"),
        pytest.param(("rule=not-selected",), (2, 0), 0, id="their-rule"),
        pytest.param(("source=file, rule~selected",), (2, 0), 0, id="a-part-of-their-rule"),
        pytest.param(("rule=*",), (2, 1), 0, id="every-rule"),
        pytest.param(("letter=*",), (2, 1), 0, id="every-letter"),
    ],
)
def test_what_was_not_wanted_lands_only_where_it_is_asked_for(
    selective: Path, terms: tuple[str, ...], expected: tuple[int, int], left_out: int
) -> None:
    for dry_run in (True, False):
        report = run(selective, where=terms, dry_run=dry_run)
        assert (report.landed, report.refused) == expected
        assert report.left_out == left_out
    assert run(selective).left_out == 2 - expected[0]
