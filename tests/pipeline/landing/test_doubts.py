"""Definitions that do not land as they say: told with each catalog, at the cost of what is new."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Collection
from typing import Any

import pytest

from heraldry.client.catalog_follower import Look
from heraldry.dialects.load import load_bytes
from heraldry.messages.lint import check
from heraldry.model.catalog import Catalog
from heraldry.pipeline.landing.catalog_watch import CatalogWatch
from heraldry.pipeline.landing.doubts import LOOKED_AT, Doubts, doubts_told

ORDERS = "/messagegroups/orders/messages"
RAW = "its schema does not compile: payloads land raw, unchecked (heraldry check)"
GOOD = {"type": "object", "properties": {"total": {"type": "number"}}}
BAD = {"type": "objekt"}


def message(**more: Any) -> dict[str, Any]:
    return {"envelope": "CloudEvents/1.0", "dataschemaformat": "JsonSchema/draft-07", **more}


def catalog(schema: object = None, **messages: dict[str, Any]) -> Catalog:
    """Some messages, and the schema that they may refer to."""
    document: dict[str, Any] = {"messagegroups": {"orders": {"messages": messages}}}
    if schema is not None:
        version = {"format": "JsonSchema/draft-07", "schema": schema}
        document["schemagroups"] = {"s": {"schemas": {"order": version}}}
    return load_bytes(json.dumps(document).encode(), "orders.xreg.json")


def doubtful(doubts: Doubts, found: Catalog) -> list[tuple[str, str]]:
    return [one for one in doubts.of(found) if one[1]]


REFERRED = message(dataschemaxid="/schemagroups/s/schemas/order")
IN_VAIN = {"specversion": {"value": "{", "type": "uritemplate"}}


IN_VAIN_TOPIC = {"value": "orders-{", "type": "uritemplate"}


@pytest.mark.parametrize(
    ("found", "doubt"),
    [
        pytest.param(catalog(placed=message(dataschema=GOOD)), "", id="good"),
        pytest.param(catalog(placed=message()), "", id="no schema"),
        pytest.param(catalog(GOOD, placed=REFERRED), "", id="good, elsewhere in the catalog"),
        pytest.param(catalog(placed=message(dataschema=BAD)), RAW, id="bad"),
        pytest.param(catalog(BAD, placed=REFERRED), RAW, id="bad, elsewhere in the catalog"),
        pytest.param(
            catalog({"$ref": "gone"}, placed=REFERRED), RAW, id="refers to what is not there"
        ),
        pytest.param(
            catalog(placed=message(dataschema=GOOD, dataschemauri="/s")), "stated twice", id="twice"
        ),
        pytest.param(
            catalog(placed=message(dataschema=BAD, envelopemetadata=IN_VAIN)),
            "its template cannot be read: no message will ever match it (heraldry check)",
            id="template",
        ),
        pytest.param(
            catalog(placed={"protocol": "KAFKA", "protocoloptions": {"topic": IN_VAIN_TOPIC}}),
            "its template cannot be read",
            id="template of a protocol",
        ),
        pytest.param(
            catalog(placed=message(basemessage=f"{ORDERS}/placed")),
            "its base messages come back to it: no message will ever match it",
            id="circular",
        ),
        pytest.param(catalog(placed=message(envelope="Letters/1.0")), "", id="a warning of check"),
        pytest.param(catalog(placed={}), "", id="a base for others"),
        pytest.param(
            catalog(placed=message(dataschemaformat="Shapes/1", dataschema=BAD)), "", id="carried"
        ),
    ],
)
def test_a_doubt_is_an_error_of_check(found: Catalog, doubt: str) -> None:
    told = doubtful(Doubts(), found)
    assert [xid for xid, _ in told] == ([f"{ORDERS}/placed"] if doubt else [])
    assert all(doubt in one for _, one in told)
    errors = [one for one in check(found) if one.severity == "error"]
    assert bool(errors) is bool(doubt)


def test_only_what_is_to_land_is_doubted() -> None:
    found = catalog(placed=message(dataschema=BAD), paid=message(dataschema=BAD))
    assert [xid for xid, _ in doubtful(Doubts([f"{ORDERS}/paid"]), found)] == [f"{ORDERS}/paid"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            catalog(placed=message(dataschema=GOOD)),
            catalog(placed=message(dataschema=BAD)),
            id="own",
        ),
        pytest.param(catalog(GOOD, placed=REFERRED), catalog(BAD, placed=REFERRED), id="referred"),
        pytest.param(
            catalog(GOOD, placed=message(dataschema={"$ref": "/schemagroups/s/schemas/order"})),
            catalog(placed=message(dataschema={"$ref": "/schemagroups/s/schemas/order"})),
            id="a schema of the schema",
        ),
    ],
)
def test_a_change_is_seen_wherever_it_is(before: Catalog, after: Catalog) -> None:
    doubts = Doubts()
    for found, count in ((before, 0), (before, 0), (after, 1), (after, 1), (before, 0)):
        assert len(doubtful(doubts, found)) == count


@pytest.mark.slow
def test_what_is_as_it_was_costs_little() -> None:
    many = {f"m{n}": message(dataschema=GOOD | {"title": f"little {n}"}) for n in range(2_000)}
    doubts, took = Doubts(), []
    for last in (GOOD, BAD):
        found = catalog(**many, last=message(dataschema=last))
        gc.collect()
        gc.disable()  # the collector would look at all that other tests have left
        begun = time.process_time()
        told = doubtful(doubts, found)
        took.append(time.process_time() - begun)
        gc.enable()
    assert [xid for xid, _ in told] == [f"{ORDERS}/last"]
    assert took[1] < took[0] / 2


def told_of(*catalogs: Catalog, only: Collection[str] = ()) -> list[str]:
    """What is told while a watch finds one catalog after the other."""
    looks, told = [Look(catalog=one) for one in catalogs], list[str]()
    watch = CatalogWatch(lambda: looks.pop(0), 60.0, every=0.0, tell=lambda text: None)
    watch.current()
    with doubts_told(watch, only, told.append):
        while looks:
            watch.current()
    return told


def test_every_catalog_is_told_of() -> None:
    bad, good = catalog(placed=message(dataschema=BAD)), catalog(placed=message(dataschema=GOOD))
    line = f"{ORDERS}/placed: {RAW}"
    assert told_of(good) == []
    assert told_of(bad) == [line]
    assert told_of(good, bad, good) == [line]
    other = catalog(placed=message(dataschema=BAD), paid=message(dataschema=GOOD))
    assert told_of(bad, other) == [line, line]


@pytest.mark.parametrize(
    ("count", "last"),
    [
        pytest.param(5, f"{ORDERS}/m4: {RAW}", id="five"),
        pytest.param(405, "and 400 more such definitions (heraldry check)", id="many"),
    ],
)
def test_a_few_definitions_have_a_line_of_their_own(count: int, last: str) -> None:
    told = told_of(catalog(**{f"m{n}": message(dataschema=BAD) for n in range(count)}))
    assert told[:5] == [f"{ORDERS}/m{n}: {RAW}" for n in range(5)]
    assert len(told) == min(count, 6)
    assert told[-1] == last


def test_more_than_can_be_looked_at_are_told_of_once() -> None:
    many = {f"m{n}": message(dataschema=BAD) for n in range(LOOKED_AT + 1)}
    first, second = catalog(**many), catalog(**many, last=message())
    told = told_of(first, second)
    assert told == [f"of {LOOKED_AT + 1:,} definitions none was looked at: heraldry check does"]
    assert told_of(first, only=[f"{ORDERS}/m7"]) == [f"{ORDERS}/m7: {RAW}"]


def test_a_catalog_that_is_refused_is_not_told_of() -> None:
    looks = [Look(catalog=catalog(a=message())), Look(catalog=catalog(b=message(dataschema=BAD)))]
    watch, told = CatalogWatch(lambda: looks.pop(0), 60.0, every=0.0), list[str]()
    watch.current()

    def refuse(found: Catalog) -> None:
        if "b" in found.groups["messagegroups"]["orders"].resources["messages"]:
            raise OSError("no room")

    watch.accept_by(refuse)
    with doubts_told(watch, (), told.append):
        assert watch.current().stale_since is not None
    assert told == []
