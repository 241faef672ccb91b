"""Settlements on their way to the source: several at once, so that none waits for another."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable

WAITING = 100
"""So many messages may be dealt with before the source has heard of the first."""


class Settlements:
    """Acknowledgements and rejections that were begun, oldest first."""

    def __init__(self) -> None:
        self._begun: deque[asyncio.Future[None]] = deque()

    async def add(self, settlement: Awaitable[None]) -> None:
        """Begin one; waits only where too many are on their way, and raises what one raised."""
        self._begun.append(asyncio.ensure_future(settlement))
        while self._begun and (len(self._begun) > WAITING or self._begun[0].done()):
            await self._begun.popleft()

    async def finish(self) -> None:
        """Wait for all of them."""
        while self._begun:
            await self._begun.popleft()
