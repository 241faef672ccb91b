"""Connections that bound what a client may send before its request is even understood."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from heraldry.dialects.xreg_1_0.error_catalogue import problem
from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.server.replies import encode_json

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class BoundedConnection(HttpToolsProtocol):
    """Refuses what has no end, lets go of who sends nothing, and says so in problem documents."""

    head_limit = 128 * 1024
    patience = 30.0
    """Seconds that a request may take until its headers are complete or its body goes on, and
    a reply until some more of it is taken."""
    pipelined = 100
    """So many requests may wait for the replies to those before them."""
    _in_head = False
    _silent = 0
    """Bytes that arrived since headers were complete or a part of a body came: of headers that
    have no end yet, of trailers, of comments in chunks."""
    _heads = _reads = 0
    _before = (-1, -1, 0)
    _look: asyncio.TimerHandle | None = None
    _running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self._look = self.loop.call_later(self.patience, self._look_after)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request starts."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those behind a body mean nothing here."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """From here on the application watches over sizes."""
        self._in_head = False
        self._silent = 0
        self._heads += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body has arrived."""
        self._silent = 0
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        """Take what has arrived, and count it as long as it leads to nothing."""
        self._reads += 1
        self._silent += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._silent > self.head_limit:
            self._refuse("headers_too_large")
        elif len(self.pipeline) > self.pipelined:
            self._end()

    def send_400_response(self, msg: str) -> None:
        """The request is not HTTP."""
        self._refuse("bad_request", msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for another protocol goes on with this one, as HTTP has it."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _look_after(self) -> None:
        """End a connection whose client has kept the server waiting since the last look."""
        now = (self._heads, self._reads, self.transport.get_write_buffer_size())
        no_head = (self._in_head or self._heads == 0) and now[0] == self._before[0]
        no_reader = now[2] > 0 and now[2] == self._before[2]
        if no_head or no_reader or (self._waits_for_body() and now == self._before):
            self._end(at_once=True)
        else:
            self._before = now
            self._look = self.loop.call_later(self.patience, self._look_after)

    def _waits_for_body(self) -> bool:
        running = self._running
        return running is not None and running.more_body and not running.response_complete

    def _refuse(self, name: str, reason: str = "") -> None:
        running = self._running
        if running is None or running.response_complete or not running.response_started:
            given = {"error_detail": reason} if reason else None
            status, body = problem(RegistryError(name, "/", given), RC4)
            content = encode_json(body)
            head = (
                f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json; charset=utf-8\r\n"
                f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + content)
        self._end()

    def _end(self, *, at_once: bool = False) -> None:
        """Close the connection; a request under way has nobody left to answer to."""
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()
        self.pipeline.clear()
        if at_once:
            self.transport.abort()
        else:
            self.transport.close()


def bounded(limits: Limits) -> type[BoundedConnection]:
    """Connections with the limits of a server."""
    most = limits.header_size + 2 * limits.query
    return type("Connection", (BoundedConnection,), {"head_limit": most})
