"""Logs: one JSON object a line, and each says whose it is."""

from __future__ import annotations

import io
import json
from typing import Any

from heraldry.errors import PipelineError
from heraldry.pipeline.lake.ledger import DeprecatedRows
from heraldry.pipeline.watching.logs import JsonLog
from tests.pipeline.watching.observing import DIGEST, NOON, RUN, batch, info, total


def logged(*, error: BaseException | None = None, **changes: Any) -> list[dict[str, Any]]:
    stream = io.StringIO()
    log = JsonLog(stream, clock=lambda: NOON)
    log.started(info())
    log.event("Spark 4 on local[*]")
    log.event("3/8 parts of the batch")
    log.batch(info(), batch(4, **changes))
    log.ended(info(), total(batch()), error)
    assert stream.getvalue().endswith("\n")
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_run_is_told_line_by_line() -> None:
    lines = logged()
    assert [(line["level"], line["event"]) for line in lines] == [
        ("info", "started"),
        ("info", "note"),
        ("info", "batch"),
        ("info", "ended"),
    ]
    known = {"time": "2026-11-16T12:00:00.000Z", "job": "heraldry-1", "run": RUN}
    assert all(known.items() <= line.items() for line in lines)
    assert lines[0]["source"] == "kafka://broker:9092/orders"
    assert lines[1]["message"] == "Spark 4 on local[*]"


def test_a_batch_is_told_with_its_counts() -> None:
    line = logged()[2]
    counts = {"batch": 4, "read": 10, "landed": 8, "dead": 1, "repeated": 1, "seconds": 0.4}
    assert counts.items() <= line.items()
    assert line["reasons"] == {"type": 1}
    assert line["catalog"] == DIGEST
    assert line["newest"] == "2026-11-16T12:00:00Z"
    assert line["lag"] == 5


def test_what_is_not_known_is_left_out() -> None:
    line = logged(newest=None, lag=None)[2]
    assert not {"newest", "lag", "deprecated"} & line.keys()


def test_rows_of_deprecated_definitions_are_told() -> None:
    line = logged(deprecated={"/messagegroups/g/messages/m": DeprecatedRows(rows=3)})[2]
    assert line["deprecated"] == {"/messagegroups/g/messages/m": 3}


def test_more_letters_than_rows_are_a_warning() -> None:
    assert logged(landed=2, dead=7)[2]["level"] == "warning"


def test_an_error_is_told_with_its_type() -> None:
    last = logged(error=PipelineError("landed a batch", "out of memory"))[-1]
    assert (last["level"], last["event"]) == ("error", "failed")
    assert last["error"]["type"] == "PipelineError"
    assert last["error"]["message"].endswith("out of memory")
