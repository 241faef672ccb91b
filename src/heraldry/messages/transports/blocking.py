"""Producing and consuming without asyncio: the same, on an event loop in a thread of its own.

with catalog.endpoint("shop-kafka").blocking_producer() as producer:
    producer.publish("shop.order.placed", order, shop="lisbon", order="4711")
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping
from concurrent.futures import Future, wait
from contextlib import closing, suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from heraldry.errors import UsageError
from heraldry.messages.handlers import Handled
from heraldry.messages.transports.consumer import Consumer, Received, Settle
from heraldry.messages.transports.producer import Producer

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage

T = TypeVar("T")
Open = TypeVar("Open", bound=Producer | Consumer)


class _Loop:
    """An event loop that runs in a thread until it is closed."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end; an interrupt here cancels it there, and waits until it has ended."""
        ended: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def start() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(partial(_tell, ended))

        with self._lock:  # what is started after the end would never be told of it
            if self._closed:
                raise _not_open(work)
            self._loop.call_soon_threadsafe(start)
        try:
            return ended.result()
        except BaseException:
            if not ended.done():
                self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
                wait((ended,))
            raise

    def close(self) -> None:
        """End the loop, all that still runs there, and its thread."""
        with self._lock:
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        with self._runner:  # cancels and closes what is left
            self._loop.run_forever()


def _tell(ended: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        ended.set_exception(UsageError("the connection was closed before this was done"))
    elif (error := task.exception()) is not None:
        ended.set_exception(error)
    else:
        ended.set_result(task.result())


def _not_open(work: Coroutine[Any, Any, Any]) -> UsageError:
    work.close()
    return UsageError("the connection is not open", "use it in its `with`")


class _Blocking(Generic[Open]):
    """Opens and closes what is asynchronous, from a thread that is not."""

    def __init__(self, opened: Open) -> None:
        self._open = opened
        self._loop: _Loop | None = None

    def __enter__(self) -> Self:
        self._loop = loop = _Loop()
        try:
            loop.run(self._open.__aenter__())
        except BaseException:
            loop.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._run(self._open.__aexit__(kind, error, trace))
        finally:
            if self._loop is not None:
                self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            raise _not_open(work)
        return self._loop.run(work)


class BlockingProducer(_Blocking[Producer]):
    """As :class:`Producer`; may be used by several threads at once."""

    def publish(self, xid: object, data: Any = None, **context: Any) -> BuiltMessage:
        """As :meth:`Producer.publish`; returns when the server has the message."""
        return self._run(self._open.publish(xid, data, **context))

    def send(self, message: BuiltMessage, values: Mapping[str, Any] | None = None) -> None:
        """As :meth:`Producer.send`."""
        self._run(self._open.send(message, values))


class BlockingConsumer(_Blocking[Consumer]):
    """As :class:`Consumer`; iterate over it, and settle each message with :meth:`ack`."""

    def __iter__(self) -> Generator[Received]:
        messages = self._open.__aiter__()
        try:
            while True:
                received = self._run(_next(messages))
                if received is None:
                    return
                yield received
        finally:
            with suppress(UsageError):  # the end of the loop has closed them
                self._run(_end(messages))

    def run(self) -> None:
        """As :meth:`Consumer.run`; the handlers are called in this thread, none asynchronous."""
        handlers = self._open.handlers
        with closing(iter(self)) as messages:
            for received in messages:
                outcome = handlers.dispatch(received.given, received.result)
                (self.ack if isinstance(outcome, Handled) else self.reject)(received)

    def ack(self, received: Received) -> None:
        """As ``received.ack()``."""
        self._run(_settle(received.ack))

    def reject(self, received: Received) -> None:
        """As ``received.reject()``."""
        self._run(_settle(received.reject))


async def _next(messages: AsyncGenerator[Received]) -> Received | None:
    return await anext(messages, None)


async def _end(messages: AsyncGenerator[Received]) -> None:
    await messages.aclose()


async def _settle(work: Settle) -> None:
    await work()
