"""Kafka clients as an endpoint sets them up: addresses, security, and what their errors mean."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from heraldry.errors import TransportError
from heraldry.messages.transports.address import addresses
from heraldry.messages.transports.kafka_security import PORTS, servers, user
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection

Client = TypeVar("Client", Producer, Consumer)

MAX_PARTITION = 2**31 - 1
REFUSED_SECONDS = 2.0
"""How long to go on when no address accepts a connection: names may have several addresses."""

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_TOKEN_SECONDS = 300.0
_REFUSED = frozenset((KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE))
_FINAL = frozenset((KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._FATAL))
_MEANINGS = {
    KafkaError._AUTHENTICATION: ("the broker refuses the credentials", "check them"),
    KafkaError.SASL_AUTHENTICATION_FAILED: ("the broker refuses the credentials", "check them"),
    KafkaError._SSL: ("TLS failed", "name the trust root: HERALDRY_CA_FILE"),
    KafkaError._MSG_TIMED_OUT: ("no broker confirmed the message in time", ""),
    KafkaError.UNKNOWN_TOPIC_OR_PART: ("there is no such topic or partition", "create it first"),
    KafkaError._UNKNOWN_TOPIC: ("there is no such topic", "create it first"),
    KafkaError._UNKNOWN_PARTITION: ("there is no such partition", "the topic has fewer"),
    KafkaError.MSG_SIZE_TOO_LARGE: ("too large", "raise max.message.bytes of the topic"),
    KafkaError.TOPIC_AUTHORIZATION_FAILED: ("the broker forbids it", "ask for access to the topic"),
    KafkaError.GROUP_AUTHORIZATION_FAILED: ("the broker forbids it", "ask for access to the group"),
    KafkaError._AUTO_OFFSET_RESET: (
        "the group has no position in the topic",
        "autooffsetreset is none: set one, or let it be earliest or latest",
    ),
}

# Silent unless the program asks for it; clients would otherwise write to stderr.
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())


def settings(connection: Connection) -> list[dict[str, Any]]:
    """The settings of clients, one for all addresses with the same security, in their order."""
    grouped = servers(connection)
    credentials = connection.secrets(connection.endpoint)
    return [
        {
            "bootstrap.servers": ",".join(group),
            "security.protocol": protocol,
            "logger": _log,
            "reconnect.backoff.max.ms": 2000,  # a broker that restarts is found again soon
            **(_tls(credentials) if protocol.endswith("SSL") else {}),
            **(_sasl(connection, credentials, mechanism) if protocol.startswith("SASL") else {}),
        }
        for (protocol, mechanism), group in grouped.items()
    ]


def topic_path(connection: Connection) -> str | None:
    """The topic that an address names: ``kafka://host:port/topic``."""
    return addresses(connection, PORTS)[0].path or None


async def reach(
    connection: Connection, create: Callable[[dict[str, Any]], Client]
) -> tuple[Client, Any]:
    """A client whose broker has answered, and what it told of its topics.

    The groups of addresses are tried in order; TransportError tells why the last one failed.
    """
    given_up = threading.Event()
    failure = TransportError(str(connection.endpoint.xid), "no address")
    for one in settings(connection):
        try:
            return await asyncio.to_thread(_reach, connection, one, create, given_up)
        except TransportError as error:
            failure = error
        except asyncio.CancelledError:
            given_up.set()
            raise
    raise failure


def refusal(connection: Connection, error: KafkaError, about: str = "") -> TransportError:
    """What a Kafka error means, about a topic or a list of servers."""
    reason, advice = _MEANINGS.get(error.code(), (error.str(), ""))
    if error.code() == KafkaError._SSL:
        reason = f"{reason}: {error.str()}"
    return TransportError(
        str(connection.endpoint.xid), f"{about}: {reason}" if about else reason, advice
    )


def _tls(credentials: Credentials) -> dict[str, Any]:
    given = {
        "ssl.ca.location": credentials.ca_file,
        "ssl.certificate.location": credentials.certificate_file,
        "ssl.key.location": credentials.key_file,
    }
    return {name: one for name, one in given.items() if one is not None}


def _sasl(connection: Connection, credentials: Credentials, mechanism: str) -> dict[str, Any]:
    """The mechanism as told, else the one for the credentials at hand."""
    xid = str(connection.endpoint.xid)
    if not mechanism:
        mechanism = "PLAIN" if credentials.username is not None else "OAUTHBEARER"
    if mechanism not in _MECHANISMS:
        told = f"the sasl.mechanism {mechanism!r} is not supported"
        raise TransportError(xid, told, f"supported are {', '.join(_MECHANISMS)}")
    if mechanism == "OAUTHBEARER":
        if credentials.token is None:
            told = "the broker wants a token"
            raise TransportError(xid, told, "set HERALDRY_TOKEN, or HERALDRY_USERNAME and PASSWORD")
        return {"sasl.mechanism": mechanism, "oauth_cb": _token(connection)}
    name, password = user(connection, credentials)
    return {"sasl.mechanism": mechanism, "sasl.username": name, "sasl.password": password}


def _token(connection: Connection) -> Callable[[str], tuple[str, float]]:
    """Gives the token, asked for anew as tokens do not live long."""

    def give(_config: str) -> tuple[str, float]:
        token = connection.secrets(connection.endpoint).token or ""
        return token, time.time() + _TOKEN_SECONDS

    return give


def _reach(
    connection: Connection,
    given: dict[str, Any],
    create: Callable[[dict[str, Any]], Client],
    given_up: threading.Event,
) -> tuple[Client, Any]:
    """Ask for the topics until a broker answers; in a thread, because the client blocks."""
    asked = given["bootstrap.servers"]
    told: list[KafkaError] = []
    try:
        client = create({**given, "error_cb": told.append})
    except KafkaException as error:
        raise refusal(connection, error.args[0], asked) from None
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        client.poll(0)  # serves the callbacks: for a token, and for errors
        try:
            return client, client.list_topics(timeout=0.5)
        except KafkaException as error:
            last: KafkaError = error.args[0]
        final = next((one for one in told if one.code() in _FINAL), None)
        if final is not None:
            raise refusal(connection, final, asked)
        now = time.monotonic()
        if any(one.code() in _REFUSED for one in told):
            end = min(end, now + REFUSED_SECONDS)
            told.clear()
        if now > end or given_up.is_set():
            raise refusal(connection, last, f"no broker answers at {asked}")
