"""What is known of an exchange beside its request: whether its client is there, what it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from heraldry.errors import RegistryError

T = TypeVar("T")
SMALL: Final = 1024 * 1024
"""Replies of so many bytes are made without asking for room."""


@dataclass(slots=True)
class Exchange:
    """One request with its answer, from its first byte to its last."""

    elsewhere: dict[str, bytes | RegistryError] = field(default_factory=dict)
    """Documents from elsewhere that were fetched for it, by their addresses."""
    room: int = SMALL
    """How many bytes its reply may take in memory."""
    gone: bool = False
    """Whether the client went away: nobody waits for what is still done."""
    watching: asyncio.Task[None] | None = None
    """Waits for the client to leave."""
    waiting: asyncio.Task[Any] | None = None
    """What goes on only as long as the client is there."""
    count: Callable[[int], object] | None = None
    """Told how many bytes a body takes once it is read, before it is; on any thread."""

    def leave(self) -> None:
        """The client went away."""
        self.gone = True
        if self.waiting is not None:
            self.waiting.cancel()

    async def while_there(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something; it is cancelled when the client goes away."""
        waiting = self.waiting = asyncio.get_running_loop().create_task(work)
        if self.gone:
            waiting.cancel()
        done: T = await waiting
        return done

    def cancelled(self) -> bool:
        """Whether the work may stop."""
        return self.gone
