"""Calls of the application without a network, as a server would make them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.registry import Registry
from heraldry.server.app import create_app
from heraldry.server.settings import ServerSettings

MODEL = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "resources": {
                "files": {"singular": "file"},
                "notes": {"singular": "note", "hasdocument": False},
            },
        }
    }
}


@dataclass(frozen=True)
class Response:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        values = self.all(name)
        return values[0] if values else None

    def all(self, name: str) -> list[str]:
        return [value for one, value in self.headers if one == name.lower()]

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def error(self) -> str:
        return str(self.json["type"]).rpartition("#")[2]


class Calls:
    """A registry behind its application."""

    def __init__(self, settings: ServerSettings | None = None, **opening: Any) -> None:
        self.registry = Registry.open("sqlite::memory:", **{"model": MODEL, **opening})
        self.app = create_app(self.registry, settings or ServerSettings(wire=RC4))

    def __call__(
        self,
        method: str,
        target: str,
        body: bytes | str = b"",
        headers: Mapping[str, str] | None = None,
        *,
        scheme: str = "http",
        leaves: bool = False,
    ) -> Response:
        """One request; ``leaves``: its client goes away as soon as the reply begins."""
        return asyncio.run(self._call(method, target, body, headers or {}, scheme, leaves))

    async def _call(
        self,
        method: str,
        target: str,
        body: bytes | str,
        headers: Mapping[str, str],
        scheme: str,
        leaves: bool,
    ) -> Response:
        content = body.encode() if isinstance(body, str) else body
        pieces = [content[start : start + 1000] for start in range(0, len(content), 1000)] or [b""]
        path, _, query = target.partition("?")
        given = {"Host": "localhost:8080", **headers}
        scope = {
            "type": "http",
            "method": method,
            "scheme": scheme,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in given.items()
            ],
        }
        sent: list[Any] = []
        began = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not pieces:
                await (began if leaves else asyncio.Event()).wait()
                return {"type": "http.disconnect"}
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            sent.append(message)
            began.set()

        await self.app(scope, receive, send)
        start, *bodies = sent
        return Response(
            start["status"],
            [(n.decode().lower(), v.decode("latin-1")) for n, v in start["headers"]],
            b"".join(one["body"] for one in bodies),
        )

    def put(self, target: str, value: Any, **headers: str) -> Response:
        return self("PUT", target, msgspec.json.encode(value), headers)

    def get(self, target: str, **headers: str) -> Response:
        return self("GET", target, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def close(self) -> None:
        self.registry.close()
