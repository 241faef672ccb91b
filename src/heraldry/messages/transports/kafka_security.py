"""What an endpoint of Kafka says of security, for every client: schemes, ports, protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.errors import TransportError
from heraldry.messages.transports.address import Address, addresses
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection

SECURITY = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PORTS = dict.fromkeys(("kafka", *(name.lower() for name in SECURITY)), 9092)

Security = tuple[str, str]
"""The protocol, and the SASL mechanism or nothing."""


def servers(connection: Connection) -> dict[Security, list[str]]:
    """The addresses with the same security, each as clients write it, in their order.

    The security is ``security.protocol`` of the address, else its scheme (R84), else PLAINTEXT;
    an address that replaces those of the catalog may name another by its scheme.
    """
    known = addresses(connection, PORTS)
    details = connection.endpoint.details or ({},)
    if connection.address:
        details = details[:1]
    grouped: dict[Security, list[str]] = {}
    for address, detail in zip(known, details, strict=True):
        grouped.setdefault(_security(connection, address, detail), []).append(server(address))
    return grouped


def server(address: Address) -> str:
    """An address as clients write it."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def user(connection: Connection, credentials: Credentials) -> tuple[str, str]:
    """The user and the password; TransportError where one is missing."""
    if credentials.username is None or credentials.password is None:
        told = "the broker wants a user and a password"
        advice = "set HERALDRY_USERNAME and HERALDRY_PASSWORD"
        raise TransportError(str(connection.endpoint.xid), told, advice)
    return credentials.username, credentials.password


def _security(connection: Connection, address: Address, detail: Mapping[str, Any]) -> Security:
    named = address.scheme.upper()
    stated = detail.get("security.protocol")
    if (connection.address or not stated) and named in SECURITY:
        protocol = named
    else:
        protocol = str(stated or "PLAINTEXT").upper()
    if protocol not in SECURITY:
        told = f"the security.protocol {protocol!r} is unknown"
        raise TransportError(str(connection.endpoint.xid), told, f"use {', '.join(SECURITY)}")
    return protocol, str(detail.get("sasl.mechanism") or "").upper()
