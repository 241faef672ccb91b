"""CPU seconds and peak memory of this process and everything it started."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil


@dataclass(slots=True)
class Cost:
    """What a piece of work cost the process tree: JVM and Python together."""

    wall: float = 0.0
    cpu: float = 0.0
    peak_mb: float = 0.0


def _tree() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def cpu_seconds() -> float:
    """User and system time of the tree, ended children included."""
    total = 0.0
    for process in _tree():
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_mb() -> float:
    """Resident memory of the tree; pages shared by forked workers count more than once."""
    total = 0
    for process in _tree():
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure a block."""
    cost = Cost()
    done = threading.Event()

    def sample() -> None:
        while not done.wait(0.2):
            cost.peak_mb = max(cost.peak_mb, memory_mb())

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    cpu, wall = cpu_seconds(), time.monotonic()
    try:
        yield cost
    finally:
        cost.cpu, cost.wall = cpu_seconds() - cpu, time.monotonic() - wall
        done.set()
        sampler.join()
