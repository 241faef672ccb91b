"""PostgreSQL goes away and comes back: the registry says so, and goes on without a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.live.servers import postgres
from tests.live.servers.heraldry_serve import serve

BUSY = "https://github.com/xregistry/spec/blob/main/core/spec.md#server_busy"
PATIENCE = 30
"""So many seconds the registry may take to notice that its database is back."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[postgres.Cluster]:
    with postgres.cluster(tmp_path) as made:
        yield made


def ask(client: httpx2.Client, method: str, path: str) -> tuple[int, dict]:
    answer = client.request(method, path, json={} if method == "PUT" else None)
    return answer.status_code, answer.json()


def until_answered(client: httpx2.Client, method: str, path: str) -> dict:
    """The first reply that is not "come again"."""
    end = time.monotonic() + PATIENCE
    while True:
        status, body = ask(client, method, path)
        if status != 503:
            assert status in (200, 201), body
            return body
        assert time.monotonic() < end, "the database is back, but the registry does not see it"


@pytest.mark.covers("ER-02")
def test_a_registry_without_its_database(cluster: postgres.Cluster, tmp_path: Path) -> None:
    with ExitStack() as serving, ExitStack() as database:
        address = database.enter_context(cluster.running()).address
        server = serving.enter_context(serve(address, tmp_path))
        client = serving.enter_context(httpx2.Client(base_url=server.address, timeout=60))
        assert ask(client, "PUT", "/dirs/d1")[0] == 201
        database.close()
        asked = [("GET", "/dirs/d1"), ("PUT", "/dirs/d2"), ("GET", "/readyz"), ("GET", "/export")]
        with ThreadPoolExecutor(len(asked)) as pool:  # each answer takes some seconds
            answers = list(pool.map(lambda one: client.request(*one, content=b"{}"), asked))
        for (_, path), answer in zip(asked, answers, strict=True):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            problem = answer.json()
            assert (problem["type"], problem["subject"]) == (BUSY, path)
        with cluster.running():
            assert until_answered(client, "GET", "/dirs/d1")["epoch"] == 1
            assert until_answered(client, "PUT", "/dirs/d1")["epoch"] == 2
            assert list(until_answered(client, "GET", "/dirs")) == ["d1"]
            serving.close()
