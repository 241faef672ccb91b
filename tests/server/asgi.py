"""Calls an ASGI application without a socket: one request, the whole reply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply; header names are in lower case, those that repeat are joined by a comma."""

    status: int
    headers: dict[str, str]
    body: bytes


def call(
    app: Any,
    method: str,
    url: str,
    *,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes = b"",
) -> Answer:
    """Send a request to an application and wait for all of its reply."""
    return asyncio.run(_call(app, method, url, headers, body))


async def _call(
    app: Any, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes
) -> Answer:
    path, _, query = url.partition("?")
    sent: list[dict[str, Any]] = []
    incoming = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not incoming:
            await asyncio.Event().wait()  # the client stays
        return incoming.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope(method, path, query, headers, body), receive, send)
    start = sent[0]
    names: dict[str, str] = {}
    for name, value in start["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        names[key] = f"{names[key]}, {text}" if key in names else text
    return Answer(start["status"], names, b"".join(one.get("body", b"") for one in sent[1:]))


def scope(
    method: str, path: str, query: str, headers: Iterable[tuple[str, str]], body: bytes
) -> dict[str, Any]:
    from urllib.parse import unquote

    given = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    if body:
        given.append((b"content-length", str(len(body)).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"testserver"), *given],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }
