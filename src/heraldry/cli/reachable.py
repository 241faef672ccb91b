"""Who reaches a server: the hosts and origins that options name, and a word where all do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from heraldry.cli.output import progress
from heraldry.errors import UsageError

if TYPE_CHECKING:
    import socket

_ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9._\-\[\]:]+")
_HOST = re.compile(
    r"\*|[A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*"
)


def check_origins(origins: Iterable[str]) -> None:
    """What is no origin would never be one of a page."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            reason = f"--allow-origin {origin!r} is no origin"
            raise UsageError(reason, "write it as https://HOST or https://HOST:PORT, or as *")


def checked_hosts(names: Iterable[str]) -> tuple[str, ...]:
    """Host names as requests are compared with them; a port would never be compared."""
    names = tuple(names)
    for name in names:
        if not _HOST.fullmatch(name):
            reason = f"--allow-host {name!r} is no host"
            raise UsageError(reason, "write it as HOST, without scheme and port, or as *")
    return tuple(map(_normal, names))


def _normal(name: str) -> str:
    return name.strip("[]").removesuffix(".").lower()


def is_open(listening: socket.socket) -> bool:
    """Whether other machines may reach a socket."""
    from heraldry.server.gate import is_local

    return not is_local(listening.getsockname()[0])


def reached_by(
    listening: socket.socket, hosts: tuple[str, ...], *own: str
) -> tuple[str, ...] | None:
    """The hosts that requests may name, ``own`` ones included; ``None``: whatever they like."""
    if is_open(listening) and not hosts:
        return None
    return (*hosts, *map(_normal, own))


def warn_open(listening: socket.socket, may: str, advice: str) -> None:
    """Say who may do what where a server listens for other machines."""
    if is_open(listening):
        host, port, *_ = listening.getsockname()
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        progress(f"warning: anybody who reaches {address} may {may}; {advice}")
