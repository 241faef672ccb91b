"""A server at work: listens at an address until it is told to stop."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from heraldry.errors import UsageError
from heraldry.registry.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from heraldry.server.connection_counts import ConnectionCounts

_BACKLOG = 2048
_SWITCH = 0.001
"""Seconds that the event loop waits for a thread that computes before this must let it go on."""
_NOT_HTTP = "Invalid HTTP request received."
_FILES = 65_536
_OTHER_FILES = 200
"""So many open files are not connections: those of databases, above all."""


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


def _files() -> int:
    """How many files may be open, after more were asked for."""
    try:
        import resource
    except ImportError:  # no such limit here
        return _FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _FILES if soft == resource.RLIM_INFINITY else soft


def run(
    app: ASGIApp,
    listening: socket.socket,
    *,
    limits: Limits | None = None,
    counts: ConnectionCounts | None = None,
    idle: int = 75,
) -> None:
    """Answer requests until SIGINT or SIGTERM; those under way are finished first."""
    stopping = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    try:
        _run(app, listening, limits or Limits(), counts, idle)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stopping)


def _run(
    app: ASGIApp,
    listening: socket.socket,
    limits: Limits,
    counts: ConnectionCounts | None,
    idle: int,
) -> None:
    import uvicorn

    from heraldry.server.connection import bounded
    from heraldry.server.connection_counts import ConnectionCounts
    from heraldry.server.stopping import StoppingServer

    sys.setswitchinterval(_SWITCH)
    gc.freeze()
    limits = replace(limits, connections=min(limits.connections, _files() - _OTHER_FILES))
    config = uvicorn.Config(
        app,
        http=bounded(limits, counts or ConnectionCounts()),
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="on",
        proxy_headers=False,  # whoever stands before the server sets --base-url
        server_header=False,
        timeout_keep_alive=idle,
        timeout_graceful_shutdown=10,
    )
    # One line for each would fill the disk of who keeps them: connections count them instead.
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != _NOT_HTTP)
    StoppingServer(config).run(sockets=[listening])
