"""How the Java client of Kafka reaches an endpoint: servers, TLS, users, under its own names.

The options of an endpoint mean the same as in ``messages.transports.kafka``. Credentials come
from the environment; they stand in the options of the reader and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heraldry.errors import TransportError
from heraldry.messages.transports.address import Address, addresses
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection

SECURITY = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PORTS = dict.fromkeys(("kafka", *(name.lower() for name in SECURITY)), 9092)

_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def client_options(connection: Connection) -> dict[str, str]:
    """The settings of the Java client; TransportError where the endpoint is not to be reached.

    Servers with another security than the first one are left out: a client knows only one.
    """
    known = addresses(connection, PORTS)
    details = connection.endpoint.details or ({},)
    access = [_security(connection, *pair) for pair in zip(known, details, strict=True)]
    protocol, mechanism = access[0]
    servers = [server(one) for one, own in zip(known, access, strict=True) if own == access[0]]
    found = {"bootstrap.servers": ",".join(servers), "security.protocol": protocol}
    credentials = connection.secrets(connection.endpoint)
    if protocol.endswith("SSL"):
        found |= _tls(connection, credentials)
    if protocol.startswith("SASL"):
        found |= _sasl(connection, credentials, mechanism)
    return found


def server(address: Address) -> str:
    """An address as the client writes it."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def _security(
    connection: Connection, address: Address, detail: Mapping[str, Any]
) -> tuple[str, str]:
    named = address.scheme.upper()
    given = detail.get("security.protocol") or (named if named in SECURITY else "PLAINTEXT")
    protocol = str(given).upper()
    if protocol not in SECURITY:
        told = f"the security.protocol {protocol!r} is unknown"
        raise TransportError(str(connection.endpoint.xid), told, f"use {', '.join(SECURITY)}")
    return protocol, str(detail.get("sasl.mechanism") or "PLAIN").upper()


def _tls(connection: Connection, credentials: Credentials) -> dict[str, str]:
    """Certificates by their content, so that a worker elsewhere needs no file."""
    given = {
        "ssl.truststore.certificates": credentials.ca_file,
        "ssl.keystore.certificate.chain": credentials.certificate_file,
        "ssl.keystore.key": credentials.key_file,
    }
    found: dict[str, str] = {}
    for name, file in given.items():
        if file is None:
            continue
        try:
            found[name] = Path(file).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            told = f"{file} is not a PEM file that can be read"
            advice = "set HERALDRY_CA_FILE, HERALDRY_CERTIFICATE_FILE and HERALDRY_KEY_FILE"
            raise TransportError(str(connection.endpoint.xid), told, advice) from None
        found[f"{name[: name.index('store')]}store.type"] = "PEM"
    return found


def _sasl(connection: Connection, credentials: Credentials, mechanism: str) -> dict[str, str]:
    xid = str(connection.endpoint.xid)
    if mechanism not in _MODULES:
        told = f"Spark's connector is not given the sasl.mechanism {mechanism!r}"
        raise TransportError(xid, told, f"given are {', '.join(_MODULES)}")
    if credentials.username is None or credentials.password is None:
        told = "the broker wants a user and a password"
        raise TransportError(xid, told, "set HERALDRY_USERNAME and HERALDRY_PASSWORD")
    user, password = _quoted(credentials.username), _quoted(credentials.password)
    login = f"{_MODULES[mechanism]} required username={user} password={password};"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}


def _quoted(text: str) -> str:
    """A text as the login configuration of Java has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
