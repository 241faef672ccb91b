"""Fitting a definition to the table that exists: the rule, and that it loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.messages.judge import Judge
from heraldry.messages.table_columns import table_names
from heraldry.model.catalog import Catalog
from heraldry.pipeline.lake import delta, fitting
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.fitting import Fitted, TableShape, apply_fit, fit, fit_tables
from heraldry.pipeline.lake.layout import Fit, TableLayout, TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.widening import merged_type, plain_type
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.schemas.columns import Column, ColumnType, Scalar, Struct, list_of, map_of
from heraldry.schemas.names import legal_names
from tests.suites.streams import document, kind, record, xid

TEXT, WHOLE, NUMBER = Scalar("string"), Scalar("integer"), Scalar("number")


def of_record(**members: ColumnType) -> Struct:
    """A record with these members."""
    return Struct(tuple(Column(name=name, key=name, type=kind) for name, kind in members.items()))


def layout(members: Mapping[str, ColumnType], **more: Any) -> TableLayout:
    """A layout of a payload with these members."""
    names = legal_names(list(members))
    columns = tuple(
        Column(name=name, key=key, type=kind)
        for (key, kind), name in zip(members.items(), names, strict=True)
    )
    schema = SimpleNamespace(columns=columns)
    compiled: Any = SimpleNamespace(envelope_columns=(), placeholders=(), schema=schema)
    claimed = table_names(compiled).payload
    return TableLayout(
        definition="/d",
        version="1",
        name=("lake", "g", "m"),
        payload=tuple(zip(columns, claimed, strict=True)),
        envelope=(),
        placeholders=(),
        keeps_payload=False,
        **more,
    )


def grown(*layouts: TableLayout) -> tuple[TableShape, list[Fitted]]:
    """A table after all of these, and how each was fitted."""
    shape, fits = TableShape(), []
    for one in layouts:
        fits.append(fit(shape, one))
        shape = shape.with_additions(fits[-1])
    return shape, fits


def test_what_is_the_same_stays() -> None:
    shape, fits = grown(layout({"a": TEXT}), layout({"a": TEXT}))
    assert not fits[1].additions
    assert not fits[1].renames
    assert not fits[1].configuration
    assert shape.configuration == {"heraldry.columns": "{}"}


def test_what_is_new_is_added_and_what_goes_stays() -> None:
    shape, fits = grown(layout({"a": TEXT}), layout({"b": WHOLE}))
    assert fits[1].additions == pa.schema([("b", pa.int64())])
    assert shape.schema.names[0] == "a"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEXT, WHOLE),
        (WHOLE, NUMBER),
        (TEXT, Scalar("timestamp")),
        (TEXT, of_record(a=TEXT)),
        (of_record(a=TEXT), of_record(a=WHOLE)),
        (of_record(a=TEXT), of_record(A=TEXT)),
        (list_of(TEXT, nullable=True), list_of(WHOLE, nullable=True)),
        (map_of(of_record(a=TEXT), nullable=True), map_of(of_record(b=TEXT), nullable=True)),
    ],
    ids=["text", "integer to number", "time", "to record", "member", "case", "items", "map"],
)
def test_another_type_gets_another_column(before: ColumnType, after: ColumnType) -> None:
    shape, fits = grown(layout({"a": before}), layout({"a": after}), layout({"a": before}))
    assert fits[1].renames == {"a": "a_2"}
    assert json.loads(shape.configuration["heraldry.columns"]) == {"a_2": "/a"}
    assert not fits[2].renames
    assert not fits[2].additions


@pytest.mark.parametrize(
    ("before", "after", "merged"),
    [
        (of_record(a=TEXT), of_record(a=TEXT, b=WHOLE), {"a": pa.string(), "b": pa.int64()}),
        (of_record(a=TEXT), of_record(b=WHOLE), {"a": pa.string(), "b": pa.int64()}),
        (
            of_record(a=of_record(x=TEXT)),
            of_record(a=of_record(y=TEXT)),
            {"a": pa.struct([("x", pa.string()), ("y", pa.string())])},
        ),
    ],
    ids=["gains", "gains and loses", "deep"],
)
def test_a_record_is_widened(
    before: ColumnType, after: ColumnType, merged: dict[str, pa.DataType]
) -> None:
    shape, fits = grown(layout({"r": before}), layout({"r": after}))
    assert not fits[1].renames
    assert shape.schema.field("r").type == pa.struct(list(merged.items()))
    assert not grown(layout({"r": before}), layout({"r": after}), layout({"r": after}))[1][
        2
    ].additions


def test_records_in_lists_are_widened() -> None:
    one, two = (list_of(of_record(**{name: TEXT}), nullable=True) for name in "ab")
    shape, fits = grown(layout({"r": one}), layout({"r": two}))
    assert not fits[1].renames
    assert shape.schema.field("r").type.value_type.names == ["a", "b"]


def test_a_name_that_another_key_has() -> None:
    """``a_2`` already holds integers of ``a``: a member of that name gets a column of its own."""
    _, fits = grown(layout({"a": TEXT}), layout({"a": WHOLE}), layout({"a": WHOLE, "a_2": WHOLE}))
    assert fits[2].renames == {"a": "a_2", "a_2": "a_2_2"}


def test_a_name_that_the_layout_itself_uses() -> None:
    _, fits = grown(layout({"a": TEXT}), layout({"a": WHOLE, "a_2": TEXT}))
    assert fits[1].renames == {"a": "a_3"}


def test_keys_that_change_places() -> None:
    """Names depend on the order of members; a key keeps its column whatever it is called now."""
    _, fits = grown(layout({"a b": TEXT}), layout({"a_b": TEXT, "a b": TEXT}))
    assert layout({"a_b": TEXT, "a b": TEXT}).schema.names[:2] == ["a_b", "a_b_2"]
    assert fits[1].renames == {"a_b": "a_b_3", "a_b_2": "a_b"}


def test_the_spelling_of_the_table() -> None:
    """A table that says nothing of its columns has them by name, in any case."""
    shape = TableShape(schema=pa.schema([("Status", pa.string()), ("n", pa.string())]))
    fitted = fit(shape, layout({"status": TEXT, "N": WHOLE}))
    assert fitted.renames == {"status": "Status", "N": "N_2"}
    assert json.loads(fitted.configuration["heraldry.columns"]) == {
        "N_2": "/N",
        "Status": "/status",
        "n": "/N",
    }


def test_partitions_are_no_columns_of_the_payload() -> None:
    day = Arrangement((("_day", "date"),))
    assert fit(None, layout({"_day": TEXT}, arrangement=day)).renames == {"_day": "_day_2"}


KEYS = st.sampled_from(["a", "A", "a_2", "a b", "a_b", "A_2", "ce_id", "ctx_x", "_batch", "b"])
TYPES = st.recursive(
    st.sampled_from([TEXT, WHOLE, NUMBER, Scalar("date")]),
    lambda inner: (
        st.dictionaries(st.sampled_from(["x", "y"]) | st.just("Y"), inner, min_size=1, max_size=2)
        .filter(lambda found: len({name.lower() for name in found}) == len(found))
        .map(lambda found: of_record(**found))
        | inner.map(lambda one: list_of(one, nullable=True))
        | inner.map(lambda one: map_of(one, nullable=True))
    ),
    max_leaves=4,
)
LAYOUTS = st.lists(st.dictionaries(KEYS, TYPES, max_size=5).map(layout), min_size=1, max_size=6)


@given(LAYOUTS)
def test_nothing_is_lost(layouts: list[TableLayout]) -> None:
    shape, fits = grown(*layouts)
    final = {found.name: found.type for found in shape.schema}
    assert len({name.lower() for name in final}) == len(final)
    columns: dict[tuple[str, str], str] = {}
    for one, fitted in zip(layouts, fits, strict=True):
        written = [fitted.renames.get(name, name) for name in one.schema.names]
        assert len({name.lower() for name in written}) == len(written)
        for wanted, name in zip(one.schema, written, strict=True):
            # What the file has fits into the column as it ended up, without a cast.
            assert merged_type(final[name], wanted.type) == final[name]
            known = (one.meanings[wanted.name], str(plain_type(wanted.type)))
            assert columns.setdefault(known, name) == name
    owners: dict[str, str] = {}
    for (key, _), name in columns.items():
        assert owners.setdefault(name, key) == key


@given(LAYOUTS)
def test_fitting_again_changes_nothing(layouts: list[TableLayout]) -> None:
    shape, fits = grown(*layouts)
    for one, fitted in zip(layouts, fits, strict=True):
        again = fit(shape, one)
        assert not again.additions
        assert not again.configuration
        assert again.renames == fitted.renames


def value_of(kind: pa.DataType, number: int) -> Any:
    """A value of a type that tells which row it is of."""
    if pa.types.is_struct(kind):
        return {member.name: value_of(member.type, number) for member in kind}
    if pa.types.is_list(kind):
        return [value_of(kind.value_type, number)]
    if pa.types.is_map(kind):
        return [("key", value_of(kind.item_type, number))]
    if pa.types.is_date(kind):
        return date.fromordinal(737_000 + number)
    return f"row {number}" if pa.types.is_string(kind) else kind.to_pandas_dtype()(number)


def is_part(value: Any, whole: Any) -> bool:
    """Whether a value came back; a record may have more members by now."""
    if isinstance(value, dict):
        return all(is_part(inner, whole[name]) for name, inner in value.items())
    if isinstance(value, list):
        return all(is_part(a, b) for a, b in zip(value, whole, strict=True))
    if isinstance(value, tuple):
        return is_part(list(value), list(whole))
    return bool(value == whole)


@settings(max_examples=10)
@given(LAYOUTS)
def test_every_row_is_read_again(layouts: list[TableLayout]) -> None:
    with TemporaryDirectory() as folder:
        storage = Storage.open(folder)
        committer = Committer(storage, "job")
        table: DeltaTable | None = None
        written = []
        for number, one in enumerate(layouts):
            shape = TableShape.of(table) if table is not None else None
            fitted = fit(shape, one)
            if table is not None and shape is not None:
                apply_fit(table, shape, shape.with_additions(fitted))
            content = {
                found.name: value_of(found.type, number)
                for found in one.schema
                if found.name not in ("_batch", "_received")
            }
            row = content | {"_batch": number}
            rows = one.fitted(Fit(renames=fitted.renames)).stored(
                pa.Table.from_pylist([row], schema=one.schema)
            )
            files = ParquetWriter(storage, number).write(one.path, rows)
            committer.commit(one.path, one.configuration, files, number)
            written.append({fitted.renames.get(name, name): v for name, v in content.items()})
            table = delta.open_table(storage, one.path)
        assert table is not None
        found = delta.table_rows(storage, table).sort_by("_batch").to_pylist()
        for row, expected in zip(found, written, strict=True):
            assert is_part(expected, row)
            others = set(row) - set(expected) - {"_batch", "_received"}
            assert all(row[name] is None for name in others)


# --- tables ---


def catalog_of(**schemas: Mapping[str, Any]) -> Catalog:
    kinds = {name: dict(kind(name, dict(schema)).definition) for name, schema in schemas.items()}
    return load_bytes(document(kinds), "catalog")


def make(storage: Storage, catalog: Catalog, plan: TablePlan, message: str) -> DeltaTable:
    """The table of a definition as a first batch would make it."""
    one = plan.layout(catalog, Judge(catalog).matcher.definition(xid(message)))
    return delta.create_table(storage, one.path, one.schema, one.configuration)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.open(str(tmp_path))


PLAN = TablePlan(database="lake")
OLD = catalog_of(one=record(a={"type": "string"}, r=record(x={"type": "string"})))
NEW = catalog_of(
    one=record(
        a={"type": "integer"},
        r=record(x={"type": "string"}, y={"type": "string"}),
        n={"type": "boolean"},
    )
)


def test_no_tables_need_no_fit(storage: Storage) -> None:
    assert fit_tables(storage, NEW, PLAN).fits == {}
    make(storage, catalog_of(other=record()), PLAN, "other")
    assert fit_tables(storage, NEW, PLAN).fits == {}


def test_a_table_is_fitted(storage: Storage) -> None:
    make(storage, OLD, PLAN, "one")
    assert fit_tables(storage, NEW, PLAN).fits == {xid("one"): Fit(renames={"a": "a_2"})}
    table = delta.open_table(storage, "lake/shop/one")
    assert table is not None
    columns = {column.name: column for column in pa.schema(table.schema())}
    assert columns["a"].type == pa.string()
    assert columns["a_2"].type == pa.int64()
    assert columns["n"].type == pa.bool_()
    assert columns["r"].type.names == ["x", "y"]
    told = json.loads(table.metadata().configuration["heraldry.columns"])
    assert told == {"a_2": "/a", "ce_extensions": "attributes.*"}
    version = table.version()
    assert fit_tables(storage, NEW, PLAN).fits == {xid("one"): Fit(renames={"a": "a_2"})}
    assert fit_tables(storage, OLD, PLAN).fits == {}
    again = delta.open_table(storage, "lake/shop/one")
    assert again is not None
    assert again.version() == version


def test_the_tables_that_are_there_are_told(storage: Storage) -> None:
    assert fit_tables(storage, OLD, PLAN).tables == frozenset()
    make(storage, OLD, PLAN, "one")
    assert fit_tables(storage, OLD, PLAN).tables == {"lake/shop/one"}


OTHER = catalog_of(one=record(a={"type": "boolean"}, k={"type": "string"}))


def test_two_jobs_fit_a_table_at_once(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """One has read the table as the other changes it, twice over."""
    make(storage, OLD, PLAN, "one")
    catalogs = iter((OTHER, catalog_of(one=record(late={"type": "string"}))))

    def beside(*given: Any) -> None:
        if (catalog := next(catalogs, None)) is not None:
            with monkeypatch.context() as alone:
                alone.setattr(fitting, "apply_fit", apply_fit)
                fit_tables(storage, catalog, PLAN)
        apply_fit(*given)

    monkeypatch.setattr(fitting, "apply_fit", beside)
    assert fit_tables(storage, NEW, PLAN).fits == {xid("one"): Fit(renames={"a": "a_3"})}
    assert fit_tables(storage, OTHER, PLAN).fits == {xid("one"): Fit(renames={"a": "a_2"})}
    table = delta.open_table(storage, "lake/shop/one")
    assert table is not None
    columns = {column.name: column.type for column in pa.schema(table.schema())}
    assert (columns["a_2"], columns["a_3"]) == (pa.bool_(), pa.int64())
    assert {"k", "late", "n"} <= columns.keys()


def test_jobs_that_follow_one_registry(storage: Storage) -> None:
    make(storage, OLD, PLAN, "one")
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: fit_tables(storage, NEW, PLAN).fits, range(3)))
    assert found == [{xid("one"): Fit(renames={"a": "a_2"})}] * 3


def test_only_what_is_selected_is_fitted(storage: Storage) -> None:
    make(storage, OLD, PLAN, "one")
    assert fit_tables(storage, NEW, PLAN, only=[xid("other")]).fits == {}


def test_a_folder_without_a_table(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "lake" / "shop" / "one").mkdir(parents=True)
    assert fit_tables(storage, NEW, PLAN).fits == {}


def test_a_table_keeps_its_partitions(storage: Storage) -> None:
    day = TablePlan(database="lake", partition_by=("day",))
    make(storage, OLD, day, "one")
    found = fit_tables(storage, NEW, PLAN).fits[xid("one")]
    assert found.arrangement == Arrangement((("_day", "date"),))
    assert fit_tables(storage, NEW, day).fits[xid("one")].arrangement is None
    hour = TablePlan(database="lake", partition_by=("hour",))
    with pytest.raises(
        WarehouseError, match="is partitioned by _day, and was asked to be by _hour"
    ):
        fit_tables(storage, NEW, hour)


def test_a_table_without_partitions_keeps_none(storage: Storage) -> None:
    make(storage, OLD, PLAN, "one")
    with pytest.raises(WarehouseError, match="has no partitions, and was asked to be by a"):
        fit_tables(storage, OLD, TablePlan(database="lake", partition_by=("a",)))


def test_the_order_of_rows_may_change(storage: Storage) -> None:
    make(storage, OLD, PLAN, "one")
    fit_tables(storage, OLD, TablePlan(database="lake", cluster_by=("a",)))
    found = fit_tables(storage, OLD, PLAN).fits[xid("one")]
    assert found.arrangement == Arrangement((), ("a",))


# --- tables of a common base ---


def variants(**schemas: Mapping[str, Any]) -> Catalog:
    """A base message ``order`` and its variants, each with a payload of its own."""
    told = {"base": dict(kind("order", record(id={"type": "string"})).definition)}
    for name, schema in schemas.items():
        one = kind(name, dict(schema), basemessage="/messagegroups/shop/messages/base")
        told[name] = dict(one.definition)
    return load_bytes(document(told), "catalog")


BASED = TablePlan(database="lake", with_base=True)
VARIANTS = variants(
    kafka=record(id={"type": "string"}, n={"type": "string"}),
    mqtt=record(id={"type": "string"}, n={"type": "integer"}, m={"type": "boolean"}),
)


def test_variants_share_the_columns_of_their_base(storage: Storage) -> None:
    found = fit_tables(storage, VARIANTS, BASED).fits
    assert found[xid("kafka")].renames == {}
    assert found[xid("mqtt")].renames == {"n": "n_2"}
    layouts = [
        BASED.layout(VARIANTS, Judge(VARIANTS).matcher.definition(xid(name))).fitted(
            found[xid(name)]
        )
        for name in ("base", "kafka", "mqtt")
    ]
    assert {one.path for one in layouts} == {"lake/shop/base"}
    assert len({json.dumps(one.configuration) for one in layouts}) == 1
    made = delta.create_table(storage, "lake/shop/base", pa.schema([]), layouts[1].configuration)
    columns = {column.name: column.type for column in pa.schema(made.schema())}
    assert (columns["n"], columns["n_2"], columns["m"]) == (pa.string(), pa.int64(), pa.bool_())
    assert made.metadata().description == xid("base")
    assert "heraldry.schema" not in made.metadata().configuration
    assert fit_tables(storage, VARIANTS, BASED).fits == {xid("mqtt"): Fit(renames={"n": "n_2"})}


def test_a_variant_that_comes_later(storage: Storage) -> None:
    few = variants(kafka=record(n={"type": "string"}), http=record(n={"type": "string"}))
    fits = fit_tables(storage, few, BASED).fits
    one = BASED.layout(few, Judge(few).matcher.definition(xid("http"))).fitted(fits[xid("http")])
    delta.create_table(storage, one.path, one.schema, one.configuration)
    assert fit_tables(storage, VARIANTS, BASED).fits == {xid("mqtt"): Fit(renames={"n": "n_2"})}


def test_without_being_asked_variants_keep_tables_of_their_own(storage: Storage) -> None:
    assert fit_tables(storage, VARIANTS, PLAN).fits == {}
