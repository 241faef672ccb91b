"""Ctrl-C is itself: a shell ignores it for what runs in its background, and so would the tests."""

from __future__ import annotations

import signal
import threading


def pytest_configure() -> None:
    """Take it, in this process and so in those that it starts."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
