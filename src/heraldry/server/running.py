"""A server at work: listens at an address until it is told to stop."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

from heraldry.errors import UsageError
from heraldry.registry.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_BACKLOG = 2048
_SWITCH = 0.001


def end_on_sigterm() -> None:
    """Let SIGTERM end the process in good order, with 0: to be told to stop is no failure.

    uvicorn finishes what is under way first, and then sends itself the signal once more.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def listen(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to at once; port 0 is a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        # create_server adds the address to the text of the error, which is told already.
        number = error.errno or 0
        told = os.strerror(number) if number > 0 else str(error.strerror)
        raise UsageError(f"cannot listen at {host} port {port}", told) from None


def address(listening: socket.socket) -> str:
    """The address of a socket as a URL."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: ASGIApp, listening: socket.socket, *, limits: Limits | None = None, idle: int = 75
) -> None:
    """Answer requests until SIGINT or SIGTERM; those under way are finished first."""
    stopping = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    try:
        _run(app, listening, limits or Limits(), idle)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stopping)


def _run(app: ASGIApp, listening: socket.socket, limits: Limits, idle: int) -> None:
    import uvicorn

    # The event loop must not wait for long until a thread that computes lets it go on.
    sys.setswitchinterval(_SWITCH)
    from heraldry.server.connection import bounded
    from heraldry.server.stopping import StoppingServer

    config = uvicorn.Config(
        app,
        http=bounded(limits),
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="on",
        proxy_headers=False,  # whoever stands before the server sets --base-url
        server_header=False,
        timeout_keep_alive=idle,
        timeout_graceful_shutdown=10,
    )
    StoppingServer(config).run(sockets=[listening])
