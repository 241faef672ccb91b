"""Group commit: what arrives while a group is flushed makes the next, so one flush serves many."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from heraldry.errors import RawLogError
from heraldry.messages.rawlog_writer import RawLogWriter

Ticket = TypeVar("Ticket")
Settle = Callable[[Sequence[Ticket], RawLogError | None], Awaitable[None]]
"""Told of the tickets of a group: they are durable, or why they are not and never will be."""
Again = Callable[[RawLogError], float | None]
"""Asked where a group cannot be written: after how many seconds to try once more, or None."""

LINGER_SECONDS = 0.002
"""How long a group waits for company: a flush takes about as long."""
GROUP = 1000
"""A group of so many tickets waits for nobody."""
HELD_BYTES = 32 * 1024 * 1024


class GroupCommit(Generic[Ticket]):
    """Writes lines to a log in groups; each ticket is settled when its lines are durable."""

    def __init__(
        self, log: RawLogWriter, settle: Settle[Ticket], again: Again = lambda failure: None
    ) -> None:
        self._log, self._settle, self._again = log, settle, again
        self._lines: list[bytes] = []
        self._tickets: list[Ticket] = []
        self._size = 0
        self._ending = asyncio.Event()
        self._news, self._room = asyncio.Event(), asyncio.Event()

    def add(self, lines: Sequence[bytes], ticket: Ticket) -> None:
        """Lines that belong together: they are durable together, or not at all."""
        self._lines += lines
        self._tickets.append(ticket)
        self._size += sum(map(len, lines))
        self._news.set()

    @property
    def is_full(self) -> bool:
        """Whether whoever adds should wait for :meth:`room` first."""
        return self._size >= HELD_BYTES or len(self._tickets) >= GROUP

    async def room(self) -> None:
        """Wait until what is held has been taken to be written."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()

    async def run(self) -> None:
        """Write group after group until :meth:`end`; raises what ``settle`` raises."""
        while not (self._ending.is_set() and not self._tickets):
            if not self._tickets:
                self._news.clear()
                await self._news.wait()
                continue
            if not self.is_full and not self._ending.is_set():
                await asyncio.sleep(LINGER_SECONDS)
            await self._flush()

    def end(self) -> None:
        """Let :meth:`run` return, once all that was added is written, or cannot be."""
        self._ending.set()
        self._news.set()

    async def _flush(self) -> None:
        lines, self._lines = self._lines, []
        tickets, self._tickets = self._tickets, []
        self._size = 0
        self._room.set()
        loop = asyncio.get_running_loop()
        while (failure := await loop.run_in_executor(None, self._write, lines)) is not None:
            seconds = None if self._ending.is_set() else self._again(failure)
            if seconds is None:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending.wait()
        await self._settle(tickets, failure)

    def _write(self, lines: list[bytes]) -> RawLogError | None:
        try:
            self._log.append(lines)
            self._log.sync()
        except RawLogError as error:
            return error
        return None
