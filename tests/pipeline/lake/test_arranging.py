"""How the rows of a table are arranged while its definitions differ and change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.messages.judge import Judge
from heraldry.model.catalog import Catalog
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.fitting import fit_tables
from heraldry.pipeline.lake.layout import Fit, TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.landable import refuse_unlandable
from tests.suites.streams import TEXT, document, kind, record, xid

NOT_BY = "its rows are not divided by"
STAYS = "lake.shop.one stays arranged as it is:"


def catalog_of(schema: Mapping[str, Any]) -> Catalog:
    return load_bytes(document({"one": dict(kind("one", dict(schema)).definition)}), "catalog")


def variants(**schemas: Mapping[str, Any]) -> Catalog:
    """A base message and its variants, each with a payload of its own."""
    told = {"base": dict(kind("base", record(id=TEXT)).definition)}
    for name, schema in schemas.items():
        told[name] = dict(kind(name, dict(schema), basemessage=xid("base")).definition)
    return load_bytes(document(told), "catalog")


def make(storage: Storage, catalog: Catalog, plan: TablePlan) -> DeltaTable:
    """The table of a definition as a first batch would make it."""
    one = plan.layout(catalog, Judge(catalog).matcher.definition(xid("one")))
    return delta.create_table(storage, one.path, one.schema, one.configuration)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.open(str(tmp_path))


OLD = catalog_of(record(a=TEXT, k=TEXT))
COLUMN = TablePlan(database="lake", partition_by=("day", "a"))
KEEPS = "lake.shop.one keeps its partitions by"


@pytest.mark.parametrize(
    ("first", "then", "own", "told"),
    [
        pytest.param({}, {"a": TEXT}, ["_day"], f"{KEEPS} _day: {NOT_BY} a", id="gained"),
        pytest.param({"a": TEXT}, {}, ["_day", "a"], "", id="lost"),
        pytest.param(
            {"a": TEXT},
            {"A": TEXT},
            ["_day", "a"],
            f"{KEEPS} _day, a: {NOT_BY} A_2",
            id="spelled otherwise",
        ),
        pytest.param(
            {"a": TEXT},
            {"a": {"type": "integer"}},
            ["_day", "a"],
            f"{KEEPS} _day, a: {NOT_BY} a_2",
            id="retyped",
        ),
        pytest.param(
            {"a": TEXT},
            {"a": {"type": "number"}},
            ["_day", "a"],
            f"{STAYS} rows cannot be partitioned by a, which is double",
            id="no type for it",
        ),
    ],
)
def test_a_definition_changes_and_its_table_keeps_its_partitions(
    storage: Storage,
    first: dict[str, Any],
    then: dict[str, Any],
    own: list[str],
    told: str,
) -> None:
    """As often as a job begins with it, and whoever else does so."""
    make(storage, catalog_of(record(k=TEXT, **first)), COLUMN)
    catalog = catalog_of(record(k=TEXT, **then))
    for going_on in (True, False, False):
        found = fit_tables(storage, catalog, COLUMN, going_on=going_on)
        assert found.told == ((told,) if told else ())
        layout = COLUMN.layout(catalog, Judge(catalog).matcher.definition(xid("one")))
        fitted = layout.fitted(found.fits.get(xid("one"), Fit()))
        assert list(fitted.arrangement.names) == own
        fitted.refuse_unsuited()
        table = delta.open_table(storage, "lake/shop/one")
        assert table is not None
        assert table.metadata().partition_columns == own


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        pytest.param(("day", "a"), ("a", "day"), id="order"),
        pytest.param(("day", "a"), ("day",), id="fewer"),
        pytest.param(("a",), ("day", "a"), id="day"),
        pytest.param(("day",), ("day", "_source"), id="of the system"),
        pytest.param(("day",), ("day", "a"), id="of the payload"),
    ],
)
def test_partitions_that_a_table_could_have_had(
    storage: Storage, made: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    make(storage, OLD, TablePlan(database="lake", partition_by=made))
    plan = TablePlan(database="lake", partition_by=asked)
    with pytest.raises(WarehouseError, match="and was asked to be by"):
        fit_tables(storage, OLD, plan)
    found = fit_tables(storage, OLD, plan, going_on=True).fits[xid("one")].arrangement
    assert found is not None
    assert len(found.names) == len(made)


def test_an_order_that_cannot_be_any_more(storage: Storage) -> None:
    plan = TablePlan(database="lake", cluster_by=("a", "k"))
    make(storage, catalog_of(record(a=TEXT, k=TEXT)), plan)
    found = fit_tables(storage, catalog_of(record(a=record(x=TEXT), k=TEXT)), plan)
    assert found.fits[xid("one")].arrangement == Arrangement((), ("k",))
    (told,) = found.told
    assert told.startswith(f"{STAYS} rows cannot be ordered by a, which is struct")


@pytest.mark.parametrize("first", ["http", "mqtt"])
def test_one_arrangement_for_all_variants(storage: Storage, first: str) -> None:
    """Whoever makes the table: it has partitions by what any of them has, in the plan's order."""
    found = variants(
        http=record(shop=TEXT, n=TEXT),
        mqtt=record(area=TEXT, n=record(x=TEXT)),
        amqp=record(shop={"type": "integer"}),
    )
    plan = TablePlan(
        database="lake", with_base=True, partition_by=("area", "hour", "shop"), cluster_by=("id",)
    )
    fits = fit_tables(storage, found, plan).fits
    matcher = Judge(found).matcher
    told = [plan.layout(found, matcher.definition(one)).fitted(fits[one]) for one in fits]
    expected = Arrangement((("area", "string"), ("_hour", "string"), ("shop", "string")), ("id",))
    assert [one.arrangement for one in told] == [expected] * 4
    assert len({json.dumps(one.configuration) for one in told}) == 1
    one = next(one for one in told if one.definition == xid(first))
    table = delta.create_table(storage, one.path, one.schema, one.configuration)
    assert table.metadata().partition_columns == ["area", "_hour", "shop"]
    assert {"n", "n_2", "shop_2"} <= {column.name for column in table.schema().fields}
    again = fit_tables(storage, found, plan)
    assert {one.arrangement or expected for one in again.fits.values()} == {expected}
    assert again.told == ()


def test_a_variant_that_cannot_be_arranged(storage: Storage) -> None:
    found = variants(http=record(shop=TEXT), mqtt=record(shop={"type": "number"}))
    plan = TablePlan(database="lake", with_base=True, partition_by=("shop",))
    with pytest.raises(WarehouseError, match="cannot be partitioned by shop, which is double"):
        fit_tables(storage, found, plan)


@pytest.mark.parametrize("going_on", [False, True], ids=["begins", "goes on"])
def test_a_variant_that_no_message_can_be_of(storage: Storage, going_on: bool) -> None:
    """It lands nothing: what it would have is no matter to the table, new or not."""
    plan = TablePlan(database="lake", with_base=True, partition_by=("shop",))
    told = {
        "base": dict(kind("base", record(id=TEXT)).definition),
        "one": dict(kind("one", record(shop=TEXT), basemessage=xid("base")).definition),
    }
    strange = kind("two", record(shop={"type": "number"}, more=TEXT), basemessage=xid("base"))
    told["two"] = dict(strange.definition) | {"envelope": "Letters/1.0"}
    found = load_bytes(document(told), "catalog")
    refuse_unlandable(found, plan, storage)
    fits = fit_tables(storage, found, plan, going_on=going_on).fits
    assert sorted(fits) == [xid("base"), xid("one")]
    one = plan.layout(found, Judge(found).matcher.definition(xid("one"))).fitted(fits[xid("one")])
    table = delta.create_table(storage, one.path, one.schema, one.configuration)
    again = fit_tables(storage, found, plan, going_on=going_on)
    assert again.told == ()
    table.update_incremental()
    assert not {"more", "shop_2"} & {column.name for column in table.schema().fields}
