"""Waiting for processes that were killed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import psutil


def wait_until_over(family: Sequence[psutil.Process], seconds: float = 30) -> None:
    """Wait until processes have ended, whether or not anybody has asked how."""
    end = time.monotonic() + seconds
    while any(map(_runs, family)) and time.monotonic() < end:
        time.sleep(0.01)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
