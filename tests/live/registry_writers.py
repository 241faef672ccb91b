"""Clients of several servers on one registry, who all write to the same few entities."""

from __future__ import annotations

import random
from time import monotonic
from typing import Any

import httpx2

from tests.live.registry_ledger import Ledger

DIR = "/dirs/d"
COUNTERS = tuple(f"k{n}" for n in range(5))
SPOTS = tuple(f"s{n}" for n in range(3))
"""Files that come and go."""
_OURS = ("epoch", "counter")


def version(file: str) -> str:
    """The path of a file's only version."""
    return f"{DIR}/files/{file}/versions/1"


class Writer:
    """One client; each of its requests goes to any of the servers."""

    def __init__(self, name: str, clients: list[httpx2.AsyncClient], ledger: Ledger) -> None:
        self._name, self._clients, self._ledger = name, clients, ledger
        self._chance = random.Random(name)
        self._number = 0

    async def work(self, until: float) -> None:
        """Write until a moment."""
        ways = (self._count, self._count, self._count_two, self._mark, self._replace)
        ways += (self._put_spot, self._patch_spot, self._delete_spot)
        while monotonic() < until:
            await self._chance.choice(ways)()

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """A reply, kept in the ledger; every refusal must be a conflict, or what is not there."""
        sent = monotonic()
        answer = await self._chance.choice(self._clients).request(method, path, json=body)
        answered, status = monotonic(), answer.status_code
        found = answer.json() if answer.content else {}
        name = str(found.get("type", "")).rpartition("#")[2]
        if name == "mismatched_epoch":
            assert status == 400
            self._ledger.tally["conflicts"] += 1
        elif name == "not_found":
            assert status == 404
        else:
            assert status in (200, 201, 204), answer.text
            keep = self._ledger.saw if method == "GET" else self._ledger.wrote
            for one in found.values() if path == f"{DIR}/files" else [found]:
                if "epoch" in one:
                    keep(one, sent, answered)
            self._ledger.tally["reads" if method == "GET" else "writes"] += 1
        return status, found

    # Counters: one is raised only where nobody else wrote in between

    async def _count(self) -> None:
        """Read, then patch if nothing changed; or the same for the directory."""
        path = self._chance.choice((DIR, *map(version, COUNTERS)))
        _, seen = await self._ask("GET", path)
        given = {"counter": seen["counter"] + 1, "epoch": seen["epoch"]}
        self._counted(await self._ask("PATCH", path, given), seen)

    async def _replace(self) -> None:
        """The same by a replacement, with all that was seen."""
        path = version(self._chance.choice(COUNTERS))
        _, seen = await self._ask("GET", path)
        given = {n: v for n, v in seen.items() if n in _OURS or n.startswith("by_")}
        given["counter"] += 1
        self._counted(await self._ask("PUT", path, given), seen)

    async def _count_two(self) -> None:
        """Two at once, in one request: both or none."""
        names = self._chance.sample(COUNTERS, 2)
        seen = {name: (await self._ask("GET", version(name)))[1] for name in names}
        given = {
            name: {"counter": one["counter"] + 1, "epoch": one["epoch"]}
            for name, one in seen.items()
        }
        status, found = await self._ask("PATCH", f"{DIR}/files", given)
        for name in names if status == 200 else ():
            assert found[name]["epoch"] == seen[name]["epoch"] + 1
            self._ledger.added[version(name)] += 1

    def _counted(self, reply: tuple[int, Any], seen: Any) -> None:
        status, found = reply
        if status == 200:
            assert found["epoch"] == seen["epoch"] + 1
            assert found["counter"] == seen["counter"] + 1
            self._ledger.added[found["xid"]] += 1

    async def _mark(self) -> None:
        """Patch without an epoch: always carried out, and nothing of others goes with it."""
        path = self._chance.choice((DIR, *map(version, COUNTERS)))
        self._number += 1
        status, found = await self._ask("PATCH", path, {f"by_{self._name}": self._number})
        assert status == 200
        assert found[f"by_{self._name}"] == self._number
        self._ledger.marks[path, f"by_{self._name}"] = self._number

    # Files that come and go

    async def _put_spot(self) -> None:
        name = self._chance.choice(SPOTS)
        status, found = await self._ask("PUT", f"{DIR}/files/{name}", {"versionid": "1"})
        if status == 201:
            self._ledger.added[name] += 1
            assert found["epoch"] == 1

    async def _patch_spot(self) -> None:
        """Its meta entity, with an epoch or without; where there is no file, it makes one."""
        path = f"{DIR}/files/{self._chance.choice(SPOTS)}/meta"
        status, seen = await self._ask("GET", path)
        given = {"epoch": seen["epoch"]} if status == 200 and self._chance.random() < 0.5 else {}
        status, found = await self._ask("PATCH", path, given)
        if status == 201:
            self._ledger.added[path.split("/")[4]] += 1
            assert found["epoch"] == 1

    async def _delete_spot(self) -> None:
        name = self._chance.choice(SPOTS)
        path = f"{DIR}/files/{name}"
        status, seen = await self._ask("GET", f"{path}/meta")
        if status == 404:
            return
        checked = self._chance.random() < 0.5
        status, _ = await self._ask("DELETE", f"{path}?epoch={seen['epoch']}" if checked else path)
        if status == 204:
            self._ledger.added[name] -= 1
            self._ledger.tally["deletes"] += 1
