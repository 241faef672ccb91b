"""Ranges of a JetStream stream: what is kept of it, read by sequence, as often as one likes.

The stream is not changed: consumers made here acknowledge nothing and vanish by themselves.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import nats.errors
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RetentionPolicy, StreamConfig
from nats.js.errors import APIError, NotFoundError

from heraldry.errors import DeniedError, TransportError
from heraldry.messages.message import Pairs
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.transports.nats import NatsTransport
from heraldry.messages.transports.nats_client import PatientClient
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection

Result = TypeVar("Result")

AGAIN_SECONDS = 60.0
"""How long a server that was there may be away before reading fails."""

_ACK, _NAMES = "$JS.ACK.", "$JS.API.STREAM.NAMES"
_INFO, _GET = "$JS.API.STREAM.INFO", "$JS.API.STREAM.MSG.GET"
_DELETE = "$js.api.consumer.delete."
_NO_MESSAGE = 10037
_NAME = re.compile(r"[^\s.*>/\\]+").fullmatch
_PULLED, _PULLED_BYTES = 2000, 64 * 2**20
_KEPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState:
    """The first and the last sequence of a stream; an empty one begins behind its end.

    ``thins`` names the setting by which the stream may drop messages from between those two.
    When it was made, and when its first and last message were stored, by the server's clock, are
    texts that sort; empty where that is not told.
    """

    stream: str
    first: int
    last: int
    thins: str | None = None
    created: str = ""
    oldest: str = ""
    newest: str = ""

    @property
    def seen(self) -> str:
        """The latest time at which it was this stream, as far as this tells."""
        return max(self.created, self.newest)

    def is_anew(self, seen: str) -> bool:
        """Whether it says that it was made after a stream of its name was seen, and all it has.

        That it was made later is not enough: some servers tell so after a restart or an update, and
        a mirror that is made anew holds what it held. Nor is it where nothing is left of what was
        seen: the same stream may have dropped that. One that is empty has nothing to tell.
        """
        return bool(seen) and self.oldest >= self.created > seen


@dataclass(frozen=True, slots=True)
class Stored:
    """A message of a stream with its place, and the microsecond it was stored at."""

    sequence: int
    stored: int
    message: NatsMessage


async def stream_state(connection: Connection, stream: str | None, subject: str) -> StreamState:
    """What a stream holds; without a name the one that has the subject. TransportError."""
    async with RangeReader(connection) as reader:
        return await reader.state(stream or await reader.stream_of(subject))


async def readable_stream(connection: Connection, stream: str | None, subject: str) -> StreamState:
    """As :func:`stream_state`, once it is seen that the user may ask all that a batch needs."""
    async with RangeReader(connection) as reader:
        state = await reader.state(stream or await reader.stream_of(subject))
        await reader.check_asking(state)
        return state


async def patiently(
    ask: Callable[[], Coroutine[Any, Any, Result]], seconds: float = AGAIN_SECONDS
) -> Result:
    """Ask again while the server is away, but not for ever; not where it denies the right to."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await ask()
        except DeniedError:
            raise
        except TransportError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(1)


class Frame(NamedTuple):
    """A message as it stands on the wire."""

    subject: str
    reply: str
    data: bytes
    headers: bytes

    def message(self) -> NatsMessage:
        """The message; a stored one has lost its reply, and a payload of no bytes is none."""
        pairs = _pairs(self.headers) if self.headers else ()
        return NatsMessage(subject=self.subject, headers=pairs, payload=self.data or None)


class BulkClient(PatientClient):
    """A client that hands over what comes to one inbox in bulk: nats-py takes long for each."""

    def __init__(self) -> None:
        super().__init__()
        self._inbox = 0
        self._frames: list[Frame] = []
        self._arrived = asyncio.Event()

    async def listen(self, inbox: str) -> None:
        """From now on, what comes to an inbox is for :meth:`received`."""
        self._inbox = (await self.subscribe(inbox))._id

    async def received(self) -> list[Frame]:
        """What has come; TimeoutError where nothing does, OSError where nothing can."""
        if not self._frames:
            self._arrived.clear()
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._arrived.wait()
        if not self._frames:
            raise ConnectionResetError("the connection is lost")
        frames, self._frames = self._frames, []
        return frames

    def forget(self) -> None:
        """The connection is lost: who waits is told so."""
        super().forget()
        self._arrived.set()

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes
    ) -> None:
        if sid != self._inbox:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        place = (subject.decode(errors="replace"), reply.decode())
        self._frames.append(Frame(*place, bytes(data), bytes(headers or b"")))
        self._arrived.set()


class RangeReader(NatsTransport):
    """A connection that reads ranges of streams."""

    def __init__(self, connection: Connection) -> None:
        assert connection.usage == "producer", "a consumer would subscribe"
        super().__init__(connection)
        self._client = self._bulk = BulkClient()

    async def stream_of(self, subject: str) -> str:
        """The name of the one stream that has a subject, or some of what a filter asks for."""
        asked = json.dumps({"subject": subject}).encode()
        try:
            found = await self._client.request(_NAMES, asked, timeout=CONNECT_SECONDS)
        except (nats.errors.Error, OSError) as error:
            raise self._refusal(error, _NAMES) from None
        reply = json.loads(found.data)
        if "error" in reply:
            told = f"the streams are not told: {reply['error'].get('description')}"
            raise self._error(told, "is JetStream on?")
        names = reply.get("streams") or ()
        if not names:
            told = f"no stream of JetStream has the subject {subject!r}"
            raise self._error(told, "make one: nats stream add")
        if len(names) > 1:
            told = f"several streams have the subject {subject!r}: {', '.join(sorted(names))}"
            raise self._error(told, "name one: option stream, or nats://HOST/SUBJECT?stream=NAME")
        return str(names[0])

    async def state(self, stream: str) -> StreamState:
        """What a stream holds now."""
        missing = self._error(f"there is no stream {stream!r}", "make one: nats stream add")
        if not _NAME(stream):
            raise missing
        try:
            # Not by nats-py's own method: that leaves the times out.
            info = await self._asked(f"{_INFO}.{stream}", {})
        except NotFoundError:
            raise missing from None
        except (nats.errors.Error, OSError) as error:
            raise self._refusal(error) from None
        state = info["state"]
        return StreamState(
            stream=stream,
            first=state["first_seq"],
            last=state["last_seq"],
            thins=_thins(StreamConfig.from_response(info["config"])),
            created=_time(info.get("created")),
            oldest=_time(state.get("first_ts")) if state["messages"] else "",
            newest=_time(state.get("last_ts")),
        )

    async def check_asking(self, state: StreamState) -> None:
        """TransportError where the user may not ask what a batch asks that finds too little."""
        try:
            with suppress(APIError):  # which is an answer
                await self._check_behind(state.stream, None, state.last + 1, state.last)
        except (nats.errors.Error, OSError) as error:
            raise self._refusal(error) from None

    async def read(
        self, stream: str, subject: str | None, begin: int, end: int
    ) -> AsyncGenerator[list[Stored]]:
        """The messages from one sequence up to another, both included; what is gone is no error.

        TransportError where the server that was read from does not have all of them yet.
        """
        config = ConsumerConfig(
            ack_policy=AckPolicy.NONE,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(1, begin),
            filter_subject=subject,
            inactive_threshold=_KEPT_SECONDS,
            mem_storage=True,
            num_replicas=1,
        )
        try:
            jetstream = self._client.jetstream(timeout=CONNECT_SECONDS)
            made = await jetstream.add_consumer(stream, config)
            read = begin - 1
            try:
                if made.num_pending:
                    async for some in self._pulled(f"{stream}.{made.name}", end):
                        read = some[-1].sequence if some else read
                        yield [one for one in some if one.sequence <= end]
            finally:
                with suppress(nats.errors.Error):
                    await jetstream.delete_consumer(stream, made.name)
            if read < end:
                await self._check_behind(stream, subject, read + 1, end)
        except (nats.errors.Error, OSError) as error:
            raise self._refusal(error) from None

    async def _pulled(self, consumer: str, end: int) -> AsyncGenerator[list[Stored]]:
        """Pull until the end is reached or one message passed, or the stream has no more.

        A pull that gives nothing, though there was more, is an error: it was dropped meanwhile, and
        who asks anew is told what there is.
        """
        inbox = self._client.new_inbox()
        await self._bulk.listen(inbox)
        request = {"batch": _PULLED, "max_bytes": _PULLED_BYTES, "no_wait": True}
        while True:
            asked = json.dumps(request).encode()
            await self._client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{consumer}", asked, inbox)
            left, vain = _PULLED, True
            while left > 0:
                frames = await self._bulk.received()
                left -= len(frames)
                found: list[Stored] = []
                for frame in frames:
                    if not frame.reply.startswith(_ACK):
                        self._over(frame, vain=vain)
                        left = 0
                        continue
                    vain = False
                    sequence, stored, pending = _place(frame.reply)
                    found.append(Stored(sequence, stored, frame.message()))
                    if sequence >= end or not pending:
                        yield found
                        return
                yield found

    async def _check_behind(self, stream: str, subject: str | None, begin: int, end: int) -> None:
        """TransportError where the stream's leader knows a message of a range.

        A consumer reads the replica that it was put on, which may lag behind the leader; what ends
        there is not the end of the stream.
        """
        asked = {"seq": max(1, begin), "next_by_subj": subject or ">"}
        try:
            reply = await self._asked(f"{_GET}.{stream}", asked)
        except NotFoundError as error:
            if error.err_code == _NO_MESSAGE:
                return
            raise
        sequence = reply["message"]["seq"]
        if sequence <= end:
            told = f"{stream} has message {sequence}, but the replica that was read has not"
            raise self._error(told, "does it lag behind its leader?")

    async def _asked(self, subject: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of the server's interface; APIError where it refuses."""
        asked = json.dumps(request).encode()
        try:
            found = await self._client.request(subject, asked, timeout=CONNECT_SECONDS)
        except (TimeoutError, nats.errors.NoRespondersError) as error:
            raise self._refusal(error, subject) from None
        reply: dict[str, Any] = json.loads(found.data)
        if "error" in reply:
            raise APIError.from_error(reply["error"])
        return reply

    def _over(self, frame: Frame, *, vain: bool) -> None:
        """A status: the request is over, or the consumer is; ``vain`` where it gave nothing."""
        status = frame.headers.partition(b"\r\n")[0].decode(errors="replace")
        _, _, told = status.partition(" ")
        if vain or told[:3] not in ("404", "408", "409") or "deleted" in told.lower():
            raise self._error(f"the stream cannot be read: {told or 'no answer'}")

    def _refusal(self, error: BaseException, asked: str = "") -> TransportError:
        """What an error means; a server that denies a right says so, but gives no answer."""
        if isinstance(error, TimeoutError) and (denied := self._denied(asked)) is not None:
            told = f"the stream cannot be read: {denied}"
            return DeniedError(self._xid, told, "give the user the right to do so")
        if isinstance(error, nats.errors.NoRespondersError) and asked:
            told = f"the stream cannot be read: nobody answers {asked}"
            return self._error(told, "is JetStream on, and may the user's account ask this?")
        reason = error.description if isinstance(error, APIError) else str(error)
        told = f"the stream cannot be read: {reason or type(error).__name__}"
        return self._error(told, "is the server running, and JetStream on?")

    def _denied(self, asked: str) -> str | None:
        """What the server said of a right; nats-py has made all of it small letters."""
        told = self._refused.get(asked.lower())
        if told is not None:
            return told.replace(asked.lower(), asked)
        return next((one for one in self._refused.values() if _DELETE not in one), None)


def _thins(config: StreamConfig) -> str | None:
    """The setting of a stream that drops other messages than the oldest; they are not missed."""
    if config.retention not in (None, RetentionPolicy.LIMITS):
        return f"retention {config.retention}"
    if config.max_msgs_per_subject > 0 and not config.discard_new_per_subject:
        return f"max_msgs_per_subject {config.max_msgs_per_subject}"
    for name in ("allow_msg_ttl", "allow_rollup_hdrs"):
        if getattr(config, name):
            return name
    return None


def _time(told: str | None) -> str:
    """A time of the server, which has nanoseconds, as text that sorts."""
    if not told:
        return ""
    return datetime.fromisoformat(told).astimezone(UTC).isoformat(timespec="microseconds")


def _place(reply: str) -> tuple[int, int, int]:
    """Sequence, microsecond and how many are left, from the subject of an acknowledgement."""
    tokens = reply.split(".")
    # $JS.ACK.[domain.account.]stream.consumer.delivered.sequence.number.time.pending
    at = 5 if len(tokens) == 9 else 7
    return int(tokens[at]), int(tokens[at + 2]) // 1000, int(tokens[at + 3])


def _pairs(headers: bytes) -> Pairs:
    lines = (line.partition(":") for line in headers.decode(errors="replace").split("\r\n")[1:])
    return tuple((name.strip(), value.strip()) for name, colon, value in lines if colon)
