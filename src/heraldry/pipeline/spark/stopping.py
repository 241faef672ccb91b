"""Stopping a job by a signal: before its query runs, and while it does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_SECONDS = 30.0

_NOT_OURS = (None, signal.SIG_IGN)
"""What stands for a handler that is not Python's, and for a signal that is ignored."""


@contextmanager
def end_on_term() -> Iterator[None]:
    """SIGTERM raises SystemExit, as SIGINT raises KeyboardInterrupt: what is open is closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def hold_signals(
    heard: Callable[[FrameType | None], object] = lambda frame: None,
) -> Iterator[threading.Event]:
    """SIGTERM and SIGINT wait until the end; ``heard`` is told at once. Ignored, they stay so.

    An exception amid a word to Java would leave it half said, and py4j would tell of it at length.
    The handlers of before are there again afterwards, not that of PySpark, which does just that.
    """
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        noted.set()
        # Whoever insists is not kept waiting.
        signal.signal(number, insisting[number])
        heard(frame)

    found = ((number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT))
    before: dict[int, Any] = {one: handler for one, handler in found if handler not in _NOT_OURS}
    insisting = before | {signal.SIGINT: signal.default_int_handler}
    for number in before:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def stop_on_signal(query: StreamingQuery) -> Iterator[threading.Event]:
    """SIGTERM and SIGINT end a stream; a batch cut short is tried again by the next run."""
    told = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield told
        return

    stopping: list[threading.Thread] = []

    def stop(*_: object) -> None:
        told.set()
        # Whoever insists is not kept waiting.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Every thread talks to Spark by a connection of its own, and ours awaits an answer.
        stopping.append(threading.Thread(target=query.stop, daemon=True))
        stopping[-1].start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield told
    finally:
        for thread in stopping:  # Spark may still be talking of it
            thread.join(timeout=_SECONDS)
        for number, handler in before.items():
            signal.signal(number, handler)
