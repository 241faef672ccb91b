"""Intake: messages from a transport into a raw log, acknowledged once they are durable there.

with RawLogWriter("log") as log, Intake(connection, log) as intake:
    ...                      # runs in a thread of its own; intake.taken, intake.failure
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from heraldry.errors import HeraldryError, RawLogError
from heraldry.messages.group_commit import GroupCommit
from heraldry.messages.raw_line import raw_lines
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.messages.transports.transport import Connection, Delivery, Transport
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.formats import protocol_family

OnEvent = Callable[[str], None]

_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_LOOK_EVERY = 1000
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLimits:
    """``unread``: with so many messages in the log that nobody has read, the source waits."""

    unread: int | None = 5_000_000


class Intake:
    """Takes messages in until it is stopped, over one connection after the other.

    A connection that cannot be made at the start is an error; one that is lost is made again for
    ever. Where the log cannot be written, nothing is acknowledged: what came from a broker is held
    and written as soon as it can be, senders over HTTP are told to come again.
    ``failure`` says what is wrong just now. ``on_event`` is called from the intake's thread.
    """

    def __init__(
        self,
        connection: Connection,
        log: RawLogWriter,
        *,
        limits: IntakeLimits | None = None,
        on_event: OnEvent = lambda text: None,
    ) -> None:
        self.failure: Exception | None = None
        self.taken = 0
        """How many messages came, whether or not they are durable yet."""
        self._connection, self._log = connection, log
        self._limits = limits or IntakeLimits()
        self._on_event = on_event
        self._reading = RawLog(log.folder)
        self._last = time.monotonic()
        self._first: float | None = None
        self._is_full = False
        self._rated = (self._last, 0)
        self._answers = protocol_family(connection.endpoint.protocol)[0] == "HTTP"
        self._unwritten: str | None = None
        self._patience = _PAUSE
        self._opened = threading.Event()
        self._refused: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="heraldry-intake", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; returns when the source is connected, and raises where it cannot be."""
        self._thread.start()
        self._opened.wait()
        if self._refused is not None:
            self._thread.join()
            raise self._refused

    def stop(self) -> None:
        """Write and acknowledge what has come, then let go of the source."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def rate(self) -> float:
        """Messages per second since this was last asked."""
        (since, before), now = self._rated, time.monotonic()
        self._rated = (now, self.taken)
        return (self.taken - before) / max(now - since, 1e-9)

    def wait_until_idle(
        self, seconds: float, longest: float = math.inf, tell: OnEvent = lambda text: None
    ) -> str | None:
        """Wait until nothing has come for so long: None, or why that was not waited for.

        Others publish for ever: ``longest`` seconds after the first message it is enough, and so
        it is with too much unread in the log. Raises what keeps messages from coming. ``tell``
        hears once a second how far it is.
        """
        told = time.monotonic()
        while (rest := self._last + seconds - (now := time.monotonic())) > 0:
            if self.failure is not None:
                raise self.failure
            if self._is_full:
                return self._full()
            since = 0.0 if self._first is None else now - self._first
            if since >= longest:
                return f"messages come without a pause of {seconds:g} s for {longest:g} s"
            if now - told >= 1.0 and since:
                told = now
                tell(f"{since:.0f}/{longest:.0f} s, {self.taken:,} messages taken in")
            time.sleep(min(rest, 0.1))
        return None

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            try:
                runner.run(self._run())
            except BaseException as error:  # noqa: BLE001 - told to the one who started us
                self._refused = error
            finally:
                self._opened.set()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        pause = _PAUSE
        while not self._stopping.is_set():
            before = self.taken
            try:
                await self._session()
            except Exception as error:
                if not self._opened.is_set():
                    raise
                self.failure = error
                if _told(error) != self._unwritten:
                    self._on_event(f"intake: {_told(error)}")
                pause = _PAUSE if self.taken > before else min(pause * 2, _LONGEST_PAUSE)
                await self._wait(pause)

    async def _session(self) -> None:
        """One connection, until it is lost or we are to stop."""
        async with open_transport(self._connection) as transport:
            self._connected()
            commit: GroupCommit[Delivery] = GroupCommit(self._log, self._settle, self._again)
            taking = asyncio.create_task(self._take(transport, commit))
            writing = asyncio.create_task(commit.run())
            stopping = asyncio.create_task(self._stopping.wait())
            try:
                await asyncio.wait((taking, writing, stopping), return_when=asyncio.FIRST_COMPLETED)
            finally:
                taking.cancel()
                stopping.cancel()
                commit.end()
                ended = await asyncio.gather(taking, writing, return_exceptions=True)
            for one in ended:
                if isinstance(one, Exception):
                    raise one

    async def _take(self, transport: Transport, commit: GroupCommit[Delivery]) -> None:
        async with aclosing(transport.consume()) as deliveries:
            async for delivery in deliveries:
                lines = raw_lines(delivery.raw)
                commit.add(lines, delivery)
                self._last = time.monotonic()
                self._first = self._first or self._last
                self.taken += 1
                if commit.is_full:
                    await commit.room()
                if self.taken % _LOOK_EVERY == 0:
                    await self._readers()

    def _again(self, failure: RawLogError) -> float | None:
        """When to write what is held once more; None where its senders wait for an answer.

        A broker that had to send it again would count that, and drop it in the end.
        """
        if self._answers:
            return None
        self.failure = failure
        if _told(failure) != self._unwritten:
            self._unwritten = _told(failure)
            self._on_event(f"intake: {self._unwritten}")
        pause, self._patience = self._patience, min(self._patience * 2, _LONGEST_PAUSE)
        return pause

    async def _settle(self, deliveries: Sequence[Delivery], failure: RawLogError | None) -> None:
        """Acknowledge what is durable; else break off, so that the source sends it again."""
        self.failure = failure
        if failure is not None:
            raise failure
        if self._unwritten is not None:
            self._unwritten, self._patience = None, _PAUSE
            self._on_event("intake: the log can be written again")
        for delivery in deliveries:
            await delivery.ack()

    async def _readers(self) -> None:
        """Wait while too much in the log is unread."""
        most = self._limits.unread
        if most is None or self._reading.unread() < most:
            return
        self._on_event(f"intake: waits, {self._full()}")
        self._is_full = True
        try:
            while self._reading.unread() >= most:
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._is_full = False
        self._on_event("intake: goes on")

    def _full(self) -> str:
        """What is too much, and for whom it is kept: he may be gone for good."""
        told = f"{self._limits.unread:,} messages in the log are unread"
        slowest = self._reading.slowest()
        return told if slowest is None else f"{told} by {slowest}"

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    def _connected(self) -> None:
        self._last = time.monotonic()
        if self._opened.is_set():
            self._on_event("intake: connected again")
        if not isinstance(self.failure, RawLogError):
            self.failure = None
        self._opened.set()


def _told(error: Exception) -> str:
    known = isinstance(error, HeraldryError)
    return str(error) if known else f"{type(error).__name__}: {error}"
