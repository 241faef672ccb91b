"""Threads for work that must not run on the event loop, with a bound on how much waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from heraldry.errors import RegistryError

T = TypeVar("T")


class WorkQueue:
    """Work in the order of arrival; used on the event loop only."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, f"heraldry-{name}")
        self._threads, self._most = threads, threads + waiting
        self._pending = 0
        self.refused = 0

    @property
    def waiting(self) -> int:
        """How much work waits for a thread."""
        return max(0, self._pending - self._threads)

    async def run(self, work: Callable[..., T], *values: Any) -> T:
        """Do work; ``server_busy`` where too much waits. Cancelled, it is not begun any more."""
        if self._pending >= self._most:
            self.refused += 1
            raise RegistryError("server_busy", detail="Too many requests are waiting.")
        self._pending += 1
        future = self._pool.submit(work, *values)
        loop = asyncio.get_running_loop()

        def done(_: object) -> None:
            with suppress(RuntimeError):  # the loop has ended before
                loop.call_soon_threadsafe(self._done)

        future.add_done_callback(done)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.add_done_callback(_discard)
            raise

    def _done(self) -> None:
        self._pending -= 1

    async def step(self, work: Callable[..., T], *values: Any) -> T:
        """Do a part of what was begun."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *values)

    def close(self) -> None:
        """Wait for what is under way."""
        self._pool.shutdown()


def _discard(future: Future[Any]) -> None:
    """Let go of what nobody waits for."""
    if not future.cancelled() and future.exception() is None:
        close = getattr(future.result(), "close", None)
        if close is not None:
            close()
