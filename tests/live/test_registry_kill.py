"""A registry whose server is killed amid imports: what was acknowledged is there, nothing is half.

The server dies by SIGKILL at random moments, PostgreSQL's own process now and then too. After each
death another server starts on the same database, and everything is compared with what the clients
know.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.live.registry_inside import Inside
from tests.live.registry_mirror import Mirror, dir_of
from tests.live.servers.heraldry_serve import end, launch, ready

LOG = logging.getLogger(__name__)
CLIENTS = 4
Tally = Counter[str]


class Site:
    """One database, the clients that write to it, and what is known of it."""

    def __init__(self, database: str, folder: Path, seed: int) -> None:
        self._database, self._folder = database, folder
        self._chance = random.Random(seed)
        self._mirrors = [Mirror(f"c{n}", self._chance) for n in range(CLIENTS)]
        self._inside = Inside(database)
        self.tally: Tally = Counter()

    def kill(self, kind: str) -> None:
        """Start a server, let clients write, and kill it at a moment of a kind."""
        process = launch(self._database, self._folder)
        try:
            if kind == "starting":
                asyncio.run(asyncio.sleep(self._chance.uniform(0, 1.5)))
            else:
                address = ready(process, self._folder).address
                asyncio.run(self._write(address, kind, lambda: end(process)))
        finally:
            end(process)
        self.tally[f"kills {kind}"] += 1

    def check(self) -> None:
        """Start a server that lives, and compare all that it shows with all that is known."""
        process = launch(self._database, self._folder)
        try:
            asyncio.run(self._compare(ready(process, self._folder).address))
            self._inside.check()
        finally:
            end(process, signal.SIGTERM)
        assert process.returncode == 0

    async def _write(self, address: str, kind: str, kill: Any) -> None:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
            working = [asyncio.create_task(self._work(client, one)) for one in self._mirrors]
            if kind == "backend":
                await asyncio.sleep(self._chance.uniform(0.1, 0.6))
                self._kill_backend()
                await self._until_more(working)
            if self._chance.random() < 0.8:  # else it may die by the very first requests
                await self._until_more(working)
            await asyncio.sleep(self._chance.uniform(0.05, 0.7))
            kill()
            await asyncio.gather(*working)

    async def _work(self, client: httpx2.AsyncClient, mirror: Mirror) -> None:
        """Write until the server is gone."""
        try:
            while True:
                await mirror.settle(client)
                step = mirror.plan()
                answer = await client.request(step.method, step.path, json=step.body)
                if answer.status_code == 503:  # its database died; it may have been carried out
                    self.tally["busy"] += 1
                else:
                    assert answer.is_success, answer.text
                    mirror.happened(step)
                    self.tally["acknowledged"] += 1
        except httpx2.TransportError:
            return

    async def _until_more(self, working: list[asyncio.Task[None]]) -> None:
        """Wait until writes succeed again."""
        before = self.tally["acknowledged"]
        async with asyncio.timeout(60):
            while self.tally["acknowledged"] < before + CLIENTS:
                assert not any(one.done() for one in working)
                await asyncio.sleep(0.01)

    def _kill_backend(self) -> None:
        """Kill a process of PostgreSQL that works for us: it then restarts all others."""
        with psycopg.connect(self._database) as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND backend_type = 'client backend' ORDER BY state = 'idle', random() LIMIT 1"
            ).fetchone()
        if found:
            os.kill(found[0], signal.SIGKILL)

    async def _compare(self, address: str) -> None:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
            for mirror in self._mirrors:
                outcome = await mirror.settle(client)
                if outcome is not None:
                    self.tally["carried out" if outcome else "undone"] += 1
            known = {id_: one for mirror in self._mirrors for id_, one in mirror.dirs.items()}
            body = (await client.get("/?inline=dirs.files.meta,dirs.files.versions")).json()
            assert {id_: dir_of(one) for id_, one in body["dirs"].items()} == known
            assert body["dirscount"] == len(known)
            assert body["epoch"] == 1 + sum(mirror.filed for mirror in self._mirrors)
            for id_ in known:
                await self._find(client, id_, known[id_])

    async def _find(self, client: httpx2.AsyncClient, id_: str, known: Any) -> None:
        """A filter finds a version by its token, and only that one."""
        if known.files:
            name, file = self._chance.choice(list(known.files.items()))
            version, (_, token) = self._chance.choice(list(file.versions.items()))
            url = f"/dirs?inline=files.versions&filter=files.versions.token={token}"
            found = (await client.get(url)).json()
            assert list(found) == [id_]
            assert list(found[id_]["files"]) == [name]
            assert list(found[id_]["files"][name]["versions"]) == [version]


def check_kills(database: str, folder: Path, kinds: list[str], seed: int) -> Tally:
    site = Site(database, folder, seed)
    for kind in kinds:
        site.kill(kind)
        site.check()
    assert site.tally["carried out"] + site.tally["undone"], "no kill fell amid a request"
    return site.tally


@pytest.mark.covers("GN-01")
def test_killed_three_times(durable_address: str, tmp_path: Path) -> None:
    check_kills(durable_address, tmp_path, ["working"] * 3, random.randrange(10**6))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_fifty_times(durable_address: str, tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    kinds = ["working"] * 7 + ["starting"]
    if durable_address.startswith("postgresql"):
        kinds += ["backend"] * 2
    chance = random.Random(seed)
    tally = check_kills(
        durable_address, tmp_path, ["starting", *(chance.choice(kinds) for _ in range(50))], seed
    )
    LOG.info("%s", dict(tally))
