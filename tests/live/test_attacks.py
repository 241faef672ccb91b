"""What one client, or many of them, may do to the others: they are served, within bounds."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.attack import Attacked, attacked


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with attacked(tmp_path_factory.mktemp("attacked")) as one:
        yield one


def test_many_values_in_a_packed_body(server: Attacked) -> None:
    packed = gzip.compress(b"[" + b'"","",' * 10_000_000 + b'""]')
    headers = {"Content-Encoding": "gzip"}

    def assault() -> None:
        assert server.call("PUT", "/dirs/d1", packed, headers).status in (400, 413)

    server.withstands(assault)
