"""Offsets of a Kafka group: committed after the program has acked, in order.

Calls to a consumer wait for each other, so that only the thread that polls may make any. The
program's side (:meth:`Offsets.ack`) runs on the event loop; all else here in that thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from heraldry.errors import TransportError
from heraldry.messages.transports.kafka_client import refusal
from heraldry.messages.transports.transport import Connection

COMMIT_SECONDS = 30.0
"""How long an ``ack`` goes on while no broker takes it."""

_AGAIN_SECONDS = 0.2
# The partition went to another member of the group: what is not committed comes again there.
_LOST = frozenset(
    (
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError._ASSIGNMENT_LOST,
        KafkaError._STATE,
    )
)
_FORBIDDEN = frozenset(
    (KafkaError.GROUP_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED)
)

_Waiter = asyncio.Future[TransportError | None]


class Progress:
    """How far one partition is dealt with; ``lost`` when it went to another member."""

    __slots__ = ("_next", "_open", "again", "committed", "lost", "place", "sent", "waiting")

    def __init__(self, topic: str, partition: int) -> None:
        self.place = (topic, partition)
        self.lost = False
        self._next = -1
        self._open: dict[int, None] = {}
        # Of the polling thread: until when, what is on its way, who waits for which offset.
        self.committed = self.sent = -1
        self.again = 0.0
        self.waiting: deque[tuple[int, float, _Waiter]] = deque()

    def take(self, offset: int) -> None:
        """A record is with the program."""
        self._open[offset] = None
        self._next = offset + 1

    def settle(self, offset: int) -> int | None:
        """The offset before which all is dealt with now; None where this one was no news."""
        if offset not in self._open:
            return None
        first = next(iter(self._open))
        del self._open[offset]
        return next(iter(self._open), self._next) if offset == first else None


class Offsets:
    """What a consumer has read and may commit; ``sending`` counts the commits on their way."""

    def __init__(self, connection: Connection, *, automatic: bool) -> None:
        self._connection = connection
        self._automatic = automatic
        self._loop = asyncio.get_running_loop()
        self._acked: deque[tuple[Progress, int, _Waiter]] = deque()
        self._known: dict[tuple[str, int], Progress] = {}
        self._news = threading.Event()
        self._closed = threading.Event()
        self.sending = 0

    async def ack(self, progress: Progress, offset: int) -> None:
        """Deal with a record; returns when the broker, or with autocommit the client, knows."""
        upto = progress.settle(offset)
        if self._closed.is_set():
            raise self._ended()
        if upto is None or progress.lost:
            return
        waiter: _Waiter = self._loop.create_future()
        self._acked.append((progress, upto, waiter))
        self._news.set()
        error = self._ended() if self._closed.is_set() else await waiter  # closed meanwhile
        if error is not None:
            raise error

    def of(self, topic: str, partition: int) -> Progress:
        """The progress of a partition, as long as it is ours."""
        found = self._known.get((topic, partition))
        if found is None or found.lost:
            found = self._known[topic, partition] = Progress(topic, partition)
        return found

    def wait(self, seconds: float) -> None:
        """Wait for an ack."""
        self._news.wait(seconds)
        self._news.clear()

    def commit(self, client: Consumer) -> None:
        """Send what was acked; one commit is on its way at a time for each partition."""
        now = time.monotonic()
        while self._acked:
            progress, upto, waiter = self._acked.popleft()
            if progress.lost:
                self._tell([waiter], None)
            else:
                progress.waiting.append((upto, now, waiter))
        for progress in self._known.values():
            if progress.waiting and progress.sent < 0 and now >= progress.again:
                self._send(client, progress)

    def reported(self, error: KafkaError | None, places: Iterable[TopicPartition]) -> None:
        """The broker has answered a commit."""
        for place in places:
            self.sending -= 1
            progress = self._known.get((place.topic, place.partition))
            if progress is None or progress.sent < 0:
                continue
            told = place.error or error
            if told is None:
                progress.committed = progress.sent
            progress.sent = -1
            self._answer(progress, told)

    def lose(self, _client: Consumer, places: list[TopicPartition]) -> None:
        """Partitions went to another member; what is not committed comes again there."""
        for place in places:
            progress = self._known.pop((place.topic, place.partition), None)
            if progress is not None:
                progress.lost = True
                self._answer(progress, None)

    def close(self) -> None:
        """Whoever still waits is told that it is too late."""
        self._closed.set()
        waiters = [waiter for _, _, waiter in self._acked]
        for progress in self._known.values():
            waiters += [waiter for _, _, waiter in progress.waiting]
        self._tell(waiters, self._ended())

    def _send(self, client: Consumer, progress: Progress) -> None:
        upto = progress.waiting[-1][0]
        topic, partition = progress.place
        where = [TopicPartition(topic, partition, upto)]
        try:
            if self._automatic:
                client.store_offsets(offsets=where)
                progress.committed = upto
            else:
                client.commit(offsets=where, asynchronous=True)
                progress.sent = upto
                self.sending += 1
                return
        except KafkaException as error:
            self._answer(progress, error.args[0])
        else:
            self._answer(progress, None)

    def _answer(self, progress: Progress, error: KafkaError | None) -> None:
        """Tell those whose offset is committed, lost, or forbidden; the others go on waiting."""
        if error is not None and error.code() in _LOST:
            progress.lost = True
        now = time.monotonic()
        failed = error is not None and error.code() in _FORBIDDEN
        progress.again = now + _AGAIN_SECONDS if error is not None else 0.0
        while progress.waiting:
            upto, since, waiter = progress.waiting[0]
            done = progress.lost or upto <= progress.committed
            if not done and not failed and (error is None or now - since < COMMIT_SECONDS):
                break
            progress.waiting.popleft()
            told = None
            if not done and error is not None:
                told = refusal(self._connection, error, f"the offset of {progress.place[0]}")
            self._tell([waiter], told)

    def _ended(self) -> TransportError:
        return TransportError(str(self._connection.endpoint.xid), "the consumer is closed")

    def _tell(self, waiters: list[_Waiter], error: TransportError | None) -> None:
        def settle() -> None:
            for waiter in waiters:
                if not waiter.done():  # whoever waited may have been cancelled
                    waiter.set_result(error)

        if waiters:
            self._loop.call_soon_threadsafe(settle)
