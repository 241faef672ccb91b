"""NATS and JetStream: publish to and consume from a server (R90, R91).

Addresses: ``nats``, ``tls``, and where aiohttp is installed ``ws`` and ``wss``.

| option | effect |
|---|---|
| subject | where a message without one goes; the message's own wins |
| subjectfilter | what a consumer subscribes to; else subject, else ``>``. A token with a placeholder that has no value becomes ``*`` |
| queuegroup | members of a group divide the messages; with JetStream it names the durable consumer |
| jetstream | our own option: true for JetStream, false for NATS alone; without it JetStream where ``stream``, ``durable`` or ``consumer`` is given |
| stream | the stream, which must exist; without it the one that has the subject |
| durable, consumer | two words for the name of the durable consumer, which is made where it does not exist |

NATS alone confirms that the server has a message, and delivers at most once: ``ack`` and
``reject`` do nothing. JetStream keeps a message until ``ack``; ``reject`` ends it (TERM). The
position is then ``stream/sequence``. Without a durable name, a consumer begins with the first
message of the stream. JetStream answers to the reply subject, so messages cannot have their own.
A lost connection is made again, for five minutes.
"""  # noqa: E501

from __future__ import annotations

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

import nats.errors
from nats.aio.msg import Msg
from nats.js.errors import APIError, NoStreamResponseError

from heraldry.errors import TemplateError, TransportError
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.template import Template
from heraldry.messages.transports.address import addresses, filled
from heraldry.messages.transports.nats_client import (
    PatientClient,
    ReceivedHeaders,
    SentHeaders,
    size,
)
from heraldry.messages.transports.nats_stream import Puller, Wanted
from heraldry.messages.transports.options import flag, text
from heraldry.messages.transports.tls import tls_context
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection, Delivery

PORTS = {"nats": 4222, "tls": 4222, "ws": 80, "wss": 443}
_AGAIN_SECONDS = 300
_CLOSE_SECONDS = 2
_ABANDON_SECONDS = 0.2
_DURABLE = re.compile(r"[^\s.*>/\\]+").fullmatch
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+").fullmatch
_SUBJECT = re.compile(r"[^\s.*>\0]+(\.[^\s.*>\0]+)*").fullmatch
_REFUSED = re.compile(r'permissions violation for \w+ to "([^"]*)"').search


def connect(connection: Connection) -> NatsTransport:
    """The transport of a NATS endpoint, not yet connected."""
    return NatsTransport(connection)


class NatsTransport:
    """A connection that nats-py keeps up."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._xid = str(connection.endpoint.xid)
        self._addresses = addresses(connection, PORTS)
        self._subject = text(connection, "subject")
        self._stream = self._option("stream")
        self._group = self._option("queuegroup")
        durable = self._option("durable") or self._option("consumer")
        told = flag(connection, "jetstream")
        self._jetstream = bool(self._stream or durable) if told is None else told
        self._durable = durable or self._group
        if self._jetstream and self._durable and not _DURABLE(self._durable):
            wrong = f"{self._durable!r} cannot name a consumer of JetStream"
            raise self._error(wrong, r"leave out spaces and . * > / \, or set durable")
        self._filter = self._subscription() if connection.usage == "consumer" else ""
        self._client = PatientClient()
        self._said: deque[str] = deque(maxlen=16)
        self._refused: dict[str, str] = {}
        self._back = asyncio.Event()
        self._connecting = True
        self._waiting: set[asyncio.Task[None]] = set()
        self._puller: Puller | None = None

    async def __aenter__(self) -> Self:
        await self._connect()
        if self._connection.usage == "consumer":
            try:
                await self._subscribe()
            except BaseException:
                await self._client.close()
                raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client.is_connected:
            # So that acknowledgements are not lost.
            with suppress(nats.errors.Error):
                await self._client.flush(_CLOSE_SECONDS)
        await self._client.close()

    async def publish(self, raw: NatsMessage, values: Mapping[str, str] | None = None) -> None:
        """Send one message; returns when the server, or the stream, has it."""
        subject = raw.subject or self._own_subject(values)
        self._check(subject, raw)
        payload = raw.payload or b""
        headers = SentHeaders(raw.headers) if raw.headers else None
        await self._connected()
        if self._jetstream:
            sending = self._to_stream(subject, payload, headers)
        else:
            sending = self._to_server(subject, payload, raw.reply_to, headers)
        told = f"nothing published to {subject!r}"
        try:
            await self._unless_lost(sending)
        except (nats.errors.Error, OSError) as error:
            raise self._error(f"{told}: {self._reason(error)}") from None
        finally:
            refused = self._refused.pop(subject.lower(), None)
        if refused is not None:
            raise self._error(f"{told}: {refused}", "check the rights of the user")

    async def consume(self) -> AsyncGenerator[Delivery]:
        """The messages of the subscription, as they come."""
        try:
            if self._puller is None:
                while True:
                    yield Delivery(raw=_raw(await self._client.take()))
            pulled = self._puller.messages()
            try:
                async for message in pulled:
                    yield _delivery(message)
            finally:
                await pulled.aclose()
        except nats.errors.Error as error:
            raise self._error(f"the connection is closed: {self._reason(error)}") from None

    async def _connect(self) -> None:
        secret = self._connection.secrets(self._connection.endpoint)
        secure = any(one.tls for one in self._addresses)
        secure = secure or bool(secret.ca_file or secret.certificate_file)
        places = ", ".join(map(str, self._addresses))
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._client.connect(
                    [str(replace(one, path="")) for one in self._addresses],
                    name=f"heraldry {self._xid}",
                    error_cb=self._on_error,
                    disconnected_cb=self._on_disconnected,
                    reconnected_cb=self._on_reconnected,
                    dont_randomize=True,
                    # While it connects, each server gets two tries; afterwards see below.
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=int(CONNECT_SECONDS / len(self._addresses)) or 1,
                    user=secret.username,
                    password=secret.password,
                    token=secret.token,
                    tls=tls_context(self._connection, secret) if secure else None,
                )
        except (nats.errors.Error, OSError) as error:
            await self._abandon()
            told = f"{places}: {self._reason(error)}"
            advice = "is the server running?"
            if self._client.wants_credentials:
                advice = "set HERALDRY_USERNAME and HERALDRY_PASSWORD, or HERALDRY_TOKEN"
            raise self._error(told, advice) from None
        except BaseException:
            await self._abandon()
            raise
        self._connecting = False
        self._client.options["max_reconnect_attempts"] = _AGAIN_SECONDS
        self._client.options["reconnect_time_wait"] = 1

    async def _abandon(self) -> None:
        # After a failed TLS handshake the streams of Python wait for an end that does not come.
        with suppress(TimeoutError):
            async with asyncio.timeout(_ABANDON_SECONDS):
                await self._client.close()

    async def _subscribe(self) -> None:
        try:
            if self._jetstream:
                wanted = Wanted(
                    endpoint=self._xid,
                    stream=self._stream,
                    durable=self._durable,
                    subject=None if self._filter == ">" else self._filter,
                )
                jetstream = self._client.jetstream(timeout=CONNECT_SECONDS)
                self._puller = Puller(self._client, jetstream, wanted)
                await self._puller.bind()
            else:
                await self._client.consume(self._filter, self._group or "")
                await self._client.flush(int(CONNECT_SECONDS))
        except (nats.errors.Error, OSError) as error:
            told = f"no subscription to {self._filter!r}: {self._reason(error)}"
            advice = "is JetStream on, and does the stream exist?" if self._jetstream else ""
            raise self._error(told, advice) from None
        if self._refused:
            told = f"no subscription to {self._filter!r}: {self._said[-1]}"
            raise self._error(told, "check the rights of the user")

    async def _to_server(
        self, subject: str, payload: bytes, reply: str | None, headers: SentHeaders | None
    ) -> None:
        await self._client.publish(subject, payload, reply or "", headers)
        await self._client.flush(int(CONNECT_SECONDS))

    async def _to_stream(self, subject: str, payload: bytes, headers: SentHeaders | None) -> None:
        try:
            await self._client.jetstream().publish(
                subject, payload, timeout=CONNECT_SECONDS, stream=self._stream, headers=headers
            )
        except NoStreamResponseError:
            told = f"no stream of JetStream has the subject {subject!r}"
            raise self._error(told, "make one: nats stream add") from None

    async def _unless_lost(self, sending: Coroutine[Any, Any, None]) -> None:
        """Wait for an answer, but not longer than the connection lasts that it would come by."""
        waiting = asyncio.create_task(sending)
        self._waiting.add(waiting)
        try:
            await asyncio.wait((waiting,))
        finally:
            self._waiting.discard(waiting)
            waiting.cancel()
        if waiting.cancelled():
            raise ConnectionResetError("the connection is lost")
        waiting.result()

    async def _connected(self) -> None:
        """Wait until a lost connection is there again."""
        if self._client.is_connected:
            return
        self._back.clear()
        if self._client.is_reconnecting:
            with suppress(TimeoutError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._back.wait()
        if not self._client.is_connected:
            raise self._error("the connection is lost", "is the server running?")

    def _check(self, subject: str, raw: NatsMessage) -> None:
        """Refuse what nats-py would change without a word, or the server would choke on."""
        if not _SUBJECT(subject) or (raw.reply_to and not _SUBJECT(raw.reply_to)):
            told = f"{subject!r} or the reply-to {raw.reply_to!r} is not a subject"
            raise self._error(told, "tokens with . between them, without spaces, * and >")
        if self._jetstream and raw.reply_to:
            told = "a message with a reply-to cannot go to JetStream, which needs the reply itself"
            raise self._error(told, "set jetstream to false, or take out reply-to")
        for name, value in raw.headers:
            if not _HEADER_NAME(name) or value != value.strip() or {"\r", "\n"} & set(value):
                told = f"NATS cannot carry the header {name!r}"
                advice = "no spaces or : in its name, no line breaks and outer spaces in its value"
                raise self._error(told, advice)
        whole, most = len(raw.payload or b"") + size(raw.headers), self._client.max_payload
        if whole > most:
            told = f"nothing published to {subject!r}: it has {whole:,} bytes"
            raise self._error(told, f"the server takes {most:,}; see its max_payload")

    def _own_subject(self, values: Mapping[str, str] | None) -> str:
        if not self._subject:
            told = "neither the message nor the endpoint names a subject"
            raise self._error(told, "set the subject of the message, or the option subject")
        merged = {**self._connection.values, **(values or {})}
        return filled(replace(self._connection, values=merged), self._subject)

    def _subscription(self) -> str:
        """The subject filter; a token whose placeholder has no value may be anything."""
        given = text(self._connection, "subjectfilter") or self._subject or ">"
        values = self._connection.values
        try:
            tokens = [Template.parse(token, None) for token in given.split(".")]
        except TemplateError as error:
            raise self._error(str(error), "correct the subjectfilter or subject") from None
        return ".".join(
            token.expand(values, raw=True) if all(map(values.get, token.placeholders)) else "*"
            for token in tokens
        )

    def _option(self, name: str) -> str | None:
        given = text(self._connection, name)
        return filled(self._connection, given) if given else None

    def _reason(self, error: BaseException) -> str:
        """What the server said, where that is more than the error of the client."""
        if isinstance(error, APIError) and error.description:
            return error.description
        if self._said and not isinstance(error, ConnectionResetError):
            return self._said[-1]
        return str(error).removeprefix("nats: ") or type(error).__name__

    def _error(self, reason: str, advice: str = "") -> TransportError:
        return TransportError(self._xid, reason, advice)

    async def _on_error(self, error: Exception) -> None:
        told = str(error).removeprefix("nats: ") or type(error).__name__
        self._said.append(told)
        refused = _REFUSED(told)
        if refused:
            self._refused[refused[1]] = told
        if self._connecting and isinstance(error, ssl.SSLError):
            raise error

    async def _on_disconnected(self) -> None:
        self._client.forget()
        for waiting in self._waiting:
            waiting.cancel()

    async def _on_reconnected(self) -> None:
        self._said.clear()
        self._back.set()


def _delivery(message: Msg) -> Delivery:
    known = message.metadata
    return Delivery(
        raw=_raw(message, stored=True),
        position=f"{known.stream}/{known.sequence.stream}",
        ack=partial(_settle, message.ack),
        reject=partial(_settle, message.term),
    )


async def _settle(settle: Callable[[], Awaitable[None]]) -> None:
    # Settled twice, or on a closed connection: then nothing happens, or it comes again.
    with suppress(nats.errors.Error):
        await settle()


def _raw(message: Msg, *, stored: bool = False) -> NatsMessage:
    """A message as it came; one of JetStream has lost its reply, a payload of no bytes is none."""
    headers = message.headers
    return NatsMessage(
        subject=message.subject,
        reply_to=None if stored else message.reply or None,
        headers=headers.pairs if isinstance(headers, ReceivedHeaders) else (),
        payload=bytes(message.data) or None,
    )
