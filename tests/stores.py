"""Fixtures for everything that runs on every kind of store (loaded by tests/conftest.py).

PostgreSQL is started once for all tests of a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.servers import postgres as server

LIVE = (pytest.mark.live, pytest.mark.xdist_group("postgres"))
KINDS = ("file", "memory", pytest.param("postgres", marks=LIVE))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The users of PostgreSQL share it, on one worker."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            for mark in LIVE:
                item.add_marker(mark)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[server.Postgres]:
    """A PostgreSQL server."""
    with server.start(tmp_path_factory.mktemp("postgres")) as found:
        yield found


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that does not exist yet, of every kind."""
    return address_of(request.param, request, tmp_path)


@pytest.fixture(params=(KINDS[0], KINDS[2]))
def durable_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same, of the kinds that outlive their process."""
    return address_of(request.param, request, tmp_path)


def address_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The address of a new store of a kind."""
    match kind:
        case "file":
            return f"sqlite:{folder / 'registry.db'}"
        case "memory":
            return "sqlite::memory:"
    found: server.Postgres = request.getfixturevalue("postgres")
    return found.emptied()
