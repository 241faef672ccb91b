"""Threads for work that must not run on the event loop, with a bound on how much waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
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

    def run(self, work: Callable[..., T], *values: Any) -> asyncio.Future[T]:
        """Do work; ``server_busy`` where too much waits. Cancelled, it is not begun any more."""
        if self._pending >= self._most:
            self.refused += 1
            raise RegistryError("server_busy", detail="Too many requests are waiting.")
        self._pending += 1
        job = self._pool.submit(work, *values)
        result = asyncio.wrap_future(job)
        result.add_done_callback(partial(self._end, job))
        return result

    def _end(self, job: Future[T], result: asyncio.Future[T]) -> None:
        """A result is there, or nobody waits for it: then the work counts as long as it goes on."""
        if not result.cancelled() or job.done():
            self._pending -= 1
        else:
            job.add_done_callback(partial(self._end_later, asyncio.get_running_loop()))
        if result.cancelled():
            job.add_done_callback(_discard)

    def _end_later(self, loop: asyncio.AbstractEventLoop, job: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(self._end_one)

    def _end_one(self) -> None:
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
