"""An access log: one line for each request, written when its reply is complete."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TextIO
from urllib.parse import unquote_plus

from heraldry.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SECRET: Final = re.compile(
    "token|key|secret|passw|pwd|sig|auth|credential|session|jwt|code", re.IGNORECASE
)


class AccessLog:
    """An application whose requests are written to a stream.

    A line has the time, the client's address, method, path with query, status, bytes of the body
    and milliseconds; ``-`` stands for a status that was never sent.
    """

    def __init__(self, app: ASGIApp, stream: TextIO) -> None:
        self._app, self._stream = app, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        status: Any = "-"
        size = 0

        async def counted(message: Any) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            seconds = perf_counter() - started
            self._write(f"{_request(scope)} {status} {size} {seconds * 1000:.1f}")

    def _write(self, entry: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with suppress(OSError):  # a full disk must not stop the server
            self._stream.write(f"{now} {entry}\n")
            self._stream.flush()


@contextmanager
def open_access_log(app: ASGIApp, target: str | None) -> Iterator[ASGIApp]:
    """The application with an access log: in a file, or on standard error where it is ``-``."""
    if target is None:
        yield app
    elif target == "-":
        yield AccessLog(app, sys.stderr)
    else:
        try:
            stream = Path(target).open("a", encoding="utf-8")  # noqa: SIM115 - closed below
        except OSError as error:
            raise UsageError(f"{target} cannot be written", error.strerror or "") from None
        with stream:
            yield AccessLog(app, stream)


def _request(scope: Scope) -> str:
    client = scope.get("client")
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + mask_query(scope["query_string"].decode("latin-1"))
    return f"{client[0] if client else '-'} {_escaped(scope['method'])} {_escaped(target)}"


def mask_query(query: str) -> str:
    """A query without the values of parameters whose names sound like a secret."""
    parts = []
    for part in re.split("([&;])", query):
        name, equals, _ = part.partition("=")
        parts.append(f"{name}=***" if equals and _SECRET.search(unquote_plus(name)) else part)
    return "".join(parts)


def _escaped(text: str) -> str:
    """Text in which nothing can begin a line, end a field, or steer a terminal."""
    return "".join(
        character if "!" <= character <= "~" and character != "\\" else f"\\x{ord(character):02x}"
        for character in text
    )
