"""CPU seconds and peak memory of this process and everything it started."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

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


def worker_mb() -> float:
    """The memory of the largest Python worker: a process that Spark's daemon has forked."""
    most = 0
    for process in _tree():
        try:
            if any("pyspark.daemon" in part for part in process.cmdline()):
                workers = [child.memory_info().rss for child in process.children()]
                most = max([most, *workers])
        except psutil.NoSuchProcess:
            continue
    return most / 2**20


class WorkerMemory:
    """Samples the largest worker while a block runs."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._most = 0.0
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> WorkerMemory:
        self._sampler.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._sampler.join()

    def peak(self) -> float:
        """The most since the last time this was asked."""
        found, self._most = self._most, 0.0
        return found

    def _sample(self) -> None:
        while not self._done.wait(0.05):
            self._most = max(self._most, worker_mb())
