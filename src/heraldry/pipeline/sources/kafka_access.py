"""How the Java client of Kafka reaches an endpoint: servers, TLS, users, under its own names.

The options of an endpoint mean the same as in ``messages.transports.kafka``. Credentials come
from the environment; they stand in the options of the reader and nowhere else.
"""

from __future__ import annotations

import socket
from pathlib import Path

from heraldry.errors import TransportError
from heraldry.messages.transports.kafka_security import servers, user
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection

_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def client_options(connection: Connection) -> dict[str, str]:
    """The settings of the Java client; TransportError where the endpoint is not to be reached.

    Servers with another security than the first one are left out: a client knows only one.
    """
    (protocol, mechanism), group = next(iter(servers(connection).items()))
    found = {"bootstrap.servers": ",".join(group), "security.protocol": protocol}
    credentials = connection.secrets(connection.endpoint)
    if protocol.endswith("SSL"):
        found |= _tls(connection, credentials)
    if protocol.startswith("SASL"):
        found |= _sasl(connection, credentials, mechanism or "PLAIN")
    return found


def reach(connection: Connection, listed: str) -> None:
    """See that one of some servers takes connections; TransportError within ten seconds."""
    places = listed.split(",")
    reasons = []
    for place in places:
        host, _, port = place.rpartition(":")
        try:
            seconds = CONNECT_SECONDS / len(places)
            socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
        except OSError as error:
            reasons.append(f"{place}: {error.strerror or 'no answer'}")
        else:
            return
    raise TransportError(str(connection.endpoint.xid), "; ".join(reasons), "is the broker running?")


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
    name, password = map(_quoted, user(connection, credentials))
    login = f"{_MODULES[mechanism]} required username={name} password={password};"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}


def _quoted(text: str) -> str:
    """A text as the login configuration of Java has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
