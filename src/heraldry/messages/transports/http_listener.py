"""An HTTP/1.1 server of few words: one request at a time on each connection, all of it limited."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11

from heraldry.messages.message import Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one sender may ask of a listener; beyond it, an answer says so."""

    connections: int = 256
    headers: int = 256
    head_bytes: int = 65536
    body_bytes: int = 4 << 20
    head_seconds: float = 15.0
    body_seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request; ``headers`` as they came, as texts."""

    method: str
    target: str
    headers: Pairs
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is answered; with a ``detail`` the body is a problem document (RFC 9457)."""

    status: int
    detail: str = ""
    headers: Pairs = ()

    @property
    def body(self) -> bytes:
        """The problem document, or nothing."""
        if not self.detail:
            return b""
        title = HTTPStatus(self.status).phrase
        problem = {"title": title, "status": self.status, "detail": self.detail}
        return json.dumps({"type": "about:blank", **problem}).encode()


Screen = Callable[[Request], Answer | None]
"""Answers a request before its body is read, or lets it pass."""
Handle = Callable[[Request], Awaitable[Answer]]

_LINGER_SECONDS = 1.0
_CLOSE_SECONDS = 2.0
_CHUNK = 65536


class Listener:
    """Serves requests until it is closed."""

    def __init__(self, screen: Screen, handle: Handle, limits: Limits) -> None:
        self._screen, self._handle, self._limits = screen, handle, limits
        self._tasks: set[asyncio.Task[Any]] = set()
        self._idle: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        """Listen; OSError where the address cannot be had."""
        seconds = self._limits.head_seconds if tls else None
        self._server = await asyncio.start_server(
            self._serve, host, port, ssl=tls, ssl_handshake_timeout=seconds
        )

    async def close(self) -> None:
        """Take no more; requests that are being handled are answered first."""
        self._closing = True
        self._server.close()
        for task in self._idle:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        peer = _Peer(reader, writer, self._limits)
        try:
            while await self._exchange(peer, task) and not self._closing:
                pass
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # the sender is gone, was too slow, or we are
        finally:
            self._tasks.discard(task)
            await peer.close()

    async def _exchange(self, peer: _Peer, task: asyncio.Task[Any]) -> bool:
        """One request and its answer; whether another may follow."""
        try:
            if len(self._tasks) > self._limits.connections:
                await peer.refuse(Answer(status=503, detail="Too many connections."))
                return False
            self._idle.add(task)
            try:
                request = await peer.head()
            finally:
                self._idle.discard(task)
            if request is None:
                return False
            answer = self._screen(request)
            if answer is None:
                answer = await self._handle(await peer.with_body(request))
            return await peer.answer(answer, request.method, last=self._closing)
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
            await peer.refuse(Answer(status=status, detail="The request is not valid HTTP."))
        except _TooMuchError as error:
            await peer.refuse(error.answer)
        return False


class _TooMuchError(Exception):
    """A request beyond the limits; it never leaves this module."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


class _Peer:
    """One connection: bytes to events and back."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits
    ) -> None:
        self._reader, self._writer, self._limits = reader, writer, limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_bytes)

    async def head(self) -> Request | None:
        """The next request without its body; None where the sender is done."""
        async with asyncio.timeout(self._limits.head_seconds):
            event = await self._event()
        if not isinstance(event, h11.Request):
            return None
        if len(event.headers) > self._limits.headers:
            raise _TooMuchError(Answer(status=431, detail="Too many headers."))
        return Request(
            method=event.method.decode("ascii"),
            target=event.target.decode("ascii", "replace"),
            headers=tuple((name.decode(), _text(text)) for name, text in event.headers.raw_items()),
        )

    async def with_body(self, request: Request) -> Request:
        """The request with its body."""
        most = self._limits.body_bytes
        length = next((v for n, v in request.headers if n.lower() == "content-length"), "0")
        too_large = Answer(status=413, detail=f"A body may have {most} bytes.")
        if int(length) > most:
            raise _TooMuchError(too_large)
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        body = bytearray()
        async with asyncio.timeout(self._limits.body_seconds):
            while isinstance(event := await self._event(), h11.Data):
                body += event.data
                if len(body) > most:
                    raise _TooMuchError(too_large)
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionError("the sender left in the middle of a body")
        return Request(
            method=request.method,
            target=request.target,
            headers=request.headers,
            body=bytes(body),
        )

    async def answer(self, answer: Answer, method: str, *, last: bool) -> bool:
        """Send an answer; whether the connection goes on."""
        last |= self._http.their_state is not h11.DONE  # the body was not read
        headers = list(answer.headers)
        body = b"" if method == "HEAD" else answer.body
        if answer.detail:
            headers.append(("Content-Type", "application/problem+json"))
        if answer.status != HTTPStatus.NO_CONTENT:
            headers.append(("Content-Length", str(len(body))))
        if last:
            headers.append(("Connection", "close"))
        await self._send(h11.Response(status_code=answer.status, headers=headers))
        if body:
            await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            await self._linger()
            return False
        self._http.start_next_cycle()
        return True

    async def refuse(self, answer: Answer) -> None:
        """Answer what was not read to its end, and part."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await self.answer(answer, "POST", last=True)

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._writer.wait_closed()

    async def _event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(_CHUNK))
        return event

    async def _send(self, event: Any) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            async with asyncio.timeout(self._limits.body_seconds):
                await self._writer.drain()

    async def _linger(self) -> None:
        """Read on for a moment: a connection closed with bytes unread would void the answer."""
        with suppress(OSError, TimeoutError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._reader.read(_CHUNK):
                    pass


def _text(value: bytes) -> str:
    """A header as a text: UTF-8 as is usual, else Latin-1, which any bytes are."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
