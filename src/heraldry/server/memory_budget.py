"""A budget of bytes that all requests under way share: what is beyond it waits, or is refused."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Final

from heraldry.errors import RegistryError

FREE_BYTES: Final = 64 * 1024
"""What every request may hold without asking: whoever sends or wants little never waits."""
MAX_WAITING: Final = 1000
"""So many requests may wait for bytes; more are sent away at once."""


class MemoryShare:
    """What one request holds of a budget. Used on the event loop only."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.size = self.number = 0
        self._ended = False

    @property
    def counted(self) -> int:
        """How many bytes of the budget it takes."""
        return max(0, self.size - FREE_BYTES)

    async def grow(self, size: int) -> None:
        """Hold more, as soon as it is free; ``server_busy`` where that takes too long."""
        if self.size + size <= FREE_BYTES:
            self.size += size
        else:
            await self._budget.grant(self, size)

    def set(self, size: int) -> None:
        """Hold so much from now on: less, or what only one request at a time adds to its own."""
        if not self._ended:
            self._budget.change(self, size)

    def add(self, size: int) -> None:
        """Hold so much more from now on, whether it is free or not."""
        self.set(self.size + size)

    def end(self) -> None:
        """Hold nothing any more, whatever a thread that is still at work counts."""
        self.set(0)
        self._ended = True


class MemoryBudget:
    """Bytes for the requests under way, granted in the order in which these arrived.

    They grow bit by bit, and must never wait for each other's bytes: so much is kept free that the
    one that came first can always have its most.
    """

    def __init__(self, size: int, most: int, patience: float) -> None:
        self.size, self.patience = size, patience
        self._largest_share = min(most, size)
        self.used = self.refused = 0
        self._numbers = count(1)
        self._shares: dict[int, MemoryShare] = {}
        self._waiting: dict[MemoryShare, tuple[int, asyncio.Future[None]]] = {}
        self._turn = asyncio.Lock()
        """One large request at a time moves on: between them the loop has time for small ones."""

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def share(self) -> MemoryShare:
        """The share of a request that has just arrived; it holds nothing."""
        return MemoryShare(self)

    async def grant(self, share: MemoryShare, size: int) -> None:
        """Give a share more bytes, or have it wait for them."""
        share.number = share.number or next(self._numbers)
        async with self._turn:
            await asyncio.sleep(0)
        if not self._waiting and self._fits(share, size):
            self.change(share, share.size + size)
            return
        if len(self._waiting) >= MAX_WAITING:
            raise self._refusal()
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[share] = (size, waiter)
        self._serve()
        try:
            await asyncio.wait_for(waiter, self.patience)
        except TimeoutError:
            raise self._refusal() from None
        finally:
            self._waiting.pop(share, None)

    def change(self, share: MemoryShare, size: int) -> None:
        """Set what a share holds; whoever waits for what it gave back is served."""
        before = share.counted
        share.size = size
        if not before and size <= FREE_BYTES:
            return  # most requests: they hold nothing that is counted
        self.used += share.counted - before
        if share.counted:
            share.number = share.number or next(self._numbers)
            self._shares[share.number] = share
        else:
            self._shares.pop(share.number, None)
        if share.counted < before:
            self._serve()

    def _fits(self, share: MemoryShare, size: int) -> bool:
        first = self._shares[min(self._shares)] if self._shares else share
        needed = max(0, share.size + size - FREE_BYTES) - share.counted
        reserved = max(0, self._largest_share - first.size) if first.number < share.number else 0
        return self.used + needed + reserved <= self.size

    def _serve(self) -> None:
        for share in sorted(self._waiting, key=lambda share: share.number):
            size, waiter = self._waiting[share]
            if waiter.done() or not self._fits(share, size):
                continue
            self.change(share, share.size + size)
            waiter.set_result(None)

    def _refusal(self) -> RegistryError:
        self.refused += 1
        return RegistryError("server_busy", detail="Too many large requests are under way.")
