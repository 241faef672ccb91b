"""Metrics: what is counted, how it is written, and that it is there over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from heraldry.errors import PipelineError, UsageError
from heraldry.pipeline.lake.ledger import DeprecatedRows
from heraldry.pipeline.watching.metrics import (
    METRICS,
    MOST_LABELS,
    JobMetrics,
    MetricsServer,
    sample,
)
from tests.pipeline.watching.observing import DIGEST, NOON, batch, info, total

SAMPLE = re.compile(r'[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? -?[0-9.e+]+')


def values(text: bytes) -> dict[str, str]:
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in lines)
    return dict(line.rsplit(" ", 1) for line in lines)


def test_two_batches_are_added_up() -> None:
    metrics = JobMetrics(clock=lambda: NOON.timestamp() + 30)
    metrics.started(info())
    metrics.batch(info(), batch(nearest={"/messagegroups/orders/messages/placed": 1}))
    metrics.batch(info(), batch(1, seconds=700.0, reasons={}, lag=None))
    found = values(metrics.text())
    assert found["heraldry_rows_read_total"] == "20"
    assert found['heraldry_landed_total{table="default.orders.placed"}'] == "12"
    assert found['heraldry_dead_letters_total{rule="type"}'] == "1"
    assert found['heraldry_dead_letters_total{rule=""}'] == "1"
    near = 'heraldry_dead_letters_nearest_total{definition="%s"}'
    assert found[near % "/messagegroups/orders/messages/placed"] == "1"
    assert found[near % ""] == "1"
    assert found["heraldry_repeated_total"] == "2"
    assert found["heraldry_batches_total"] == "2"
    assert found['heraldry_batch_seconds_bucket{le="0.25"}'] == "0"
    assert found['heraldry_batch_seconds_bucket{le="0.5"}'] == "1"
    assert found['heraldry_batch_seconds_bucket{le="+Inf"}'] == "2"
    assert found["heraldry_batch_seconds_sum"] == "700.4"
    assert found["heraldry_batch_seconds_count"] == "2"
    assert found["heraldry_freshness_seconds"] == "30"
    assert found["heraldry_last_commit_timestamp_seconds"] == str(int(NOON.timestamp()))
    assert found[f'heraldry_catalog_info{{digest="{DIGEST}"}}'] == "1"
    assert found["heraldry_up"] == "1"
    assert "heraldry_lag_messages" not in found


def test_every_metric_is_told_with_its_type() -> None:
    metrics = JobMetrics()
    metrics.started(info())
    metrics.batch(info(), batch(deprecated={"/messagegroups/g/messages/m": DeprecatedRows(rows=2)}))
    text = metrics.text().decode()
    assert {line.split()[2] for line in text.splitlines() if line[0] == "#"} == set(METRICS)
    for name, (kind, _) in METRICS.items():
        assert f"# TYPE {name} {kind}\n" in text


def test_before_the_first_batch_nothing_is_made_up() -> None:
    metrics = JobMetrics()
    found = values(metrics.text())
    assert found["heraldry_rows_read_total"] == "0"
    assert found["heraldry_up"] == "0"
    assert not {"heraldry_freshness_seconds", "heraldry_lag_messages"} & found.keys()


def test_the_number_of_labels_is_bounded() -> None:
    metrics = JobMetrics()
    tables = {f"t{number:05}": 1 for number in range(MOST_LABELS + 500)}
    for number in range(2):
        metrics.batch(info(), batch(number, tables=tables))
    found = values(metrics.text())
    landed = [int(v) for k, v in found.items() if k.startswith("heraldry_landed_total")]
    assert len(landed) == MOST_LABELS + 1
    assert found['heraldry_landed_total{table="other"}'] == "1000"
    assert sum(landed) == 2 * len(tables)


def test_labels_are_escaped() -> None:
    assert sample("m", 1.5, a='x"y\\z\n') == 'm{a="x\\"y\\\\z\\n"} 1.5'


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    with MetricsServer(0) as one:
        yield one


def test_metrics_and_health_are_served(server: MetricsServer) -> None:
    server.started(info())
    server.batch(info(), batch())
    with urlopen(f"{server.url}/metrics") as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert b"heraldry_rows_read_total 10\n" in answer.read()
    with urlopen(f"{server.url}/healthz") as answer:
        assert answer.read() == b"running\n"


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, b"ended"), (PipelineError("x", "y"), b"failed")],
    ids=["in-peace", "by-an-error"],
)
def test_a_job_that_is_over_is_not_healthy(
    server: MetricsServer, error: PipelineError | None, state: bytes
) -> None:
    server.started(info())
    server.ended(info(), total(), error)
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{server.url}/healthz")
    with refused.value as answer:
        assert (answer.code, answer.read()) == (503, state + b"\n")


def test_other_paths_are_not_there(server: MetricsServer) -> None:
    with pytest.raises(HTTPError) as refused, urlopen(f"{server.url}/other"):
        pass
    with refused.value as answer:
        assert answer.code == 404


def test_a_port_that_is_taken_is_an_error(server: MetricsServer) -> None:
    with pytest.raises(UsageError, match="metrics cannot be offered"):
        MetricsServer(int(server.url.rpartition(":")[2]))


def test_every_metric_is_documented() -> None:
    page = Path(__file__).parents[3] / "docs/reference/metrics.md"
    text = page.read_text(encoding="utf-8")
    rows = {name: f"| `{name}` | {kind} | {help_} |" for name, (kind, help_) in METRICS.items()}
    assert [name for name, row in rows.items() if row not in text] == []
