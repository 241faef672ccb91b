"""Pages of other origins: a browser lets them use the server only where it says so (CORS)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from heraldry.server.answer import Answer
from heraldry.server.incoming import Header, Incoming

ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Origins:
    """Whose pages may read and write; nobody's unless somebody is named."""

    allowed: tuple[str, ...] = ()
    request_headers: bytes = b"*"
    """What pages may send: ``*`` is every header but that of a token."""

    def allows(self, origin: str | None) -> bool:
        """Whether pages of an origin may read and write; ``None``: it is not known."""
        return ANY in self.allowed or origin in self.allowed

    def headers(self, incoming: Incoming, methods: bytes = b"") -> tuple[Header, ...]:
        """What a browser must see before a page may have a reply; ``methods`` are the place's."""
        if not self.allowed:
            return ()
        origin = ANY if ANY in self.allowed else incoming.header(b"origin")
        varying: tuple[Header, ...] = () if origin == ANY else ((b"vary", b"origin"),)
        if origin is None or not self.allows(origin):
            return varying
        granted: tuple[Header, ...] = (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-headers", self.request_headers),
            (b"access-control-expose-headers", b"*"),
        )
        listed = ((b"access-control-allow-methods", methods),) if methods else ()
        return (*varying, *granted, *listed)

    def shared(self, answer: Answer, incoming: Incoming) -> Answer:
        """An answer that the page which asked may have, where its origin is allowed."""
        if not self.allowed:
            return answer
        # The answer to OPTIONS lists the methods already.
        methods = b"" if incoming.method == "OPTIONS" else answer.methods
        return replace(answer, headers=(*answer.headers, *self.headers(incoming, methods)))
