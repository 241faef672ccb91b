"""uvicorn as a sink: an ASGI application that keeps what it is sent, in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from tests.live.servers.server import free_port


@dataclass(kw_only=True)
class Sink:
    """What came, and what to answer; ``answers`` maps paths to a status and a body."""

    address: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """The application."""
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        self.requests.append({**scope, "body": body})
        status, told = self.answers.get(scope["path"], (202, b""))
        headers = [(b"content-length", str(len(told)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": told})


@contextmanager
def sink(**settings: Any) -> Iterator[Sink]:
    """A running sink; ``settings`` are uvicorn's, such as the files of a certificate."""
    port = free_port()
    scheme = "https" if "ssl_certfile" in settings else "http"
    found = Sink(address=f"{scheme}://127.0.0.1:{port}")
    config = uvicorn.Config(
        found, "127.0.0.1", port, log_level="error", lifespan="off", http="h11", **settings
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield found
    finally:
        server.should_exit = True
        thread.join()
