"""Signals that come before a query runs."""

from __future__ import annotations

import signal
import threading

import pytest

from heraldry.pipeline.spark.stopping import end_on_term


def test_sigterm_ends_in_order() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, end_on_term():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_thread_leaves_signals_alone() -> None:
    found: list[object] = []

    def work() -> None:
        with end_on_term():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]
