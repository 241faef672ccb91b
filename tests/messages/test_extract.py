"""Attributes and placeholders become columns."""

from __future__ import annotations

from datetime import UTC, datetime

from heraldry.messages.envelopes.cloudevents import ATTRIBUTES
from heraldry.messages.extract import EXTENSIONS, envelope_row, extensions_text
from heraldry.schemas.columns import Scalar
from tests.messages.airport import airport, event, xid

CATALOG = airport()


def test_placeholders_come_in_order_of_appearance() -> None:
    assert CATALOG[xid("checkedin")].placeholders == ("airport", "tag")
    assert CATALOG[xid("scanned")].placeholders == ("airport", "gate", "tag")
    assert CATALOG[xid("reading")].placeholders == ("belt", "sensor", "unit")


def test_attributes_are_columns_of_their_type() -> None:
    columns = {one.key: one for one in CATALOG[xid("loaded")].compiled.envelope_columns}
    assert columns["time"].name == "ce_time"
    assert columns["time"].type == Scalar("timestamp")
    assert columns["priority"].type == Scalar("integer")
    assert columns[EXTENSIONS].type == Scalar("json")


def test_every_table_has_the_attributes_of_events() -> None:
    columns = CATALOG[xid("reading")].compiled.envelope_columns
    assert [one.key for one in columns] == [*ATTRIBUTES, EXTENSIONS]


def test_a_row_of_attributes() -> None:
    columns = CATALOG[xid("loaded")].compiled.envelope_columns
    given = event(time="2026-11-16T08:30:00+01:00", priority="5", gate="A1", belt=True)
    row = envelope_row(columns, given)
    assert isinstance(row, dict)
    assert row["ce_time"] == datetime(2026, 11, 16, 7, 30, tzinfo=UTC)
    assert row["ce_priority"] == 5
    assert row["ce_id"] == "1"
    assert row["ce_dataschema"] is None
    assert row["ce_extensions"] == '{"belt":true,"gate":"A1"}'


def test_a_time_without_representation_is_a_problem() -> None:
    columns = CATALOG[xid("loaded")].compiled.envelope_columns
    problems = envelope_row(columns, event(time="2016-12-31T23:59:60Z"))
    assert isinstance(problems, tuple)
    assert [(p.path, p.rule) for p in problems] == [("attributes.time", "column")]


def test_no_undeclared_attributes_give_no_text() -> None:
    assert extensions_text({}) is None
