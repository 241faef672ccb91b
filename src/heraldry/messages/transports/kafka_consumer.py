"""Reading Kafka topics: one thread drives the client, and waits while the program is slow."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    Message,
    TopicPartition,
)

from heraldry.errors import TemplateError, TransportError
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.template import Template
from heraldry.messages.transports.address import filled
from heraldry.messages.transports.kafka_client import MAX_PARTITION, reach, refusal, topic_path
from heraldry.messages.transports.kafka_offsets import Offsets, Progress
from heraldry.messages.transports.options import flag, text, whole
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection, Delivery

WAITING = 100
"""How many records may wait for the program before reading pauses."""
HOLD_SECONDS = 2.0
"""How long records wait before the client is told to fetch no more, and polled nevertheless."""

# How long to poll when nothing is expected, where an ack may come, where its answer must come.
_IDLE_SECONDS, _ACK_SECONDS, _ANSWER_SECONDS = 0.1, 0.005, 0.001
_LEGAL = re.compile(r"[A-Za-z0-9._-]*")
_RESETS = {"earliest": "earliest", "latest": "latest", "none": "error"}
# The client itself goes on after all other errors.
_FINAL = frozenset(
    (
        KafkaError._AUTHENTICATION,
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError._FATAL,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    )
)


class KafkaConsumer:
    """Reads records, at least once each: a group's offset is committed after ``ack``, in order.

    ``ack`` returns when the broker has the offset; with ``enableautocommit`` it only marks the
    record, and the client commits every few seconds. ``reject`` does the same, because Kafka
    cannot refuse a record. Without a ``consumergroup`` all partitions known at the start are
    read, no position is kept, and ``latest`` means: all that comes after connecting.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._group = _group(connection)
        self._partition = whole(connection, "partition", 0, MAX_PARTITION)
        self._reset = _reset(connection)
        self._automatic = bool(flag(connection, "enableautocommit"))
        self._topic = _topic(connection)
        self._stop = threading.Event()
        self._handed = self._taken = self._settled = 0
        self._held, self._polled = False, 0.0

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[_Record | TransportError] = asyncio.Queue()
        self._offsets = Offsets(self._connection, automatic=self._automatic)
        self._client, cluster = await reach(self._connection, self._create)
        self._thread = threading.Thread(target=self._drive, name="heraldry-kafka", daemon=True)
        try:
            await asyncio.to_thread(self._attach, cluster)
        except BaseException:
            self._stop.set()  # the thread then only closes the client
            raise
        finally:
            self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        await asyncio.to_thread(self._thread.join, CONNECT_SECONDS)

    async def publish(self, raw: KafkaRecord, values: Mapping[str, str] | None = None) -> None:
        """Not here."""
        told = "opened to consume, not to publish"
        raise TransportError(str(self._connection.endpoint.xid), told)

    async def consume(self) -> AsyncGenerator[Delivery]:
        """The records, in the order of each partition."""
        while True:
            item = await self._queue.get()
            self._taken += 1
            if isinstance(item, TransportError):
                raise item
            progress, offset, record = item
            if progress.lost:
                continue
            progress.take(offset)
            settle = partial(self._settle, progress, offset)
            position = f"{record.topic}/{record.partition}/{offset}"
            yield Delivery(raw=record, position=position, ack=settle, reject=settle)

    def _create(self, given: dict[str, Any]) -> Consumer:
        return Consumer(
            {
                **given,
                "group.id": self._group or "heraldry",
                "heartbeat.interval.ms": 1000,  # how soon members that come and go are noticed
                "auto.offset.reset": _RESETS[self._reset],
                "enable.auto.commit": self._automatic and self._group is not None,
                "enable.auto.offset.store": False,
                "on_commit": self._offsets.reported,
            }
        )

    def _attach(self, cluster: Any) -> None:
        """Say what to read: the group's share of the topic, or partitions by number."""
        is_open = self._topic.startswith("^")
        names = [
            name
            for name in cluster.topics
            if (re.match(self._topic, name) if is_open else name == self._topic)
        ]
        shared = self._group is not None and self._partition is None
        if not names and not (shared and is_open):  # a group notices topics to come
            told = f"there is no topic {self._topic!r}"
            raise TransportError(str(self._connection.endpoint.xid), told, "create it first")
        if shared:
            lose = self._offsets.lose
            self._client.subscribe([self._topic], on_revoke=lose, on_lost=lose)
            return
        chosen = [
            TopicPartition(name, number, self._start(name, number))
            for name in names
            for number in cluster.topics[name].partitions
            if self._partition in (None, number)
        ]
        if not chosen:
            told = f"the topic has no partition {self._partition}"
            raise TransportError(str(self._connection.endpoint.xid), told)
        self._client.assign(chosen)

    def _start(self, topic: str, partition: int) -> int:
        if self._group is not None:
            return OFFSET_INVALID  # the committed one, else by autooffsetreset
        if self._reset == "none":
            told = "autooffsetreset none needs a position to go on from"
            raise TransportError(str(self._connection.endpoint.xid), told, "add consumergroup")
        if self._reset == "earliest":
            return OFFSET_BEGINNING
        where = TopicPartition(topic, partition)
        return int(self._client.get_watermark_offsets(where, timeout=CONNECT_SECONDS)[1])

    async def _settle(self, progress: Progress, offset: int) -> None:
        self._settled += 1
        if self._group is not None:
            await self._offsets.ack(progress, offset)

    def _drive(self) -> None:
        """Poll without end, also while records wait, so that the group keeps this member."""
        while not self._stop.is_set():
            self._offsets.commit(self._client)
            full = self._handed - self._taken >= WAITING
            self._hand_over(self._hold() if full else self._poll())
        self._client.close()
        self._offsets.close()

    def _poll(self) -> list[Message]:
        """The records at hand; it waits for some, but not long where an ack may come."""
        if self._held:
            self._client.resume(self._client.assignment())
            self._held = False
        self._polled = time.monotonic()
        expecting = self._group is not None and self._taken > self._settled
        first = self._client.poll(_ACK_SECONDS if expecting else _IDLE_SECONDS)
        return [] if first is None else [first, *self._client.consume(WAITING, 0)]

    def _hold(self) -> list[Message]:
        """Hardly any records: those that come with the answer to a commit, or despite a pause."""
        if self._offsets.sending:
            one = self._client.poll(_ANSWER_SECONDS)
        elif time.monotonic() < self._polled + HOLD_SECONDS:
            self._offsets.wait(_ACK_SECONDS)
            return []
        else:  # pausing throws away what the client has fetched: only where it takes long
            self._client.pause(self._client.assignment())
            self._held = True
            one = self._client.poll(0)
        self._polled = time.monotonic()
        return [] if one is None else [one]

    def _hand_over(self, messages: list[Message]) -> None:
        items = [item for item in map(self._item, messages) if item is not None]
        if items:
            self._handed += len(items)
            self._loop.call_soon_threadsafe(self._arrive, items)

    def _item(self, message: Message) -> _Record | TransportError | None:
        error = message.error()
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if error is not None:
            final = error.code() in _FINAL
            return refusal(self._connection, error, topic or "") if final else None
        if topic is None or partition is None or offset is None:
            return None
        headers: Any = message.headers() or ()  # the values of those that were read are bytes
        record = KafkaRecord(
            topic=topic,
            partition=partition,
            key=message.key(),
            headers=tuple(headers),
            value=message.value(),
        )
        return self._offsets.of(topic, partition), offset, record

    def _arrive(self, items: list[_Record | TransportError]) -> None:
        for item in items:
            self._queue.put_nowait(item)


_Record = tuple[Progress, int, KafkaRecord]


def _group(connection: Connection) -> str | None:
    given = text(connection, "consumergroup")
    return filled(connection, given) if given else None


def _reset(connection: Connection) -> str:
    found = text(connection, "autooffsetreset") or "latest"
    if found not in _RESETS:
        told = f"the option autooffsetreset is {found!r}"
        raise TransportError(str(connection.endpoint.xid), told, f"use {', '.join(_RESETS)}")
    return found


def _topic(connection: Connection) -> str:
    """The topic, or a pattern from ``^`` to ``$`` where a placeholder has no value."""
    xid = str(connection.endpoint.xid)
    given = text(connection, "topic") or topic_path(connection)
    if not given:
        raise TransportError(xid, "the endpoint names no topic", "add the option topic")
    try:
        template = Template.parse(given)
    except TemplateError as error:
        raise TransportError(xid, str(error)) from None
    values = [connection.values.get(name) for name in template.placeholders]
    parts: list[str | None] = [template.literals[0]]
    for value, literal in zip(values, template.literals[1:], strict=True):
        parts += (value, literal)
    if not all(part is None or _LEGAL.fullmatch(part) for part in parts):
        told = f"the topic {given!r} holds characters that Kafka does not allow"
        raise TransportError(xid, told, "use letters, digits, '.', '_' and '-'")
    if None not in values:
        return "".join(part or "" for part in parts)
    return "^" + "".join(".+" if part is None else part.replace(".", "[.]") for part in parts) + "$"
