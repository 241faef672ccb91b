"""What is known of an exchange beside its request: whether its client is there, what it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Exchange:
    """One request with its answer, from its first byte to its last."""

    gone: bool = False
    """Whether the client went away: nobody waits for what is still done."""
    drop: Callable[[], object] | None = None
    """Takes back work that has not begun."""
    count: Callable[[int], object] | None = None
    """Told how many bytes a body takes once it is read, before it is; on any thread."""

    def leave(self) -> None:
        """The client went away."""
        self.gone = True
        if self.drop is not None:
            self.drop()

    def cancelled(self) -> bool:
        """Whether the work may stop."""
        return self.gone
