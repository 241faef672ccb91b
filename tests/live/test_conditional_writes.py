"""Conditional writes to two servers on one registry: nobody's change is lost."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import httpx2

from tests.live.servers.heraldry_serve import serve

CLIENTS, RAISES = 4, 12
DIR = "/dirs/d"


async def _raise(client: httpx2.AsyncClient, times: int) -> int:
    """Add one so many times, each on top of what was read; the number of refusals."""
    refused = 0
    while times:
        shown = await client.get(DIR)
        body = {"counter": shown.json()["counter"] + 1}
        named = {"If-Match": shown.headers["etag"]}
        done = await client.patch(DIR, json=body, headers=named)
        assert done.status_code in (200, 412), done.text
        times -= done.status_code == 200
        refused += done.status_code == 412
    return refused


async def _race(addresses: list[str]) -> tuple[int, int, list[int]]:
    async with AsyncExitStack() as stack:
        # All of them say the same Host: a tag belongs to an address.
        clients = [
            await stack.enter_async_context(
                httpx2.AsyncClient(
                    base_url=addresses[n % len(addresses)],
                    headers={"Host": "localhost"},
                    timeout=60,
                )
            )
            for n in range(CLIENTS)
        ]
        first = [
            one.put(DIR, json={"counter": 0}, headers={"If-None-Match": "*"}) for one in clients
        ]
        created = [reply.status_code for reply in await asyncio.gather(*first)]
        refused = sum(await asyncio.gather(*(_raise(one, RAISES) for one in clients)))
        return (await clients[0].get(DIR)).json()["counter"], refused, created


def test_no_change_is_lost(durable_address: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(serve(durable_address, tmp_path)) for _ in range(2)]
        counter, refused, created = asyncio.run(_race([one.address for one in servers]))
    assert sorted(created) == [201, *[412] * (CLIENTS - 1)]
    assert counter == CLIENTS * RAISES
    assert refused > 0
