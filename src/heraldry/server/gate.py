"""Which requests are let in: those for a host of ours, and writes that no foreign page sends.

A browser sends what any page tells it to send, also to a server that only its own machine reaches.
A page of another origin is recognised by the headers that browsers add and pages cannot change; a
page whose own host name was pointed at this server (DNS rebinding) by the name in ``Host``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

from heraldry.errors import RegistryError
from heraldry.server.incoming import Incoming
from heraldry.server.origins import ANY, Origins

_LOCAL: Final = "localhost"
_TRUSTED_SITES: Final = (None, "same-origin", "none")
"""What ``Sec-Fetch-Site`` says of a page of ours, and of what the user typed; ``None``: absent."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Refuses requests before anything is looked up for them."""

    origins: Origins
    hosts: tuple[str, ...] | None = None
    """Names besides those of this machine, ``*`` for any; ``None``: they are not checked."""
    own_origin: str = ""
    """That of the address which clients see, where a proxy stands in front."""

    @classmethod
    def of(cls, origins: Origins, hosts: tuple[str, ...] | None, base_url: str = "") -> Self:
        """The gate of a server; the host of the address that clients see is one of its own."""
        address = urlsplit(base_url)
        if hosts is not None and address.hostname:
            hosts = (*hosts, address.hostname)
        own_origin = f"{address.scheme}://{address.netloc}".lower() if address.netloc else ""
        return cls(origins, hosts, own_origin)

    def refusal(self, incoming: Incoming) -> RegistryError | None:
        """Why a request is not let in; ``None``: it is."""
        host = host_name(incoming.host)
        if not self._is_ours(host):
            detail = (
                "Web pages must not reach this server by a name of their own. If it is a name of"
                f" the server, start it with --allow-host {host}."
            )
            return RegistryError("foreign_host", incoming.subject, {"host": host}, detail)
        if _may_change(incoming) and not self._may_write(incoming):
            origin = incoming.header(b"origin") or "an unknown origin"
            detail = (
                "A web page of another origin may write only where the server was started with"
                " --allow-origin for it."
            )
            return RegistryError("foreign_page", incoming.subject, {"origin": origin}, detail)
        return None

    def _is_ours(self, host: str) -> bool:
        hosts = self.hosts
        return hosts is None or not host or is_local(host) or host in hosts or ANY in hosts

    def _may_write(self, incoming: Incoming) -> bool:
        origin = incoming.header(b"origin")
        if self.origins.allows(origin):
            return True
        trusted = incoming.header(b"sec-fetch-site") in _TRUSTED_SITES
        return trusted and (origin is None or origin.lower() in self._same_origins(incoming))

    def _same_origins(self, incoming: Incoming) -> tuple[str, ...]:
        """The origins of our own pages; a proxy that speaks TLS may have passed the host on."""
        host = incoming.host.decode("latin-1").lower()
        return f"{incoming.scheme}://{host}", f"https://{host}", self.own_origin


def check_media_type(incoming: Incoming) -> None:
    """Refuse JSON that a page sends as another type: for such a request no browser asks first."""
    if not _from_browser(incoming):
        return
    media_type = (incoming.header(b"content-type") or "").partition(";")[0].strip().lower()
    if media_type not in ("application/json", "text/json") and not media_type.endswith("+json"):
        detail = "Send it with Content-Type: application/json."
        arguments = {"type": media_type or "without a type"}
        raise RegistryError("page_media_type", incoming.subject, arguments, detail)


@lru_cache(256)
def host_name(host: bytes) -> str:
    """The name in a ``Host`` header: in lower case, without port, brackets and last dot."""
    text = host.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    name, colon, port = text.rpartition(":")
    return (name if colon and port.isdigit() else text).removesuffix(".")


@lru_cache(256)
def is_local(name: str) -> bool:
    """Whether a host name or address always stands for the machine that asks."""
    if name == _LOCAL or name.endswith(f".{_LOCAL}"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _from_browser(incoming: Incoming) -> bool:
    return any(name in (b"origin", b"sec-fetch-site") for name, _ in incoming.headers)


def _may_change(incoming: Incoming) -> bool:
    """Whether it writes, or asks for the permission that a webhook's sender needs for writing."""
    return not incoming.reads or incoming.header(b"webhook-request-origin") is not None
