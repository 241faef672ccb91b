"""What a new version does to a table is told as the warehouse then treats it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.schemas.column_text import type_text
from heraldry.schemas.columns import (
    Column,
    ColumnType,
    Fixed,
    Scalar,
    ScalarName,
    Struct,
    list_of,
    map_of,
)
from heraldry.schemas.impact import ColumnChange, impact

STRING, INTEGER, NUMBER = Scalar("string"), Scalar("integer"), Scalar("number")
JSON, DATE, TIMESTAMP = Scalar("json"), Scalar("date"), Scalar("timestamp")


def column(name: str, kind: ColumnType, *, nullable: bool = True, key: str = "") -> Column:
    return Column(name=name, key=key or name, type=kind, nullable=nullable)


def record(*fields: Column) -> Struct:
    return Struct(fields)


def told(old: ColumnType, new: ColumnType) -> list[tuple[str, str, str | None, str | None, bool]]:
    """The changes of a table with the one column ``c``."""
    changes = impact((column("c", old),), (column("c", new),))
    return [(one.kind, one.column, one.old, one.new, one.breaking) for one in changes]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(Scalar("timestamp"), "timestamp", id="scalar"),
        pytest.param(Fixed(38, 18), "decimal(38,18)", id="decimal"),
        pytest.param(
            list_of(record(column("sku", STRING), column("count", INTEGER)), nullable=False),
            "list<struct<sku:string,count:integer>>",
            id="list of records",
        ),
        pytest.param(
            map_of(list_of(Fixed(20, 0), nullable=True), nullable=True),
            "map<string,list<decimal(20,0)>>",
            id="map of lists",
        ),
        pytest.param(record(), "struct<>", id="empty record"),
    ],
)
def test_types_as_text(kind: ColumnType, text: str) -> None:
    assert type_text(kind) == text


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param(INTEGER, NUMBER, "widened", id="integer to number"),
        pytest.param(NUMBER, INTEGER, "narrowed", id="number to integer"),
        pytest.param(INTEGER, Fixed(20, 0), "widened", id="integer to 20 digits"),
        pytest.param(INTEGER, Fixed(10, 0), "narrowed", id="integer to 10 digits"),
        pytest.param(INTEGER, Fixed(20, 10), "retyped", id="integer to 10 digits and a fraction"),
        pytest.param(Fixed(10, 0), INTEGER, "widened", id="10 digits to integer"),
        pytest.param(Fixed(10, 2), Fixed(12, 2), "widened", id="more digits"),
        pytest.param(Fixed(10, 2), Fixed(12, 4), "widened", id="more fraction"),
        pytest.param(Fixed(10, 2), Fixed(10, 4), "retyped", id="fraction for digits"),
        pytest.param(Fixed(12, 4), Fixed(10, 2), "narrowed", id="less of both"),
        pytest.param(Fixed(15, 2), NUMBER, "widened", id="short decimal to number"),
        pytest.param(Fixed(38, 2), NUMBER, "retyped", id="long decimal to number"),
        pytest.param(DATE, TIMESTAMP, "retyped", id="date to timestamp"),
        pytest.param(INTEGER, STRING, "retyped", id="integer to string"),
        pytest.param(INTEGER, JSON, "widened", id="integer to anything"),
        pytest.param(JSON, INTEGER, "narrowed", id="anything to integer"),
        pytest.param(
            INTEGER, list_of(INTEGER, nullable=False), "retyped", id="integer to list of integers"
        ),
        pytest.param(
            record(column("a", STRING)), map_of(STRING, nullable=False), "retyped", id="record, map"
        ),
    ],
)
def test_another_type_is_breaking_wherever_it_leads(
    old: ColumnType, new: ColumnType, kind: str
) -> None:
    assert told(old, new) == [(kind, "c", type_text(old), type_text(new), True)]


def test_a_new_column_is_additive() -> None:
    assert impact((column("a", STRING),), (column("a", STRING), column("b", INTEGER))) == (
        ColumnChange(
            kind="added",
            column="b",
            old=None,
            new="integer",
            breaking=False,
            message="The table gets the column 'b' (integer); rows already there have null in it.",
        ),
    )


def test_a_column_that_is_gone_breaks_queries() -> None:
    assert impact((column("a", STRING), column("b", INTEGER)), (column("a", STRING),)) == (
        ColumnChange(
            kind="removed",
            column="b",
            old="integer",
            new=None,
            breaking=True,
            message="The column 'b' (integer) gets no more values: new rows have null in it.",
        ),
    )


def test_a_narrowed_column_says_what_happens() -> None:
    (change,) = impact((column("weight", NUMBER),), (column("weight", INTEGER),))
    assert change.message == (
        "The column 'weight' narrows from number to integer: new values get a column of their "
        "own, 'weight_2' or the next that is free."
    )


def test_text_and_json_text_land_alike_but_mean_different_things() -> None:
    (change,) = impact((column("note", STRING),), (column("note", JSON),))
    assert (change.kind, change.breaking) == ("widened", True)
    assert change.message == (
        "The column 'note' widens from string to json: both land as text, but one is the text "
        "itself and the other JSON with its quotes."
    )


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        pytest.param(
            record(column("city", STRING)),
            record(column("city", STRING), column("zip", STRING)),
            [("added", "c.zip", None, "string", False)],
            id="a new field",
        ),
        pytest.param(
            record(column("city", STRING), column("zip", STRING)),
            record(column("city", STRING)),
            [("removed", "c.zip", "string", None, True)],
            id="a field is gone",
        ),
        pytest.param(
            list_of(record(column("sku", STRING)), nullable=False),
            list_of(record(column("sku", INTEGER)), nullable=False),
            [("retyped", "c[].sku", "string", "integer", True)],
            id="a field in a list",
        ),
        pytest.param(
            map_of(INTEGER, nullable=False),
            map_of(NUMBER, nullable=False),
            [("widened", "c{}", "integer", "number", True)],
            id="the values of a map",
        ),
        pytest.param(
            list_of(map_of(list_of(INTEGER, nullable=False), nullable=False), nullable=False),
            list_of(map_of(list_of(DATE, nullable=False), nullable=False), nullable=False),
            [("retyped", "c[]{}[]", "integer", "date", True)],
            id="deep inside",
        ),
        pytest.param(
            record(column("a", STRING), column("b", STRING)),
            record(column("b", STRING), column("a", STRING)),
            [],
            id="another order",
        ),
        pytest.param(
            list_of(STRING, nullable=False),
            list_of(STRING, nullable=True),
            [("nullable", "c[]", "string", "string", False)],
            id="items may be null",
        ),
    ],
)
def test_changes_inside_a_column(
    old: ColumnType,
    new: ColumnType,
    changes: list[tuple[str, str, str | None, str | None, bool]],
) -> None:
    assert told(old, new) == changes


def test_null_is_never_breaking() -> None:
    free, bound = (column("a", STRING),), (column("a", STRING, nullable=False),)
    assert [(one.kind, one.breaking) for one in impact(bound, free)] == [("nullable", False)]
    assert [(one.kind, one.breaking) for one in impact(free, bound)] == [("required", False)]


def test_another_spelling_is_no_other_column() -> None:
    (change,) = impact((column("Weight", NUMBER),), (column("weight", NUMBER),))
    assert (change.kind, change.column, change.breaking) == ("renamed", "weight", True)


def test_a_column_that_takes_the_name_of_another_member() -> None:
    old = (column("a_b", STRING, key="a b"), column("a_b_2", STRING, key="a_b"))
    changes = impact(old, (column("a_b", STRING),))
    assert [(one.kind, one.column) for one in changes] == [("moved", "a_b"), ("removed", "a_b_2")]
    assert changes[0].message == (
        "The column 'a_b' is now read from 'a_b' and no longer from 'a b': new values get a column "
        "of their own, 'a_b_2' or the next that is free."
    )


def test_the_order_of_columns_in_a_table_does_not_matter() -> None:
    one, two = column("a", STRING), column("b", STRING)
    assert impact((one, two), (two, one)) == ()


# --- any columns

NAMES = ("a", "b", "C", "c", "d")
SCALARS: tuple[ScalarName, ...] = (
    "string",
    "integer",
    "number",
    "boolean",
    "timestamp",
    "date",
    "binary",
    "json",
)


def tables(kinds: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[tuple[Column, ...]]:
    made = st.builds(Column, name=st.sampled_from(NAMES), key=st.just("k"), type=kinds)
    return st.lists(made, max_size=4, unique_by=lambda one: one.name.lower()).map(tuple)


plain = st.sampled_from(SCALARS).map(Scalar) | st.sampled_from([Fixed(10, 2), Fixed(20, 0)])
types: st.SearchStrategy[ColumnType] = st.recursive(
    plain,
    lambda inner: (
        inner.map(lambda kind: list_of(kind, nullable=True))
        | inner.map(lambda kind: map_of(kind, nullable=True))
        | tables(inner).filter(bool).map(Struct)
    ),
    max_leaves=4,
)


@given(tables(types))
def test_equal_columns_have_no_impact(columns: tuple[Column, ...]) -> None:
    assert impact(columns, columns) == ()


@given(tables(types), tables(types))
def test_what_is_added_one_way_is_removed_the_other_way(
    old: tuple[Column, ...], new: tuple[Column, ...]
) -> None:
    there, back = impact(old, new), impact(new, old)
    added = {(one.column.lower(), one.new) for one in there if one.kind == "added"}
    removed = {(one.column.lower(), one.old) for one in back if one.kind == "removed"}
    assert added == removed
    widened = {one.column.lower() for one in there if one.kind == "widened"}
    assert widened == {one.column.lower() for one in back if one.kind == "narrowed"}


@given(tables(types).filter(bool), tables(types).filter(bool))
def test_what_gets_a_column_of_its_own_is_what_no_column_can_hold_both_of(
    old: tuple[Column, ...], new: tuple[Column, ...]
) -> None:
    pytest.importorskip("pyarrow")
    from heraldry.pipeline.lake.layout import arrow_type
    from heraldry.pipeline.lake.widening import merged_type

    before = {one.name.lower(): one for one in old}
    own = {
        one.name
        for one in new
        if (was := before.get(one.name.lower())) is not None
        and (
            was.name != one.name or merged_type(arrow_type(was.type), arrow_type(one.type)) is None
        )
    }
    found = [one for one in impact(old, new) if "a column of their own" in one.message]
    assert {re.split(r"[.[{]", one.column)[0] for one in found} == own
    assert all(one.breaking for one in found)
