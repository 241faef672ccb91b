"""A Spark cluster on this machine: one master and two workers, each a process group of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark
import pytest

from tests.live.servers.server import Server, free_port, running
from tests.skips import java_major

HOST = "127.0.0.1"
SPARK_HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkWorker:
    """One worker of the cluster; its executors are its children."""

    process: subprocess.Popen[bytes]
    folder: Path

    def executors(self) -> list[psutil.Process]:
        """The running executors."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def kill(self) -> int:
        """End the worker and everything it started, at once; how many processes died."""
        family = [psutil.Process(self.process.pid), *self.executors()]
        for member in family:
            member.kill()
        self.process.wait(timeout=10)
        return len(psutil.wait_procs(family, timeout=10)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkCluster(Server):
    """A running cluster; ``address`` is its master's."""

    workers: tuple[SparkWorker, ...]


def environment() -> dict[str, str]:
    """What Spark's daemons need: little memory, the loopback interface, our Python and JVM."""
    return {
        "SPARK_DAEMON_JAVA_OPTS": os.environ.get("SPARK_SUBMIT_OPTS", ""),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "512m",
        "PYSPARK_PYTHON": sys.executable,
    }


@contextmanager
def start(folder: Path, workers: int = 2) -> Iterator[SparkCluster]:
    """A new cluster, its logs and work under ``folder``."""
    if java_major() < 17:
        pytest.skip("Java 17 or later is not installed: scripts/bootstrap java")
    port = free_port()
    address = f"spark://{HOST}:{port}"
    with ExitStack() as stack:
        master = _daemon("master.Master", port)
        stack.enter_context(running(master, port, folder / "master.log", env=environment()))
        started = tuple(
            stack.enter_context(_worker(folder / f"worker-{number}", address))
            for number in range(workers)
        )
        yield SparkCluster(host=HOST, port=port, address=address, workers=started)


@contextmanager
def _worker(folder: Path, master: str) -> Iterator[SparkWorker]:
    folder.mkdir()
    port = free_port()
    place = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder), master)
    command = [*_daemon("worker.Worker", port), *place]
    env = environment() | {"SPARK_LOCAL_DIRS": str(folder)}
    with running(command, port, folder / "log", env=env) as process:
        yield SparkWorker(process=process, folder=folder)


def _daemon(name: str, port: int) -> list[str]:
    command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    return [*command, "--host", HOST, "--port", str(port), "--webui-port", str(free_port())]


def client_environment(settings: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """The environment of a job on the cluster: ``conf`` becomes its spark-defaults.conf."""
    settings.mkdir(exist_ok=True)
    lines = [f"{name} {value}\n" for name, value in conf.items()]
    (settings / "spark-defaults.conf").write_text("".join(lines))
    return os.environ | environment() | {"SPARK_CONF_DIR": str(settings)}
