"""RFC 3339 to values, and what has none."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.schemas.timestamps import to_date, to_timestamp

DAY = datetime(2020, 2, 29, 12, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("2020-02-29T12:30:15Z", DAY, id="UTC"),
        pytest.param("2020-02-29t12:30:15z", DAY, id="lower case"),
        pytest.param("2020-02-29T14:30:15+02:00", DAY, id="offset"),
        pytest.param("2020-02-29T07:00:15-05:30", DAY, id="negative offset"),
        pytest.param("2020-02-29T12:30:15-00:00", DAY, id="unknown local offset"),
        pytest.param("2020-02-29T12:30:15.1Z", DAY.replace(microsecond=100_000), id="one digit"),
        pytest.param("2020-02-29T12:30:15.12Z", DAY.replace(microsecond=120_000), id="two digits"),
        pytest.param(
            "2020-02-29T12:30:15.123456789Z", DAY.replace(microsecond=123_456), id="nine digits"
        ),
        pytest.param(
            "2020-02-29T12:30:15.9999999Z", DAY.replace(microsecond=999_999), id="truncated"
        ),
        pytest.param(
            "2020-02-29T14:30:15.1234567+02:00", DAY.replace(microsecond=123_456), id="both"
        ),
    ],
)
def test_to_timestamp(text, value):
    made = to_timestamp(text)
    assert made == value
    assert made.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2016-12-31T23:59:60Z", id="leap second"),
        pytest.param("0000-01-01T00:00:00Z", id="year zero"),
        pytest.param("9999-12-31T23:59:59-01:00", id="beyond the last year"),
        pytest.param("0001-01-01T00:00:00+01:00", id="before the first year"),
        pytest.param("2021-02-29T00:00:00Z", id="no such day"),
        pytest.param("2020-01-01T00:00:00+24:00", id="no such offset"),
        pytest.param("2016-12-31t23:59:60.5z", id="leap second in lower case"),
    ],
)
def test_instants_without_a_representation(text):
    with pytest.raises(ValueError, match="no representation"):
        to_timestamp(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2020-01-01", id="date"),
        pytest.param("2020-01-01T00:00:00", id="no offset"),
        pytest.param("2020-01-01 00:00:00Z", id="blank"),
        pytest.param("20200101T000000Z", id="compact"),
        pytest.param("2020-W01-1T00:00:00Z", id="week"),
        pytest.param("2020-01-01T24:00:00Z", id="hour 24"),
        pytest.param("2020-01-01T00:00:00,5Z", id="comma"),
        pytest.param("2020-01-01T00:00:00.Z", id="empty fraction"),
        pytest.param("２020-01-01T00:00:00Z", id="digit beyond ASCII"),
        pytest.param("2020-01-01T00:00:00Z\n", id="line end"),
    ],
)
def test_texts_that_are_no_timestamps(text):
    with pytest.raises(ValueError, match="is not an RFC 3339 timestamp"):
        to_timestamp(text)


def test_to_date():
    assert to_date("2020-02-29") == date(2020, 2, 29)
    for text in ("20200229", "2020-W09-6", "2020-02-29T00:00:00Z", "2020-2-9"):
        with pytest.raises(ValueError, match="is not an RFC 3339 date"):
            to_date(text)
    for text in ("2021-02-29", "0000-01-01"):
        with pytest.raises(ValueError, match="no representation"):
            to_date(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_python_writes_is_read(value):
    text = value.isoformat().replace("+00:00", "Z")
    assert to_timestamp(text) == value
    assert to_timestamp(text.lower()) == value


@given(st.text())
def test_nothing_but_value_errors(text):
    for read in (to_timestamp, to_date):
        with suppress(ValueError):
            read(text)
