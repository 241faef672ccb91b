"""A cluster of two workers, of which one is killed amid a batch: every message lands once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.servers import spark_cluster
from tests.live.servers.spark_cluster import SparkCluster
from tests.live.token_stream import TokenStream, report

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1200)]

START = 120.0
CONF = {
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    # One task for each file, so that there is a middle of a batch.
    "spark.sql.files.maxPartitionBytes": "1m",
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with spark_cluster.start(folder) as running:
        yield running


def launch(stream: TokenStream, master: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "heraldry", *stream.arguments("--master", master)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=spark_cluster.client_environment(stream.folder / "conf", CONF),
    )


def finished(job: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = job.communicate(timeout=600)
    return subprocess.CompletedProcess(job.args, job.returncode, out, err)


def test_a_worker_killed_amid_a_batch(cluster: SparkCluster, tmp_path: Path) -> None:
    stream = TokenStream(tmp_path)
    # More than a worker holds: it writes files long before its part of the batch is over.
    tokens = stream.write(files=40, each=5000, width=1500)
    with launch(stream, cluster.address) as job:
        try:
            end = time.monotonic() + START
            while not stream.written():
                assert job.poll() is None, finished(job).stderr[-3000:]
                assert time.monotonic() < end, "nothing was written"
                time.sleep(0.005)
            lost = cluster.workers[0]
            assert lost.executors(), "no executor on the worker to be killed"
            assert lost.kill() > 1
            assert not stream.manifests.exists(), "the batch was over already"
            done = report(finished(job))
        finally:
            job.kill()
    assert done["read"] == done["landed"] + done["dead"] == len(tokens)
    assert done["batches"] == 1
    assert stream.found() == tokens
