"""Taking messages in over HTTP: an answer of 202 means that they are durable in the raw log.

Events in binary, structured and batch mode, and whatever else is sent, on any path or below one.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from heraldry.dialects.xreg_1_0.error_catalogue import problem
from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.errors import MessageError, RawLogError, RegistryError
from heraldry.messages import line
from heraldry.messages.envelopes import event_formats
from heraldry.messages.group_commit import GroupCommit
from heraldry.messages.protocols import http
from heraldry.messages.raw_line import batch_lines, raw_line
from heraldry.messages.transports.http_target import split
from heraldry.registry.limits import Limits
from heraldry.server.connection_counts import ConnectionCounts
from heraldry.server.content import read_body
from heraldry.server.gate import Gate
from heraldry.server.incoming import Incoming
from heraldry.server.memory_budget import MemoryBudget, MemoryShare
from heraldry.server.metrics import CONTENT_TYPE, budget_lines, connection_lines, measure
from heraldry.server.origins import Origins

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from heraldry.messages.rawlog_writer import RawLogWriter

HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"

_PROBLEM = (b"content-type", b"application/problem+json")
_SECRET_HEADERS = frozenset(
    (
        *("authorization", "proxy-authorization", "x-authorization", "cookie"),
        *("x-api-key", "api-key", "apikey", "x-apikey", "x-goog-api-key", "x-functions-key"),
        *("ocp-apim-subscription-key", "aeg-sas-key", "aeg-sas-token", "x-amz-security-token"),
        *("x-access-token", "x-auth-token", "x-auth-key", "x-gitlab-token"),
    )
)
"""How senders are let in, here or by who stands before us: no part of a message."""
_SECRET_PARAMETERS = frozenset(("access_token", "api_key", "api-key", "apikey", "subscription-key"))
_WITHOUT = ("GET", "HEAD")
_METHODS = ("POST", "PUT", "PATCH", "DELETE")
"""What makes a message: who only looks, such as a probe or a browser, sends none."""
_ALLOW = (b"allow", ", ".join((*_METHODS, "OPTIONS")).encode())
_CLOSING = ((b"connection", b"close"),)
_Waiting = asyncio.Future[RawLogError | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeSettings:
    """``token``: what a sender must show as ``Authorization: Bearer``; None: nothing.

    ``origins``: whose web pages may send. ``hosts``: see :class:`ServerSettings`.
    ``keep_invalid``: what says it is a batch of events and is none is kept as one message, which
    becomes a dead letter; else it is refused. ``path``: messages are posted below it, and theirs
    is what follows it.
    """

    path: str = ""
    max_body: int = 16 * 1024 * 1024
    token: str | None = field(default=None, repr=False)
    keep_invalid: bool = False
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered; with a ``detail`` it is a problem document (RFC 9457)."""

    status: int
    detail: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    content: bytes = b""

    def parts(self) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Headers and body."""
        headers, body = list(self.headers), self.content
        if self.detail:
            title = HTTPStatus(self.status).phrase
            told = {"type": "about:blank", "title": title, "status": self.status}
            body = msgspec.json.encode(told | {"detail": self.detail})
            headers.append(_PROBLEM)
        headers.append((b"content-length", b"%d" % len(body)))
        return headers, body


class IntakeApp:
    """The ASGI application; the log stays open, its owner closes it."""

    def __init__(
        self,
        log: RawLogWriter,
        settings: IntakeSettings | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._log, self._settings = log, settings or IntakeSettings()
        self._origins = Origins(self._settings.origins, b"*, authorization")
        self._gate = Gate.of(self._origins, self._settings.hosts)
        limits, most = limits or Limits(), self._settings.max_body
        self._bodies = MemoryBudget(max(limits.bodies, most), most, limits.patience)
        self.connections = ConnectionCounts(lambda: self._bodies.waiting > 0)
        self._commit: GroupCommit[_Waiting] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._answers: Counter[int] = Counter()
        self._messages = self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of ASGI."""
        if scope["type"] == "http":
            incoming = Incoming.of(scope)
            refusal = self._gate.refusal(incoming)
            if refusal is not None:
                reply: Reply | None = _refused(refusal)
            else:
                reply = await self._reply(scope, receive)
            if reply is not None:
                shared = self._origins.headers(incoming, _ALLOW[1])
                reply = replace(reply, headers=(*reply.headers, *shared))
                await self._send(reply, scope["method"], send)
        elif scope["type"] == "lifespan":
            await receive()
            self._start()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._finish()
            await send({"type": "lifespan.shutdown.complete"})

    def _start(self) -> GroupCommit[_Waiting]:
        if self._commit is None:
            self._commit = GroupCommit(self._log, _settle)
            self._writing = asyncio.create_task(self._commit.run())
        return self._commit

    async def _finish(self) -> None:
        if self._commit is not None and self._writing is not None:
            self._commit.end()
            await self._writing
            self._commit = None

    async def _reply(self, scope: Scope, receive: Receive) -> Reply | None:
        method, path = scope["method"], scope["path"]
        if method in _WITHOUT and path in (HEALTH, METRICS):
            return self._service(path)
        if not self._is_here(scope):
            return Reply(404, "Messages are not taken here.")
        if method == "OPTIONS":
            return _handshake(scope)
        if method not in _METHODS:
            return Reply(405, f"Messages are sent by {', '.join(_METHODS)}.", (_ALLOW,))
        if not self._is_let_in(scope):
            return Reply(401, "A token is needed.", ((b"www-authenticate", b"Bearer"),))
        share = self._bodies.share()
        try:
            body = await self._body(scope, receive, share)
            return None if body is None else await self._take(scope, body)
        except OverflowError:
            detail = f"At most {self._settings.max_body} bytes are taken."
            return Reply(413, detail, _CLOSING)
        except RegistryError as error:
            return Reply(503, f"Nothing was taken: {error.detail}", ((b"retry-after", b"1"),))
        finally:
            share.set(0)

    async def _take(self, scope: Scope, body: bytes) -> Reply:
        try:
            lines = self._lines(_message(scope, self._settings.path, body))
        except (MessageError, ValueError) as error:
            return Reply(400, str(error))
        longest = max(map(len, lines), default=0)
        if longest > line.MAX_LINE:
            told = f"A message is kept as a line of at most {line.MAX_LINE} bytes"
            return Reply(413, f"{told}; this one would have {longest}.")
        waiting: _Waiting = asyncio.get_running_loop().create_future()
        self._start().add(lines, waiting)
        failure = await waiting
        if failure is not None:
            return Reply(503, f"Nothing was taken: {failure.reason}.", ((b"retry-after", b"5"),))
        self._messages += len(lines)
        self._bytes += len(body)
        return Reply(202)

    def _lines(self, raw: http.HttpMessage) -> list[bytes]:
        if not event_formats.is_batch(http.content_type(raw)):
            return [raw_line(raw)]
        try:
            return batch_lines(raw)
        except MessageError:
            if not self._settings.keep_invalid:
                raise
        return [raw_line(raw)]

    def _is_here(self, scope: Scope) -> bool:
        start = self._settings.path
        path: str = scope["raw_path"].decode("latin-1")
        return not start or path == start or path.startswith(f"{start}/")

    def _is_let_in(self, scope: Scope) -> bool:
        token = self._settings.token
        if token is None:
            return True
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, value = b", ".join(shown).partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(value.lstrip(), token.encode())

    async def _body(self, scope: Scope, receive: Receive, share: MemoryShare) -> bytes | None:
        """All of a body; None where the client went away, OverflowError where it is too long."""
        most = self._settings.max_body
        declared = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(value.isdigit() and int(value) > most for value in declared):
            raise OverflowError
        return await read_body(receive, None, most, share)

    def _service(self, path: str) -> Reply:
        if path == METRICS:
            text = "".join(f"{one}\n" for one in self._measures()).encode("ascii")
            return Reply(200, headers=((b"content-type", CONTENT_TYPE),), content=text)
        ok = msgspec.json.encode({"status": "ok", "messages": self._log.end})
        return Reply(200, headers=((b"content-type", b"application/json"),), content=ok)

    def _measures(self) -> Iterator[str]:
        yield "# HELP heraldry_intake_requests_total Requests by the status of their answer."
        yield "# TYPE heraldry_intake_requests_total counter"
        for status, number in sorted(self._answers.items()):
            yield f'heraldry_intake_requests_total{{status="{status}"}} {number}'
        for name, help_text, number in (
            ("messages", "Messages that were taken in.", self._messages),
            ("bytes", "Bytes of the bodies that were taken in.", self._bytes),
            ("syncs", "How often the log was flushed to its disk.", self._log.syncs),
        ):
            yield from measure(f"heraldry_intake_{name}_total", help_text, number)
        yield from connection_lines("heraldry_intake", self.connections)
        yield from budget_lines("heraldry_intake_bodies", "bodies", self._bodies)

    async def _send(self, reply: Reply, method: str, send: Send) -> None:
        self._answers[reply.status] += 1
        headers, body = reply.parts()
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _refused(refusal: RegistryError) -> Reply:
    status, body = problem(refusal, RC4)
    return Reply(status, f"{body['title']} {body['detail']}", _CLOSING)


async def _settle(waiting: Sequence[_Waiting], failure: RawLogError | None) -> None:
    for one in waiting:
        if not one.done():
            one.set_result(failure)


def _message(scope: Scope, start: str, body: bytes) -> http.HttpMessage:
    """The request as a message, without credentials; ValueError where it is none."""
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    path, query = split(start, target) or ("/", ())
    query = tuple(pair for pair in query if pair[0].lower() not in _SECRET_PARAMETERS)
    named = ((name.decode("latin-1"), _text(value)) for name, value in scope["headers"])
    headers = tuple(pair for pair in named if pair[0].lower() not in _SECRET_HEADERS)
    typed = any(name == "content-type" for name, _ in headers)
    # HTTP tells no body from an empty one, unless a type says that there is one.
    content = body if body or typed else None
    return http.HttpMessage(
        method=scope["method"], path=path, query=query, headers=headers, body=content
    )


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _handshake(scope: Scope) -> Reply:
    """The permission of CloudEvents webhooks: every origin may send, at any rate."""
    asked = any(name == b"webhook-request-origin" for name, _ in scope["headers"])
    granted = ((b"webhook-allowed-origin", b"*"), (b"webhook-allowed-rate", b"*"))
    return Reply(200, headers=(_ALLOW, *(granted if asked else ())))
