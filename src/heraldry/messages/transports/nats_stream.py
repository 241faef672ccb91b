"""JetStream: the messages of a stream, pulled as fast as they are dealt with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass

import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from heraldry.errors import TransportError
from heraldry.messages.transports.nats_client import PatientClient

_ACK = "$JS.ACK."
_PULL_SECONDS = 5.0
_MOST_PULLED = 256
_KEPT_SECONDS = 300.0
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is read: ``stream`` None is the one that has the subject, ``subject`` None all of it.

    ``durable`` is the name under which the server remembers what is acknowledged.
    """

    endpoint: str
    stream: str | None
    durable: str | None
    subject: str | None


class Puller:
    """A pull consumer of a stream; made again, after the last message, where the server forgot."""

    def __init__(self, client: PatientClient, jetstream: JetStreamContext, wanted: Wanted) -> None:
        self._client, self._jetstream, self._wanted = client, jetstream, wanted
        self._stream, self._name = wanted.stream or "", ""
        self._last = 0

    async def bind(self) -> None:
        """Find the stream and the consumer; a durable one is made where there is none."""
        own = self._wanted
        if not self._stream:
            if own.subject is None:
                raise TransportError(own.endpoint, "no stream is named", "set the option stream")
            self._stream = await self._stream_of(own.subject)
        if own.durable is not None:
            with suppress(NotFoundError):
                found = await self._jetstream.consumer_info(self._stream, own.durable)
                self._check(found.config)
                self._name = own.durable
                return
        made = await self._jetstream.add_consumer(self._stream, self._config())
        self._name = made.name

    async def messages(self) -> AsyncGenerator[Msg]:
        """The messages; what was pulled and not given out goes back at once."""
        inbox = self._client.new_inbox()
        waiting = await self._client.subscribe(inbox, pending_bytes_limit=0)
        now = asyncio.get_running_loop().time
        size = left = 1
        started = now()
        await self._pull(inbox, size)
        try:
            while True:
                message = await self._next(waiting)
                if message is None:
                    left = 0
                else:
                    self._last = message.metadata.sequence.stream
                    left -= 1
                    yield message
                if left <= 0:
                    # A batch must be dealt with long before the server sends it again (30 s).
                    quick = now() - started < _PULL_SECONDS
                    size = min(2 * size, _MOST_PULLED) if quick or message is None else 1
                    left, started = size, now()
                    await self._pull(inbox, size)
        finally:
            with suppress(nats.errors.Error):
                await _give_back(waiting)

    async def _pull(self, inbox: str, size: int) -> None:
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        request = {"batch": size, "expires": int(_PULL_SECONDS * _NANOSECONDS)}
        await self._client.publish(subject, json.dumps(request).encode(), reply=inbox)

    async def _next(self, waiting: Subscription) -> Msg | None:
        """A message, or None where the request is over."""
        try:
            message = await waiting.next_msg(timeout=_PULL_SECONDS + 1)
        except nats.errors.TimeoutError:
            return None
        if message.reply.startswith(_ACK):
            return message
        status = (message.headers or {}).get("Status", "")
        if status in ("409", "503"):
            # The consumer is gone, or JetStream is not up yet.
            await asyncio.sleep(1)
            with suppress(nats.errors.Error):
                await self.bind()
        return None

    async def _stream_of(self, subject: str) -> str:
        try:
            return await self._jetstream.find_stream_name_by_subject(subject)
        except NotFoundError:
            told = f"no stream of JetStream has the subject {subject!r}"
            raise TransportError(self._wanted.endpoint, told, "make one: nats stream add") from None

    def _check(self, config: ConsumerConfig | None) -> None:
        if config is None:
            return
        own = self._wanted
        if config.deliver_subject:
            told = f"the consumer {own.durable!r} is not one that can be pulled from"
            raise TransportError(own.endpoint, told, "name another one")
        if config.filter_subject and config.filter_subject != own.subject:
            told = f"the consumer {own.durable!r} reads {config.filter_subject!r}"
            advice = f"name another one, or make subjectfilter the same; it is {own.subject!r}"
            raise TransportError(own.endpoint, told, advice)

    def _config(self) -> ConsumerConfig:
        own = self._wanted
        fresh = own.durable is not None or not self._last
        return ConsumerConfig(
            name=own.durable,
            durable_name=own.durable,
            filter_subject=own.subject,
            ack_policy=AckPolicy.EXPLICIT,
            deliver_policy=DeliverPolicy.ALL if fresh else DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=None if fresh else self._last + 1,
            inactive_threshold=None if own.durable else _KEPT_SECONDS,
        )


async def _give_back(waiting: Subscription) -> None:
    while waiting.pending_msgs:
        message = await waiting.next_msg(timeout=1)
        if message.reply.startswith(_ACK):
            await message.nak()
    await waiting.unsubscribe()
