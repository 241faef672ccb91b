"""What the server keeps of a request while it is under way.

That is its client's presence, memory and fetched documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from heraldry.errors import RegistryError

T = TypeVar("T")
SMALL: Final = 1024 * 1024
"""Replies of so many bytes are made without asking for room."""


@dataclass(slots=True)
class RequestState:
    """One request with its answer, from its first byte to its last."""

    fetched_documents: dict[str, bytes | RegistryError] = field(default_factory=dict)
    """Documents from elsewhere that were fetched for it, by their addresses."""
    reply_limit: int = SMALL
    """How many bytes its reply may take in memory."""
    client_left: bool = False
    """Whether the client went away: nobody waits for what is still done."""
    disconnect_watch: asyncio.Task[None] | asyncio.TimerHandle | None = None
    """Waits for the client to leave."""
    current_task: asyncio.Future[Any] | None = None
    """What goes on only as long as the client is there."""
    count_body_bytes: Callable[[int], object] | None = None
    """Called with the bytes that a body takes as values, before it is read; on any thread."""

    def mark_client_left(self) -> None:
        """The client went away."""
        self.client_left = True
        if self.current_task is not None:
            self.current_task.cancel()

    async def run_while_connected(self, work: Awaitable[T]) -> T:
        """Wait for something; it is cancelled when the client goes away."""
        task = self.current_task = asyncio.ensure_future(work)
        if self.client_left:
            task.cancel()
        done: T = await task
        return done

    def cancelled(self) -> bool:
        """Whether the work may stop."""
        return self.client_left
