"""What became of the connections of a server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

_LOG = logging.getLogger("heraldry.server")
_LOGGED_SECONDS: Final = 60.0


@dataclass(slots=True)
class ConnectionCounts:
    """The connections of a server: how many there are, who waits, and what became of others."""

    is_memory_short: Callable[[], bool] = lambda: False
    """Whether requests wait for memory that others hold."""
    open: int = 0
    before_head: dict[Any, None] = field(default_factory=dict)
    """Connections that wait for the headers of a request; those that wait longest come first."""
    before_body: dict[Any, None] = field(default_factory=dict)
    """Connections that wait for the end of a body."""
    before_reply: dict[Any, None] = field(default_factory=dict)
    """Connections whose reply is being made, or taken."""
    ended: int = 0
    """Ended because their client kept the server waiting, or made room for another one."""
    invalid: int = 0
    """How often what came was not HTTP."""
    logged: float = -_LOGGED_SECONDS

    def longest(self) -> Any:
        """The connection that has waited longest for its client; else that of the oldest reply."""
        return next(iter(self.before_head or self.before_body or self.before_reply), None)

    def forget(self, connection: Any) -> None:
        """A connection does not wait for that any more."""
        for waiting in (self.before_head, self.before_body, self.before_reply):
            waiting.pop(connection, None)

    def not_http(self, now: float) -> None:
        """Count what is not HTTP; the log has a line about it now and then."""
        self.invalid += 1
        if now - self.logged >= _LOGGED_SECONDS:
            self.logged = now
            _LOG.warning("what came is not HTTP, %d times by now", self.invalid)
