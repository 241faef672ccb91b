"""Kafka: records published and consumed through confluent-kafka.

What the options of an endpoint do:

- ``endpoints``: all addresses with the same security are one list of bootstrap servers;
  ``security.protocol`` and ``sasl.mechanism`` (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 with a user
  and password, OAUTHBEARER with a token) are followed.
- ``topic`` (R85): of records that name none, and what is read. Of a consumer's topic a
  placeholder without a value stands for anything.
- ``acks`` (R86), ``key`` (R87), ``headers``: for producers; the record's own win.
- ``partition`` (R88): the one to write to where a record names none, and the only one to read.
- ``consumergroup`` (R89), ``autooffsetreset`` (``latest`` unless given), ``enableautocommit``:
  for consumers, see :class:`KafkaConsumer`.
- ``keyserializer``, ``valueserializer`` have no effect: definitions say what the bytes are.

Topics are never created here; a broker may do so when something is published.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from heraldry.errors import TransportError
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.transports.address import filled
from heraldry.messages.transports.kafka_client import MAX_PARTITION, reach, refusal, topic_path
from heraldry.messages.transports.kafka_consumer import KafkaConsumer
from heraldry.messages.transports.options import text, whole
from heraldry.messages.transports.transport import Connection, Delivery, Transport

PUBLISH_SECONDS = 30.0
"""How long a record may wait for its confirmation; a broker may restart meanwhile."""
IN_FLIGHT = 1000
"""How many records may wait for their confirmation at once."""
MESSAGE_BYTES = 64 << 20
"""The largest record sent at all; what a topic takes is for its broker to say."""

_TOPIC_SECONDS = 5.0
_LEAVING_SECONDS = 1.0


def connect(connection: Connection) -> Transport:
    """The transport of a Kafka endpoint."""
    return (KafkaProducer if connection.usage == "producer" else KafkaConsumer)(connection)


class KafkaProducer:
    """Publishes records; each is confirmed by its delivery report.

    With ``acks`` -1 no retry doubles a record; with 0 no broker confirms, and none can refuse.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        acks = whole(connection, "acks", -1, 1)
        self._acks = 1 if acks is None else acks
        self._partition = whole(connection, "partition", 0, MAX_PARTITION)
        self._headers = _headers(connection)
        self._stop = threading.Event()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(IN_FLIGHT)
        self._client, _ = await reach(self._connection, self._create)
        self._thread = threading.Thread(target=self._drive, name="heraldry-kafka", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        seconds = PUBLISH_SECONDS if kind is None else _LEAVING_SECONDS
        await asyncio.to_thread(self._close, seconds)

    async def publish(self, raw: KafkaRecord, values: Mapping[str, str] | None = None) -> None:
        """Send a record; returns with its delivery report."""
        record = self._completed(raw, values or {})
        async with self._room:
            report: asyncio.Future[KafkaError | None] = self._loop.create_future()
            while not self._sent(record, report):
                await asyncio.sleep(0.05)
            error = await report
        if error is not None:
            raise self._refusal(error, record)

    async def consume(self) -> AsyncGenerator[Delivery]:
        """Not here."""
        told = "opened to publish, not to consume"
        raise TransportError(str(self._connection.endpoint.xid), told)
        yield

    def _create(self, given: dict[str, Any]) -> Producer:
        return Producer(
            {
                **given,
                "acks": self._acks,
                "enable.idempotence": self._acks == -1,
                "linger.ms": 0,  # records that wait for each other would only lose time
                "message.max.bytes": MESSAGE_BYTES,
                "message.timeout.ms": int(PUBLISH_SECONDS * 1000),
                "topic.metadata.propagation.max.ms": int(_TOPIC_SECONDS * 1000),
            }
        )

    def _drive(self) -> None:
        """Serve delivery reports, in a thread of their own."""
        while not self._stop.is_set():
            self._client.poll(0.1)

    def _close(self, seconds: float) -> None:
        self._client.flush(seconds)
        self._client.purge()
        self._client.flush(_LEAVING_SECONDS)
        self._stop.set()
        self._thread.join()

    def _sent(self, record: KafkaRecord, report: asyncio.Future[KafkaError | None]) -> bool:
        """Whether the client took a record; it has no room where the bytes in flight are many."""
        try:
            self._client.produce(
                record.topic or "",
                value=record.value,
                key=record.key,
                partition=-1 if record.partition is None else record.partition,
                headers=list(record.headers),
                on_delivery=partial(self._reported, report),
            )
        except BufferError:
            return False
        except KafkaException as error:
            raise self._refusal(error.args[0], record) from None
        return True

    def _reported(
        self, report: asyncio.Future[KafkaError | None], error: KafkaError | None, _message: Message
    ) -> None:
        self._loop.call_soon_threadsafe(_settle, report, error)

    def _refusal(self, error: KafkaError, record: KafkaRecord) -> TransportError:
        where = record.topic if record.partition is None else f"{record.topic}/{record.partition}"
        return refusal(self._connection, error, f"a record for {where}")

    def _completed(self, raw: KafkaRecord, values: Mapping[str, str]) -> KafkaRecord:
        """The record, with the endpoint's options where it leaves something open."""
        own = replace(self._connection, values={**self._connection.values, **values})
        topic, key, partition = raw.topic, raw.key, raw.partition
        if topic is None:
            given = text(own, "topic")
            topic = filled(own, given) if given else topic_path(own)
        if not topic:
            told = "neither the message nor the endpoint names a topic"
            raise TransportError(str(own.endpoint.xid), told, "add the option topic")
        if key is None and (fixed := text(own, "key")):
            key = filled(own, fixed).encode()
        names = {name for name, _ in raw.headers}
        added = ((n, filled(own, one).encode()) for n, one in self._headers if n not in names)
        return replace(
            raw,
            topic=topic,
            key=key,
            partition=self._partition if partition is None else partition,
            headers=(*raw.headers, *added),
        )


def _settle(report: asyncio.Future[KafkaError | None], error: KafkaError | None) -> None:
    if not report.done():  # whoever waited may have been cancelled
        report.set_result(error)


def _headers(connection: Connection) -> list[tuple[str, str]]:
    given = connection.endpoint.option("headers", {})
    if isinstance(given, Mapping) and all(isinstance(one, str) for one in given.values()):
        return list(given.items())
    told = "the option headers is not a map of texts"
    raise TransportError(str(connection.endpoint.xid), told, 'write {"name": "value"}')
