"""Bytes for the requests under way: who came first is served first, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.server import memory_budget
from heraldry.server.memory_budget import FREE_BYTES, MemoryBudget

MIB = 1024 * 1024


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not become so")


def run(test: Callable[[], Awaitable[Any]]) -> None:
    asyncio.run(test())


def test_little_is_never_waited_for() -> None:
    async def test() -> None:
        full = MemoryBudget(MIB, MIB, 0.01)
        await full.share().grow(MIB + FREE_BYTES)
        await full.share().grow(FREE_BYTES)
        assert full.used == full.size

    run(test)


def test_those_who_wait_are_served_in_the_order_of_arrival() -> None:
    async def test() -> None:
        shared = MemoryBudget(MIB, MIB, 5)
        first, *others = (shared.share() for _ in range(4))
        await first.grow(MIB)
        done: list[int] = []

        async def wait(number: int) -> None:
            await others[number].grow(MIB)
            done.append(number)
            others[number].set(0)

        waiting = []
        for number in range(3):
            waiting.append(asyncio.create_task(wait(number)))
            await until(lambda: shared.waiting == len(waiting))
        first.set(0)
        await asyncio.gather(*waiting)
        assert done == [0, 1, 2]
        assert (shared.used, shared.waiting) == (0, 0)

    run(test)


def test_shares_that_grow_bit_by_bit_do_not_wait_for_each_other() -> None:
    async def test() -> None:
        shared = MemoryBudget(2 * MIB, MIB, 5)

        async def body() -> None:
            share = shared.share()
            for _ in range(16):
                await share.grow(FREE_BYTES)
                await asyncio.sleep(0)
            share.set(0)

        await asyncio.wait_for(asyncio.gather(*(body() for _ in range(20))), 4)
        assert (shared.used, shared.refused) == (0, 0)

    run(test)


def test_who_waits_too_long_is_sent_away() -> None:
    async def test() -> None:
        shared = MemoryBudget(MIB, MIB, 0.05)
        await shared.share().grow(MIB)
        with pytest.raises(RegistryError, match="server busy"):
            await shared.share().grow(MIB)
        assert (shared.refused, shared.waiting, shared.used) == (1, 0, MIB - FREE_BYTES)

    run(test)


def test_too_many_who_wait_are_sent_away_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_budget, "MAX_WAITING", 0)

    async def test() -> None:
        shared = MemoryBudget(MIB, MIB, 60)
        await shared.share().grow(MIB)
        with pytest.raises(RegistryError, match="server busy"):
            await shared.share().grow(MIB)

    run(test)


def test_who_leaves_while_waiting_takes_nothing() -> None:
    async def test() -> None:
        shared = MemoryBudget(MIB, MIB, 60)
        first = shared.share()
        await first.grow(MIB)
        waiting = asyncio.create_task(shared.share().grow(MIB))
        await until(lambda: shared.waiting == 1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        first.set(0)
        assert (shared.used, shared.waiting) == (0, 0)

    run(test)


def test_what_is_counted_after_its_request_has_ended_takes_nothing() -> None:
    shared = MemoryBudget(MIB, MIB, 5)
    share = shared.share()
    share.add(MIB)
    assert shared.used == MIB - FREE_BYTES
    share.end()
    share.add(MIB)
    assert shared.used == 0
