"""A definition that changes, and its table: no row is lost, cast or unreadable to anyone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.fitting import fit_tables
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.lander import Lander
from heraldry.pipeline.maintain import Upkeep, maintain
from tests.pipeline.landing.without_spark import RECEIVED, Setting, lines_of
from tests.suites.streams import INSTANT, NUMBER, TEXT, WHOLE, document, kind, listed, record, xid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATH = "default/shop/one"


@dataclass
class Lake:
    """A warehouse that versions of one definition land in, one batch each."""

    folder: Path
    plan: TablePlan = field(default_factory=TablePlan)
    batch: int = 0

    def __post_init__(self) -> None:
        self.storage = Storage.open(str(self.folder))
        self.committer = Committer(self.storage, "job")

    def land(self, definitions: Mapping[str, Any], *events: tuple[str, Mapping[str, Any]]) -> None:
        """Land events of some definitions as they are now: their names, and their data."""
        document_bytes = document(dict(definitions))
        catalog = load_bytes(document_bytes, "catalog")
        fits = fit_tables(self.storage, catalog, self.plan).fits
        order = Setting(catalog=document_bytes).order(self.folder)
        lander = Lander(replace(order, batch=self.batch, plan=self.plan, fits=fits))
        lines = [_event(name, number, data) for number, (name, data) in enumerate(events)]
        written = lander.land(lines_of(lines)).to_pylist()
        assert all(row["path"] != "_dead_letters" for row in written), written
        for path in {row["path"] for row in written}:
            rows = [row for row in written if row["path"] == path]
            files = [
                DataFile(
                    name=row["file"],
                    rows=row["rows"],
                    size=row["size"],
                    partition=row["partition"],
                    stats=row["stats"],
                )
                for row in rows
            ]
            configuration = json.loads(rows[0]["table"])
            self.committer.commit(path, configuration, files, self.batch)
        self.batch += 1

    def one(self, schema: Mapping[str, Any], *data: Mapping[str, Any]) -> None:
        """Land events of the one definition with this payload."""
        definition = dict(kind("one", dict(schema)).definition)
        self.land({"one": definition}, *(("one", row) for row in data))

    def table(self, path: str = PATH) -> Any:
        table = delta.open_table(self.storage, path)
        assert table is not None
        return table

    def rows(self, *columns: str, path: str = PATH) -> list[tuple[Any, ...]]:
        """Some columns in the order of batches, as Arrow, Polars and DuckDB read them alike."""
        wanted = ["_batch", "_position", *columns]
        found = delta.table_rows(self.storage, self.table(path), wanted)
        found = found.sort_by([("_batch", "ascending"), ("_position", "ascending")])
        rows = [tuple(row[name] for name in columns) for row in found.to_pylist()]
        frame = pl.read_delta(self.storage.join(path)).sort("_batch", "_position")
        assert frame.select(columns).rows() == rows
        quoted = ", ".join(f'"{name}"' for name in columns)
        files = self.table(path).file_uris()
        told = duckdb.sql(
            f"SELECT {quoted} FROM read_parquet({files!r}, union_by_name = true)"
            " ORDER BY _batch, _position"
        )
        if all(name in told.columns for name in columns):
            assert told.fetchall() == rows
        return rows


def _event(name: str, number: int, data: Mapping[str, Any]) -> bytes:
    good = kind(name).attributes
    told = {"specversion": "1.0", "id": str(number), **good, "data": data}
    return json.dumps(told).encode()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def walk(lake: Lake) -> None:
    """Add, widen, rename, retype, remove."""
    address = record(city=TEXT)
    lake.one(record(id=TEXT, total=WHOLE, address=address), {"id": "a", "total": 2**53 + 1})
    wider = record(city=TEXT, zip=TEXT)
    lake.one(
        record(id=TEXT, total=WHOLE, address=wider, note=TEXT),
        {"id": "b", "total": 2, "address": {"city": "B", "zip": "1"}, "note": "n"},
    )
    lake.one(
        record(id=TEXT, total=NUMBER, address=address, comment=TEXT),
        {"id": "c", "total": 2.5, "address": {"city": "C"}, "comment": "renamed"},
    )
    lake.one(record(id=WHOLE, total=NUMBER), {"id": 4, "total": 4.5})
    lake.one(record(id=TEXT, total=WHOLE), {"id": "e", "total": 5})


WALKED = [
    ("a", None, 2**53 + 1, None, None, None, None),
    ("b", None, 2, None, {"city": "B", "zip": "1"}, "n", None),
    ("c", None, None, 2.5, {"city": "C", "zip": None}, None, "renamed"),
    (None, 4, None, 4.5, None, None, None),
    ("e", None, 5, None, None, None, None),
]
COLUMNS = ("id", "id_2", "total", "total_2", "address", "note", "comment")


def test_a_definition_walks_through_every_change(lake: Lake) -> None:
    walk(lake)
    assert lake.rows(*COLUMNS) == WALKED
    told = json.loads(lake.table().metadata().configuration["heraldry.columns"])
    assert {name: told[name] for name in ("id_2", "total_2")} == {
        "id_2": "/id",
        "total_2": "/total",
    }


def test_files_of_all_ages_become_one(lake: Lake) -> None:
    walk(lake)
    (kept,) = maintain(Upkeep(warehouse=str(lake.folder))).tables
    assert (kept.compacted, kept.into, kept.left) == (5, 1, "")
    assert lake.rows(*COLUMNS) == WALKED


def test_records_in_lists_grow(lake: Lake) -> None:
    lake.one(record(lines=listed(record(sku=TEXT))), {"lines": [{"sku": "a"}]})
    lake.one(record(lines=listed(record(qty=WHOLE, sku=TEXT))), {"lines": [{"sku": "b", "qty": 2}]})
    lake.one(record(lines=listed(record(sku=TEXT))), {"lines": [{"sku": "c"}]})
    maintain(Upkeep(warehouse=str(lake.folder)))
    assert lake.rows("lines") == [
        ([{"sku": "a", "qty": None}],),
        ([{"sku": "b", "qty": 2}],),
        ([{"sku": "c", "qty": None}],),
    ]


def test_a_text_becomes_an_instant_and_back(lake: Lake) -> None:
    lake.one(record(at=TEXT), {"at": "yesterday"})
    lake.one(record(at=INSTANT), {"at": "2026-11-16T08:30:00Z"})
    lake.one(record(at=TEXT), {"at": "today"})
    rows = lake.rows("at", "at_2")
    assert [row[0] for row in rows] == ["yesterday", None, "today"]
    assert rows[1][1].isoformat() == "2026-11-16T08:30:00+00:00"


def test_members_that_differ_in_case(lake: Lake) -> None:
    lake.one(record(status=TEXT), {"status": "a"})
    lake.one(record(Status=TEXT), {"Status": "b"})
    assert lake.rows("status", "Status_2") == [("a", None), (None, "b")]


def test_a_schema_comes_and_goes(lake: Lake) -> None:
    """A definition without a schema keeps payloads as they came."""
    lake.one(record(id=TEXT), {"id": "a"})
    lake.land({"one": dict(kind("one").definition)}, ("one", {"id": "b"}))
    lake.one(record(id=TEXT), {"id": "c"})
    assert lake.rows("id", "_payload") == [("a", None), (None, b'{"id": "b"}'), ("c", None)]


def based(name: str, **members: Any) -> dict[str, Any]:
    told = kind(name, record(**members), basemessage=xid("base")).definition
    return dict(told)


def test_variants_land_in_the_table_of_their_base(tmp_path: Path) -> None:
    lake = Lake(tmp_path, TablePlan(with_base=True))
    first = {
        "base": dict(kind("base", record(id=TEXT)).definition),
        "http": based("http", id=TEXT, n=TEXT),
        "mqtt": based("mqtt", id=TEXT, n=WHOLE),
    }
    # Only one of the variants comes at first: the table has the columns of all.
    lake.land(first, ("mqtt", {"id": "m", "n": 1}))
    lake.land(first, ("http", {"id": "h", "n": "x"}), ("base", {"id": "b"}))
    lake.land(first | {"kafka": based("kafka", n=NUMBER)}, ("kafka", {"n": 0.5}))
    path = "default/shop/base"
    assert lake.rows("_definition", "id", "n", "n_2", "n_3", path=path) == [
        (xid("mqtt"), "m", None, 1, None),
        (xid("http"), "h", "x", None, None),
        (xid("base"), "b", None, None, None),
        (xid("kafka"), None, None, None, 0.5),
    ]
    assert not lake.storage.exists("default/shop/http")


SHARED = TablePlan(with_base=True, partition_by=("shop",), cluster_by=("n",))


@pytest.mark.parametrize(
    "turns",
    [("http", "mqtt"), ("mqtt", "http"), ("both",)],
    ids=["with it first", "without it first", "at once"],
)
def test_variants_of_which_one_has_the_column_of_the_partitions(
    tmp_path: Path, turns: tuple[str, ...]
) -> None:
    """Rows without it are in the partition of none; no value is lost, whoever makes the table."""
    lake = Lake(tmp_path, SHARED)
    every = {
        "base": dict(kind("base", record(id=TEXT)).definition),
        "mqtt": based("mqtt", id=TEXT, n=WHOLE),
        "http": based("http", id=TEXT, shop=TEXT),
    }
    events: dict[str, list[tuple[str, Any]]] = {
        "http": [("http", {"id": "h", "shop": "a b"}), ("http", {"id": "k"})],
        "mqtt": [("mqtt", {"id": "m", "n": 1})],
    }
    events["both"] = [*events["mqtt"], *events["http"]]
    for turn in turns:
        lake.land(every, *events[turn])
    expected = [("h", "a b", None), ("k", None, None), ("m", None, 1)]
    path = "default/shop/base"
    assert lake.table(path).metadata().partition_columns == ["shop"]
    frame = pl.read_delta(lake.storage.join(path)).sort("id")
    assert frame.select("id", "shop", "n").rows() == expected
    found = delta.table_files(lake.storage, lake.table(path))
    told = duckdb.from_arrow(found).select("id, shop, n").order("id")
    assert told.fetchall() == expected
    kept = maintain(Upkeep(warehouse=str(lake.folder))).tables
    assert [one.left for one in kept] == [""]
    assert pl.read_delta(lake.storage.join(path)).sort("id").select("id", "shop", "n").rows() == (
        expected
    )


@pytest.mark.parametrize(
    ("plan", "first", "then", "columns", "expected"),
    [
        pytest.param(
            {"partition_by": ("shop",)},
            ({}, {}),
            ({"shop": TEXT}, {"shop": "a"}),
            ("shop",),
            [(None,), ("a",)],
            id="partitions by a column that is new",
        ),
        pytest.param(
            {"partition_by": ("shop",)},
            ({"shop": TEXT}, {"shop": "a"}),
            ({"shop": NUMBER}, {"shop": 2.5}),
            ("shop", "shop_2"),
            [("a", None), (None, 2.5)],
            id="partitions by a column that is retyped",
        ),
        pytest.param(
            {"cluster_by": ("shop",)},
            ({"shop": TEXT}, {"shop": "a"}),
            ({"shop": record(id=TEXT)}, {"shop": {"id": "b"}}),
            ("shop", "shop_2"),
            [("a", None), (None, {"id": "b"})],
            id="order by a column that is a record now",
        ),
    ],
)
def test_a_table_goes_on_as_it_is_arranged(
    tmp_path: Path, plan: Any, first: Any, then: Any, columns: Any, expected: Any
) -> None:
    """The job keeps its options, and may begin anew; the first definition may come back."""
    lake = Lake(tmp_path, TablePlan(**plan))
    for members, data in (first, then, first, then):
        lake.one(record(id=TEXT, **members), data)
    frame = pl.read_delta(lake.storage.join(PATH)).sort("_batch")
    assert frame.select(columns).rows() == expected * 2
    kept = maintain(Upkeep(warehouse=str(lake.folder))).tables
    assert [one.left for one in kept] == [""]


def test_partitions_of_a_changing_definition(tmp_path: Path) -> None:
    """A column that rows are divided by and that changes is null from then on."""
    lake = Lake(tmp_path, TablePlan(partition_by=("day", "id"), cluster_by=("total",)))
    lake.one(record(id=TEXT, total=WHOLE), {"id": "a", "total": 2}, {"id": "b", "total": 1})
    lake.one(record(id=WHOLE, total=WHOLE), {"id": 3, "total": 3})
    table = delta.table_rows(lake.storage, lake.table(), ["id", "id_2", "total", "_day"])
    found = [tuple(row.values()) for row in table.sort_by("total").to_pylist()]
    day = RECEIVED.date()
    assert found == [("b", None, 1, day), ("a", None, 2, day), (None, 3, 3, day)]
    frame = pl.read_delta(lake.storage.join(PATH)).sort("total")
    assert frame.select("id", "id_2", "total", "_day").rows() == found
    assert lake.table().metadata().partition_columns == ["_day", "id"]
    kept = maintain(Upkeep(warehouse=str(lake.folder))).tables
    assert [one.left for one in kept] == [""]


@pytest.mark.spark
def test_spark_reads_files_of_all_ages(lake: Lake, spark: SparkSession) -> None:
    """Spark knows the table's columns from its log, as it would by Delta's own reader."""
    walk(lake)
    (info,) = tables(str(lake.folder))
    columns = ", ".join(f"`{name}` {kind}" for name, kind in info.columns)
    frame = spark.read.schema(columns).parquet(*lake.table().file_uris())
    found = frame.orderBy("_batch").select(*COLUMNS).collect()
    rows = [
        tuple(value.asDict() if hasattr(value, "asDict") else value for value in row)
        for row in found
    ]
    assert rows == WALKED
