"""A job that spark-submit starts: what its line says wins over Heraldry's defaults."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.live.servers.spark_cluster import SPARK_HOME, environment
from tests.live.token_stream import TokenStream, report

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SUBMITTED = {
    "spark.driver.memory": "700m",
    "spark.executor.memory": "600m",
    "spark.sql.session.timeZone": "Europe/Berlin",
    "spark.sql.adaptive.enabled": "true",
    "spark.app.name": "nightly",
}


def submit(stream: TokenStream, examples: Path, *more: str) -> subprocess.CompletedProcess[str]:
    events = stream.folder / "events"
    events.mkdir()
    confs = {
        "spark.executor.memory": "600m",
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.adaptive.enabled": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    line = ["--master", "local[2]", "--driver-memory", "700m", "--name", "nightly"]
    line += [part for name, value in confs.items() for part in ("--conf", f"{name}={value}")]
    program = str(examples / "cluster" / "land.py")
    return subprocess.run(
        [str(SPARK_HOME / "bin" / "spark-submit"), *line, program, *stream.arguments(*more)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | environment(),
    )


def properties(stream: TokenStream) -> dict[str, str]:
    """The settings that the job ran with, as Spark's own log of events has them."""
    (log,) = (stream.folder / "events").iterdir()
    events = map(json.loads, log.read_text().splitlines())
    told = next(one for one in events if one["Event"] == "SparkListenerEnvironmentUpdate")
    found: dict[str, str] = told["Spark Properties"]
    return found


@pytest.mark.parametrize(
    ("more", "master"),
    [((), "local[2]"), (("--master", "local[1]"), "local[1]")],
    ids=["the submitted master", "a master named to the command"],
)
def test_what_is_submitted_wins(
    tmp_path: Path, examples: Path, more: tuple[str, ...], master: str
) -> None:
    stream = TokenStream(tmp_path)
    tokens = stream.write(files=2, each=100)
    done = report(submit(stream, examples, *more))
    assert done["read"] == len(tokens)
    assert stream.found() == tokens
    assert properties(stream).items() >= (SUBMITTED | {"spark.master": master}).items()
    assert properties(stream)["spark.speculation"] == "false"
