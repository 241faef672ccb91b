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

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heraldry.errors import PipelineError
from heraldry.messages import line as lines
from heraldry.pipeline.sources.file_reading import read_file
from heraldry.pipeline.sources.record_lines import writer_of

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
NAIVE = datetime(2026, 11, 16, 8, 30)
MARK = b"\xef\xbb\xbf"


def values(path: Path, *, goes_on: bool = False) -> list[bytes]:
    found = read_file(path.as_uri(), goes_on=goes_on)
    return [row["value"] for batch in found for row in batch.to_pylist()]


def reason(value: bytes) -> str:
    told = json.loads(value)
    assert told.keys() == {"unreadable", "reason"}
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
    assert lines.read(last).payload == b'{"number":null,"note":null}'


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
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_an_instant_without_a_zone_is_in_utc(tmp_path: Path, unit: str) -> None:
    kind = pa.timestamp(unit)
    data = pa.array([{"at": NAIVE, "all": [NAIVE]}], pa.struct({"at": kind, "all": pa.list_(kind)}))
    columns = {name: [value] for name, value in EVENT.items()}
    table = pa.table(columns | {"time": pa.array([NAIVE], kind), "data": data})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    (found,) = map(lines.read, values(tmp_path / "a.parquet"))
    assert found.attributes["time"] == "2026-11-16T08:30:00.000Z"
    assert found.payload == b'{"at":"2026-11-16T08:30:00Z","all":["2026-11-16T08:30:00Z"]}'


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
