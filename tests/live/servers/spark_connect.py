"""A Spark Connect server in local mode, with a Python of its own for what it is sent."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.servers.server import Server, free_port, running
from tests.live.servers.spark_cluster import HOST, SPARK_HOME, environment
from tests.skips import java_major

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def start(folder: Path) -> Iterator[Server]:
    """A new server with two cores; its working directory and log are ``folder``."""
    if java_major() < 17:
        pytest.skip("Java 17 or later is not installed: scripts/bootstrap java")
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": HOST,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        "spark.ui.enabled": "false",
    }
    confs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--class", _SERVER]
    command = [*submit, "--master", "local[2]", "--driver-memory", "1g", *confs]
    log = folder / "connect.log"
    endings = (signal.SIGTERM,)
    with running(command, port, log, seconds=90, env=environment(), endings=endings):
        yield Server(host=HOST, port=port, address=f"sc://{HOST}:{port}")
