"""Addresses of endpoints: taken apart, with placeholders filled and without credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from heraldry.errors import TemplateError, TransportError
from heraldry.messages.template import Template
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint

_TLS = frozenset(("https", "amqps", "mqtts", "ssl", "wss", "tls"))
_USER_PART = re.compile(r"(?:[^/?#]*://)?[^/?#]*@")
_ESCAPED = frozenset(("http", "https"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is; ``path`` is without its leading slash and may be empty.

    It is percent-decoded, save that of HTTP, where an escaped slash is no slash.
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def tls(self) -> bool:
        """Whether the scheme asks for TLS."""
        return self.scheme in _TLS

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (f"/{self.path}" if self.path else "")


def addresses(connection: Connection, ports: Mapping[str, int]) -> tuple[Address, ...]:
    """The addresses of an endpoint in order of preference; ``ports`` are the schemes' defaults.

    TransportError where there is none, where the scheme is none of ``ports``, and where the
    catalog holds a user or password: credentials are never read from there.
    """
    own = connection.endpoint
    given = (connection.address,) if connection.address else own.addresses
    if not given:
        told = "the endpoint has no address"
        raise TransportError(str(own.xid), told, "name one: --address URL, or address=")
    return tuple(_address(connection, text, ports) for text in given)


def filled(connection: Connection, text: str) -> str:
    """An option with its placeholders replaced by the connection's values, as they are (R93)."""
    if "{" not in text:
        return text
    try:
        return Template.parse(text, None).expand(connection.values, raw=True)
    except TemplateError as error:
        raise TransportError(str(connection.endpoint.xid), str(error), "give it a value") from None


def placeholders(endpoint: Endpoint) -> frozenset[str]:
    """The names that an endpoint's addresses and options leave open."""
    names: set[str] = set()
    rest: list[Any] = [*endpoint.addresses, *endpoint.options.values()]
    while rest:
        match rest.pop():
            case str() as text if "{" in text:
                with suppress(TemplateError):
                    names.update(Template.parse(text, None).placeholders)
            case Mapping() as inner:
                rest += inner.values()
            case list() as inner:
                rest += inner
    return frozenset(names)


def _address(connection: Connection, given: str, ports: Mapping[str, int]) -> Address:
    xid = str(connection.endpoint.xid)
    _refuse_credentials(xid, given)  # before an error about a placeholder could show them
    text = filled(connection, given)
    _refuse_credentials(xid, text)
    scheme, found, rest = text.partition("://")
    # Taken off by hand: Kafka's SASL_SSL is no scheme of a URL.
    scheme = scheme.lower() if found else next(iter(ports))
    try:
        parts = urlsplit(f"//{rest if found else text}")
        port = parts.port
    except ValueError:
        raise TransportError(xid, "an address is not a URL", "write scheme://host:port") from None
    if scheme not in ports or not parts.hostname:
        shown = text.partition("?")[0]  # a query may hold what nobody is to see
        told = f"{shown!r} is not an address of this protocol"
        raise TransportError(xid, told, ", ".join(ports))
    path = parts.path.removeprefix("/")
    return Address(
        scheme=scheme,
        host=parts.hostname,
        port=port or ports[scheme],
        path=(path if scheme in _ESCAPED else unquote(path))
        + (f"?{parts.query}" if parts.query else ""),
    )


def _refuse_credentials(xid: str, text: str) -> None:
    """Refuse an address with a user part, without showing it."""
    if _USER_PART.match(text):
        told = "an address holds a user or password, which are never read from a catalog"
        raise TransportError(xid, told, "set HERALDRY_USERNAME and HERALDRY_PASSWORD instead")
