"""Pages of other origins: a browser lets them use the registry only where it says so (CORS)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from heraldry.server.answer import Answer
from heraldry.server.incoming import Header, Incoming

ANY: Final = "*"
_METHODS: Final = b"DELETE, GET, OPTIONS, PATCH, POST, PUT"


@dataclass(frozen=True, slots=True)
class Origins:
    """Whose pages may read and write; nobody's unless somebody is named.

    Credentials are never asked for, so that ``*`` stands for all headers.
    """

    allowed: tuple[str, ...] = ()

    def shared(self, answer: Answer, incoming: Incoming) -> Answer:
        """An answer that the page which asked may have, where its origin is allowed."""
        if not self.allowed:
            return answer
        added: list[Header] = [] if ANY in self.allowed else [(b"vary", b"origin")]
        origin = ANY if ANY in self.allowed else incoming.header(b"origin")
        if origin in self.allowed:
            added += [
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-allow-headers", b"*"),
                (b"access-control-expose-headers", b"*"),
            ]
            if incoming.method != "OPTIONS":  # its answer lists those of the place
                added.append((b"access-control-allow-methods", _METHODS))
        return replace(answer, headers=(*answer.headers, *added))
