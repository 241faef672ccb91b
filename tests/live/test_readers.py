"""Tables open unchanged in DuckDB, Polars and Spark: arranged, widened and compacted ones, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.lake.fitting import fit_tables
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.maintain import Upkeep, maintain
from tests.live.delta.readers import by_duckdb, by_spark
from tests.pipeline.letters.lettering import land_lines
from tests.suites.streams import NUMBER, TEXT, document, event, kind, line, listed, record

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MEMBERS = {"id": TEXT, "city": TEXT, "total": NUMBER, "tags": listed(TEXT)}
PLACE = record(zip=TEXT)
COLUMNS = ("id", "city", "total", "tags", "place", "ce_id", "_definition", "_batch")
CITIES = ["Oslo", "São Paulo", "a/b c=d%20", None]


def catalog(**members: Any) -> bytes:
    order = dict(kind("order", record("id", **MEMBERS, **members)).definition)
    return document({"order": order})


def payload(number: int, **more: Any) -> dict[str, Any]:
    city = CITIES[number % len(CITIES)]
    known = {"id": f"m-{number}", "total": number / 4, "tags": ["x", "y"][: number % 3]}
    return known | ({} if city is None else {"city": city}) | more


def expected(number: int, batch: int, place: Any) -> dict[str, Any]:
    told = {"ce_id": f"m-{number}", "_definition": "/messagegroups/shop/messages/order"}
    data = {"city": None, "place": place} | payload(number)
    return data | told | {"_batch": batch}


def by_polars(table: Path, columns: tuple[str, ...], folder: Path) -> list[dict[str, Any]]:
    del folder
    return pl.read_delta(str(table)).select(columns).to_dicts()


def test_every_reader_finds_the_same_rows(tmp_path: Path) -> None:
    lake, plan = tmp_path / "lake", TablePlan(partition_by=("city",), cluster_by=("total",))
    rows = []
    for batch in range(3):
        place = {"zip": f"{batch}"} if batch else None
        more = {} if place is None else {"place": place}
        numbers = range(batch * 8, batch * 8 + 8)
        sent = [event("order", payload(number, **more), id=f"m-{number}") for number in numbers]
        schema = catalog(**({"place": PLACE} if batch else {}))
        fit_tables(Storage.open(str(lake)), load_bytes(schema, "catalog"), plan)
        land_lines(lake, schema, [line(one) for one in sent], batch=batch, plan=plan)
        rows += [expected(number, batch, place) for number in numbers]
    kept = {one.table: one for one in maintain(Upkeep(warehouse=str(lake))).tables}
    assert kept["default.shop.order"].compacted
    table = lake / "default" / "shop" / "order"
    for read in (by_duckdb, by_polars, by_spark):
        found = sorted(read(table, COLUMNS, tmp_path), key=lambda row: int(row["id"][2:]))
        assert found == rows, read.__name__
