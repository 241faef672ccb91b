"""What became of the connections of a server."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

_LOG = logging.getLogger("heraldry.server")
_LOGGED_SECONDS: Final = 60.0


@dataclass(slots=True)
class ConnectionCounts:
    """What became of the connections of a server."""

    open: int = 0
    ended: int = 0
    """Ended because their client kept the server waiting, or made room for another one."""
    invalid: int = 0
    """How often what came was not HTTP."""
    logged: float = -_LOGGED_SECONDS

    def not_http(self, now: float) -> None:
        """Count what is not HTTP; the log has a line about it now and then."""
        self.invalid += 1
        if now - self.logged >= _LOGGED_SECONDS:
            self.logged = now
            _LOG.warning("what came is not HTTP, %d times by now", self.invalid)
