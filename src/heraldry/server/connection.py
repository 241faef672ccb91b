"""Connections that bound what a client may send, hold and put off before and after its request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from heraldry.dialects.xreg_1_0.error_catalogue import problem
from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.server.connection_counts import ConnectionCounts
from heraldry.server.memory_budget import FREE_BYTES
from heraldry.server.replies import encode_json

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

_FASTER: Final = 100
"""So many times the least pace is asked of large bodies and replies while memory is short."""
_CHECKS_PER_WINDOW: Final = 4
"""So often it is checked within the time that a client is given."""


class _Counted:
    """A transport that knows how much was written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0
        self.is_closing, self.close = transport.is_closing, transport.close
        self.abort = transport.abort

    def write(self, data: bytes) -> None:
        self.written += len(data)
        self._transport.write(data)

    @property
    def unsent(self) -> int:
        return self._transport.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@dataclass(slots=True)
class _Window:
    """What was going on at a moment, to be compared with what goes on later."""

    start: float = 0.0
    cycle: object = None
    received: int = 0
    sent: int = 0
    unsent: int = 0


class BoundedConnection(HttpToolsProtocol):
    """Refuses what has no end, lets go of who sends or takes next to nothing, and says so."""

    head_limit = 128 * 1024
    patience = 30.0
    """Seconds until a request must have its headers, and a body or a reply must have moved on."""
    rate = 1024
    """Bytes of a body or a reply that must move in a second, on the average of that time."""
    most = 1000
    """So many connections are open at a time; the next one ends the one that waited longest."""
    pipelined = 100
    """So many requests may wait for the replies to those before them."""
    counts = ConnectionCounts()
    transport: Any
    _in_head = _in_body = False
    _silent = 0
    """Bytes that arrived since headers were complete or a part of a body came: of headers that
    have no end yet, of trailers, of comments in chunks."""
    _heads = _received = 0
    _received_before = 0
    """Bytes of bodies that arrived with the requests before this one."""
    _since = 0.0
    """When the connection was made, the headers began, or the last reply was complete."""
    _check_timer: asyncio.TimerHandle | None = None
    _running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self.transport = _Counted(transport)
        self._since = self.loop.time()
        self._window = _Window(self._since)
        self.counts.open += 1
        if len(self.connections) > self.most:
            self.counts.ended += 1
            (self.counts.longest() or self)._end(at_once=True)
        self.counts.before_head[self] = None
        self._check_timer = self.loop.call_later(
            self.patience / _CHECKS_PER_WINDOW, self._check_progress
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self.counts.open -= 1
        self.counts.forget(self)
        if self._check_timer is not None:
            self._check_timer.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request starts."""
        self._in_head = True
        self._since = self.loop.time()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those behind a body mean nothing here."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """From here on the application watches over sizes."""
        self._in_head, self._in_body = False, True
        self._silent = 0
        self._heads += 1
        self._received_before = self._received
        self.counts.forget(self)
        self.counts.before_body[self] = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body has arrived."""
        self._silent = 0
        self._received += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of a request has arrived."""
        self._in_body = False
        self.counts.forget(self)
        waiting = self.counts.before_head if self._waits_for_head else self.counts.before_reply
        waiting[self] = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """All of a reply was handed over."""
        self._since = self.loop.time()
        self.counts.forget(self)
        self.counts.before_head[self] = None
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived, and count it as long as it leads to nothing."""
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
        self.counts.not_http(self.loop.time())
        self._refuse("bad_request", msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for another protocol goes on with this one, as HTTP has it."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _check_progress(self) -> None:
        """End a connection whose client has kept the server waiting for too long."""
        if self._is_overdue() or self._is_slow():
            self.counts.ended += 1
            self._end(at_once=True)
        else:
            self._check_timer = self.loop.call_later(
                self.patience / _CHECKS_PER_WINDOW, self._check_progress
            )

    @property
    def _waits_for_head(self) -> bool:
        running = self._running
        return self._in_head or running is None or running.response_complete

    def _is_overdue(self) -> bool:
        """Whether headers have no end, a refused body none, or no request comes any more."""
        if not self._waits_for_head or self.transport.unsent:
            return False
        idle = self._heads > 0 and not self._in_head and not self._in_body
        limit = self.timeout_keep_alive if idle else self.patience
        return self.loop.time() - self._since > limit

    def _is_slow(self) -> bool:
        """Whether a body or a reply has moved too little for too long."""
        now, then = self._moment(), self._window
        if now.start - then.start < self.patience:
            return False
        self._window = now
        in_body = self._in_body and now.cycle is then.cycle and not self.flow.read_paused
        if in_body:
            large = self._received - self._received_before > FREE_BYTES
            return now.received - then.received < self._least(large=large)
        unsent = min(now.unsent, then.unsent)
        return unsent > 0 and now.sent - then.sent < self._least(large=unsent >= FREE_BYTES)

    def _least(self, *, large: bool) -> float:
        """How many bytes must have moved: who holds memory that others wait for must be quick."""
        least = self.rate * self.patience
        return least * _FASTER if large and self.counts.is_memory_short() else least

    def _moment(self) -> _Window:
        unsent = self.transport.unsent
        cycle = self.cycle if self._in_body and not self.flow.read_paused else None
        sent = self.transport.written - unsent
        return _Window(self.loop.time(), cycle, self._received, sent, unsent)

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
        self.counts.forget(self)
        self.connections.discard(self)
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()
        self.pipeline.clear()
        if at_once:
            self.transport.abort()
        else:
            self.transport.close()


def bounded(limits: Limits, counts: ConnectionCounts) -> type[BoundedConnection]:
    """Connections with the limits of a server."""
    head = limits.header_size + 2 * limits.query
    settings = {
        "head_limit": head,
        "patience": limits.patience,
        "rate": limits.rate,
        "most": limits.connections,
        "counts": counts,
    }
    return type("Connection", (BoundedConnection,), settings)
