"""Reading files by their path: values that JSON lacks, instants, marks, what is gone or missing."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heraldry.errors import MessageError, PipelineError
from heraldry.messages import line as lines
from heraldry.pipeline.sources.file_reading import _line, read_file
from heraldry.pipeline.sources.record_lines import writer_of

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
NAIVE = datetime(2026, 11, 16, 8, 30)
MARK = b"\xef\xbb\xbf"


def values(path: Path, *, goes_on: bool = False) -> list[bytes]:
    found = read_file(path.as_uri(), goes_on=goes_on)
    return [row["value"] for batch in found for row in batch.to_pylist()]


def reason(value: bytes) -> str:
    told = json.loads(value)
    assert told.keys() - {"path"} == {"unreadable", "reason"}
    return str(told["reason"])


def test_a_file_that_is_gone_stops_the_batch_and_says_what_helps(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as error:
        values(tmp_path / "gone.parquet")
    assert f"{(tmp_path / 'gone.parquet').as_uri()} is gone" in str(error.value)
    assert "--source-option on_loss=continue" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_gone_is_a_letter_where_the_job_goes_on(tmp_path: Path) -> None:
    (found,) = values(tmp_path / "gone.parquet", goes_on=True)
    assert json.loads(found)["unreadable"] == (tmp_path / "gone.parquet").as_uri()
    assert reason(found) == "is gone"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_stops_the_batch(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    (tmp_path / "a.json").chmod(0)
    with pytest.raises(PermissionError):
        values(tmp_path / "a.json", goes_on=True)


NUMBERS = {"NaN": float("nan"), "infinity": float("inf"), "minus infinity": float("-inf")}
RECORDS: dict[str, Any] = {
    "a payload": lambda number: {"number": number, "other": 1.0},
    "deep in a payload": lambda number: {"rows": [{"a": {"b": [number]}}], "other": 1.0},
    "an attribute": lambda number: EVENT | {"weight": number},
    "the data of an event": lambda number: EVENT | {"data": {"number": number}},
    "beside base64": lambda number: EVENT | {"weight": number, "data_base64": "/w=="},
    "the value of a Kafka record": lambda number: {"topic": "t", "value": {"number": number}},
    "a header": lambda number: {"topic": "t", "value": b"1", "headers": {"a": number}},
    "metadata": lambda number: {"protocol": "X", "metadata": {"a": number}, "payload": "1"},
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_a_number_that_json_lacks_never_becomes_another_value(record: Any, number: float) -> None:
    with pytest.raises(ValueError, match="is no number of JSON"):
        writer_of(record(number).keys())(record(number))
    assert writer_of(record(1.5).keys())(record(1.5))
    assert writer_of(record(None).keys())(record(None))


def test_a_number_that_json_lacks_is_a_letter_of_its_own(tmp_path: Path) -> None:
    table = pa.table({"number": [1.0, float("nan"), None], "note": ["a", "b", None]})
    pq.write_table(table, tmp_path / "a.parquet")
    first, broken, last = values(tmp_path / "a.parquet")
    assert lines.read(first).payload == b'{"number":1.0,"note":"a"}'
    assert reason(broken) == "nan is no number of JSON"
    assert json.loads(broken)["unreadable"] == "{'number': nan, 'note': 'b'}"
    assert lines.read(last).payload == b'{"number":null,"note":null}'


PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "a column": ({"total": NUMBERS["NaN"]}, "/total"),
    "the data of an event": (EVENT | {"data": {"a": 1.0, "total": NUMBERS["NaN"]}}, "/data/total"),
    "deep": ({"a": {"b": {"c/d~e": NUMBERS["infinity"]}}}, "/a/b/c~1d~0e"),
    "an attribute": (EVENT | {"weight": NUMBERS["NaN"]}, "/weight"),
    "in a list": (EVENT | {"data": {"rows": [{"a": 1.0}, {"a": NUMBERS["NaN"]}]}}, "/data/rows"),
    "in a list of a list": ({"rows": [[1.0], [NUMBERS["NaN"]]]}, "/rows"),
    "a header": ({"topic": "t", "value": b"1", "headers": {"a": NUMBERS["NaN"]}}, "/headers/a"),
}


@pytest.mark.parametrize(("record", "path"), PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_the_letter_of_a_record_names_its_member(
    tmp_path: Path, kind: str, record: dict[str, Any], path: str
) -> None:
    file = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([record]), file)
    else:
        with file.open("wb") as out:
            fastavro.writer(out, avro_type("top", record), [record])
    (broken,) = values(file)
    with pytest.raises(MessageError) as error:
        lines.read(broken)
    (problem,) = error.value.problems
    assert (problem.rule, problem.message, problem.path) == ("file", "cannot be read", path)
    assert str(problem.found).endswith(" is no number of JSON")


def avro_type(name: str, value: Any) -> Any:
    """The schema of a value; a map where a record may not have such names."""
    if isinstance(value, dict):
        if any("/" in one for one in value):
            return {"type": "map", "values": "double"}
        fields = [{"name": one, "type": avro_type(name + one, v)} for one, v in value.items()]
        return {"type": "record", "name": name, "fields": fields}
    if isinstance(value, list):
        return {"type": "array", "items": avro_type(name, value[0])}
    return {float: "double", str: "string", bytes: "bytes"}[type(value)]


def test_a_record_that_is_nested_too_deep_names_its_column() -> None:
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    record = {"flat": 1, "deep": deep}
    told = json.loads(_line(writer_of(record.keys()), record))
    assert told == {
        "unreadable": "['flat', 'deep']",
        "path": "/deep",
        "reason": "is nested too deep",
    }


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.gz"])
def test_a_file_has_its_address_as_its_place(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"something else altogether")
    (broken,) = values(tmp_path / name)
    with pytest.raises(MessageError) as error:
        lines.read(broken)
    assert error.value.problems[0].path == (tmp_path / name).as_uri()


LAST = 253_402_300_799  # 9999-12-31T23:59:59Z
BEYOND: dict[str, tuple[pa.DataType, int]] = {
    "the largest number": (pa.timestamp("us", "UTC"), 2**63 - 1),
    "without a zone": (pa.timestamp("us"), 2**63 - 1),
    "of milliseconds": (pa.timestamp("ms", "UTC"), 2**63 - 1),
    "a year later in its zone": (pa.timestamp("ms", "Asia/Tokyo"), LAST * 1000),
    "before the year 1": (pa.timestamp("us", "UTC"), -(2**63) + 1),
    "a date": (pa.date32(), 2**31 - 1),
}


@pytest.mark.parametrize("deep", [False, True], ids=["flat", "deep"])
@pytest.mark.parametrize(("kind", "value"), BEYOND.values(), ids=BEYOND)
def test_a_time_beyond_all_years_costs_one_row(
    tmp_path: Path, kind: pa.DataType, value: int, deep: bool
) -> None:
    times = pa.array([0, value, None], kind)
    if deep:
        times = pa.StructArray.from_arrays([times], ["time"])
    table = pa.table({"n": [1, 2, 3], "at": times})
    pq.write_table(table, tmp_path / "a.parquet")
    first, broken, last = values(tmp_path / "a.parquet")
    found = [json.loads(lines.read(one).payload or b"") for one in (first, last)]
    assert [one["n"] for one in found] == [1, 3]
    assert "1970-01-01" in str(found[0]["at"])
    assert reason(broken).startswith("at: ")
    assert json.loads(broken)["path"] == "/at"
    assert json.loads(broken)["unreadable"].startswith("{'n': 2, 'at': '")


def test_rows_around_a_letter_keep_their_places(tmp_path: Path) -> None:
    numbers = [2**63 - 1 if number in (5, 2500) else 0 for number in range(3000)]
    table = pa.table({"at": pa.array(numbers, pa.timestamp("us", "UTC"))})
    pq.write_table(table, tmp_path / "a.parquet")
    source = (tmp_path / "a.parquet").as_uri()
    rows = [row for batch in read_file(source) for row in batch.to_pylist()]
    assert [(row["block"], row["number"]) for row in rows] == [(0, one) for one in range(3000)]
    letters = [row["number"] for row in rows if b'"unreadable"' in row["value"]]
    assert letters == [5, 2500]


def test_text_that_is_not_utf8_costs_one_row(tmp_path: Path) -> None:
    held = pa.array([b"a", b"\xff", b"c"]).buffers()
    table = pa.table({"note": pa.Array.from_buffers(pa.string(), 3, held)})
    pq.write_table(table, tmp_path / "a.parquet")
    first, broken, last = values(tmp_path / "a.parquet")
    assert lines.read(first).payload == b'{"note":"a"}'
    assert "note: 'utf-8' codec can't decode byte 0xff" in reason(broken)
    assert lines.read(last).payload == b'{"note":"c"}'


def test_a_map_by_records_costs_one_row(tmp_path: Path) -> None:
    kind = pa.map_(pa.struct([("a", pa.int64())]), pa.int64())
    table = pa.table({"n": [1, 2], "by": pa.array([[({"a": 1}, 1)], []], kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    broken, last = values(tmp_path / "a.parquet")
    assert reason(broken).startswith("by: ")
    assert lines.read(last).payload == b'{"n":2,"by":{}}'


@pytest.mark.parametrize("more", [{}, {"late": [2**63 - 1, 0]}], ids=["alone", "beside a value"])
def test_a_time_zone_that_nobody_knows_costs_the_file(tmp_path: Path, more: Any) -> None:
    late = {name: pa.array(one, pa.timestamp("us")) for name, one in more.items()}
    at = pa.array([None, 0], pa.timestamp("us", "Mars/Base"))
    pq.write_table(pa.table(late | {"at": at}), tmp_path / "a.parquet")
    (broken,) = values(tmp_path / "a.parquet")
    assert json.loads(broken)["unreadable"] == (tmp_path / "a.parquet").as_uri()
    assert reason(broken) == "has an unknown time zone: 'Mars/Base'"


def test_two_columns_of_the_same_name_cost_the_file(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "a.parquet")
    (broken,) = values(tmp_path / "a.parquet")
    assert reason(broken) == "has two columns of the same name"


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The time zone of this machine."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_an_instant_without_a_zone_is_in_utc(tmp_path: Path, unit: str) -> None:
    kind = pa.timestamp(unit)
    data = pa.array([{"at": NAIVE, "all": [NAIVE]}], pa.struct({"at": kind, "all": pa.list_(kind)}))
    columns = {name: [value] for name, value in EVENT.items()}
    table = pa.table(columns | {"time": pa.array([NAIVE], kind), "data": data})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    (found,) = map(lines.read, values(tmp_path / "a.parquet"))
    assert found.attributes["time"] == "2026-11-16T08:30:00.000Z"
    assert found.payload == b'{"at":"2026-11-16T08:30:00Z","all":["2026-11-16T08:30:00Z"]}'


ZONES = {None: "1970-01-01T00:00:00.000001Z", "Asia/Kolkata": "1970-01-01T05:30:00.000001+05:30"}


@pytest.mark.parametrize(("within", "told"), ZONES.items(), ids=["naive", "aware"])
def test_nanoseconds_are_cut_off(tmp_path: Path, within: str | None, told: str) -> None:
    kind = pa.timestamp("ns", within)
    deep = pa.array([{"all": [1_999]}], pa.struct({"all": pa.list_(kind)}))
    table = pa.table({"at": pa.array([1_999], kind), "deep": deep})
    pq.write_table(table, tmp_path / "a.parquet")
    (found,) = map(lines.read, values(tmp_path / "a.parquet"))
    assert json.loads(found.payload or b"") == {"at": told, "deep": {"all": [told]}}


@pytest.mark.parametrize("store", [True, False], ids=["from Arrow", "from others"])
def test_old_timestamps_reach_beyond_nanoseconds(tmp_path: Path, store: bool) -> None:
    table = pa.table({"at": pa.array([LAST * 1_000_000, 1], pa.timestamp("us"))})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=store)
    assert [lines.read(one).payload for one in values(path)] == [
        b'{"at":"9999-12-31T23:59:59Z"}',
        b'{"at":"1970-01-01T00:00:00.000001Z"}',
    ]


@pytest.mark.usefixtures("zone")
def test_an_attribute_without_a_zone_is_in_utc() -> None:
    aware = NAIVE.replace(tzinfo=UTC)
    assert writer_of(EVENT.keys())(EVENT | {"time": NAIVE}) == writer_of(EVENT.keys())(
        EVENT | {"time": aware}
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (MARK + b"1\n2", [b"1", b"2"]),
        (MARK + b"1", [b"1"]),
        (b"1\n" + MARK + b"2", [b"1", MARK + b"2"]),
        (MARK, [b""]),
    ],
    ids=["at the start", "one line", "not elsewhere", "nothing else"],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_byte_order_mark(
    tmp_path: Path, name: str, content: bytes, expected: list[bytes]
) -> None:
    packed = gzip.compress(content) if name.endswith(".gz") else content
    (tmp_path / name).write_bytes(packed)
    assert values(tmp_path / name) == expected


EXTRAS = (
    *("fastavro", "avro", "google", "lxml", "xmlschema", "elementpath", "numba", "cramjam"),
    *("confluent_kafka", "paho", "proton", "nats", "apsw", "psycopg", "psycopg_pool"),
    *("starlette", "uvicorn", "grpc", "zstandard"),
)


def with_spark_alone(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program in a process that has what the extra ``spark`` brings, and no other."""
    blocked = f"import sys\nfor name in {EXTRAS!r}:\n    sys.modules[name] = None\n"
    return subprocess.run(
        [sys.executable, "-c", blocked + program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_extra_for_spark_reads_all_but_avro(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"1\n")
    (tmp_path / "a.json").write_bytes(b"[2]")
    pq.write_table(pa.table({"value": ["3"]}), tmp_path / "a.parquet")
    (tmp_path / "a.avro").write_bytes(b"whatever it is")
    done = with_spark_alone(
        """
from heraldry.errors import MissingExtraError
from heraldry.pipeline.sources.file_reading import read_file
import heraldry.pipeline.sources.files
for source in sys.argv[1:]:
    try:
        print(*(row["value"].decode() for batch in read_file(source) for row in batch.to_pylist()))
    except MissingExtraError as error:
        print(error)
""",
        *((tmp_path / f"a.{one}").as_uri() for one in ("jsonl", "json", "parquet", "avro")),
    )
    wanted = ["1", "2", "3", "this needs fastavro: pip install 'heraldry[avro]'"]
    assert (done.stdout.splitlines(), done.stderr) == (wanted, "")


def test_the_extra_for_spark_is_enough_for_the_pipeline() -> None:
    """A module that needs more says which extra, when it is imported."""
    done = with_spark_alone(
        """
import importlib, pkgutil
import heraldry.pipeline
from heraldry.errors import MissingExtraError
for module in pkgutil.walk_packages(heraldry.pipeline.__path__, "heraldry.pipeline."):
    try:
        importlib.import_module(module.name)
    except MissingExtraError as error:
        print(module.name, error.extra)
    except ModuleNotFoundError as error:
        print(module.name, error)
"""
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["heraldry.pipeline.sources.jetstream nats"]
