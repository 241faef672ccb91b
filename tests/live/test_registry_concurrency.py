"""Several servers on one registry, many clients, the same entities: nothing is lost.

Every epoch is told once and grows, what is acknowledged is seen by all servers at once, counters
that are raised with an epoch end at the number of successes, and all refusals are conflicts.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import httpx2
import pytest

from tests.live.registry_inside import Inside
from tests.live.registry_ledger import Ledger
from tests.live.registry_writers import COUNTERS, DIR, SPOTS, Writer, version
from tests.live.servers.heraldry_serve import launch, ready, serve
from tests.live.servers.postgres import Postgres

LOG = logging.getLogger(__name__)
FILES = {name: {"versionid": "1", "counter": 0} for name in COUNTERS}


async def write(addresses: list[str], writers: int, seconds: float) -> tuple[Ledger, Any]:
    """What the clients were told in so many seconds, and the directory as it is then."""
    ledger = Ledger()
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(httpx2.AsyncClient(base_url=one, timeout=60))
            for one in addresses
        ]
        made = await clients[0].put(DIR, json={"counter": 0, "files": FILES})
        assert made.status_code == 201, made.text
        until = monotonic() + seconds
        working = [Writer(f"w{n}", clients, ledger).work(until) for n in range(writers)]
        await asyncio.gather(*working)
        last = [
            (await one.get(f"{DIR}?inline=files.meta,files.versions")).json() for one in clients
        ]
    assert [_unplaced(one) for one in last] == [_unplaced(last[0])] * len(last)
    return ledger, last[0]


def _unplaced(value: Any) -> Any:
    """A reply without addresses."""
    if isinstance(value, dict):
        gone = ("self", "url")
        return {n: _unplaced(v) for n, v in value.items() if not n.endswith(gone)}
    return value


def check(ledger: Ledger, last: Any) -> None:
    ledger.check()
    files = last["files"]
    entities = {DIR: last} | {version(n): files[n]["versions"]["1"] for n in COUNTERS}
    for path, entity in entities.items():
        assert entity["counter"] == ledger.added[path], path
        assert {n: v for n, v in entity.items() if n.startswith("by_")} == {
            name: number for (of, name), number in ledger.marks.items() if of == path
        }
    for name in COUNTERS:
        # Each write raised the epoch by one, and each was acknowledged.
        epochs = [epoch for told in ledger.epochs(version(name)) for epoch in told]
        assert epochs == list(range(2, files[name]["epoch"] + 1))
    for name in SPOTS:
        assert ledger.added[name] == (name in files)
        for entity in (version(name), f"{DIR}/files/{name}/meta"):
            for epochs in ledger.epochs(entity):
                # The first is not told where a write to the other one made the file.
                assert epochs in (list(range(first, first + len(epochs))) for first in (1, 2))
    _check_dir(ledger, last["epoch"])


def _check_dir(ledger: Ledger, epoch: int) -> None:
    """The directory changes by itself, and by each file that comes or goes."""
    told = sum(len(epochs) for epochs in ledger.epochs(DIR))
    came = sum(ledger.added[name] for name in SPOTS) + ledger.tally["deletes"]
    assert epoch == 1 + told + came + ledger.tally["deletes"]


def check_servers(
    database: str, folder: Path, servers: int, writers: int, seconds: float
) -> Ledger:
    with ExitStack() as stack:
        addresses = [stack.enter_context(serve(database, folder)).address for _ in range(servers)]
        ledger, last = asyncio.run(write(addresses, writers, seconds))
        check(ledger, last)
        Inside(database).check()
    assert ledger.tally["conflicts"] > 0
    assert ledger.added.total() > 0
    return ledger


@pytest.mark.covers("CA-09", "CA-10")
def test_four_servers_on_postgres(postgres: Postgres, tmp_path: Path) -> None:
    check_servers(postgres.emptied(), tmp_path, 4, 32, 10)


@pytest.mark.covers("CA-09", "CA-10")
def test_servers_on_one_file(tmp_path: Path) -> None:
    check_servers(f"sqlite:{tmp_path / 'registry.db'}", tmp_path, 3, 12, 4)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_four_servers_on_postgres_for_minutes(postgres: Postgres, tmp_path: Path) -> None:
    ledger = check_servers(postgres.emptied(), tmp_path, 4, 32, 120)
    LOG.info("%s", dict(ledger.tally))


def test_servers_that_start_on_a_new_database_at_the_same_time(
    durable_address: str, tmp_path: Path
) -> None:
    processes = [launch(durable_address, tmp_path) for _ in range(4)]
    try:
        addresses = [ready(one, tmp_path).address for one in processes]
        found = [httpx2.get(f"{one}/").json() for one in addresses]
    finally:
        for one in processes:
            one.kill()
            one.communicate()
    assert {(one["registryid"], one["epoch"], one["createdat"]) for one in found} == {
        ("heraldry", 1, found[0]["createdat"])
    }
