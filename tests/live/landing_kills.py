"""Exactly once from a server: messages keep arriving while the job is killed again and again.

Every message carries a token. After the last kill each token is found once, in a table or in a
dead letter.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
from deltalake import DeltaTable

import heraldry
from heraldry.messages.message import Message, Mode
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.batches import batches
from heraldry.pipeline.letters import deadletters
from tests.conftest import ROOT
from tests.suites.processes import wait_until_over

MESSAGES = 50_000
SLICES = 8
AGAIN = 47
"""One message in so many comes twice: no multiple of ten, so that every kind is among them."""
START = 240.0
"""A job that has not landed anything after so many seconds has failed."""
TOKEN = re.compile(r"m-[0-9]+")

Feed = Callable[[Sequence[Message]], None]
"""Sends some messages; returns when the server has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A job: where it reads, its folder, and what else it is told."""

    folder: Path
    source: str
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    per_batch: int = 4000
    catalog: Path = ROOT / "examples" / "shop"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def log(self) -> Path:
        return self.folder / "land.log"

    def command(self, *more: str) -> list[str]:
        return [
            *(sys.executable, "-m", "heraldry", "land"),
            *("--catalog", str(self.catalog), "--from", self.source),
            *("--to", str(self.lake), "--master", "local[2]"),
            *(*self.options, *more),
        ]

    @contextmanager
    def streaming(self) -> Iterator[subprocess.Popen[bytes]]:
        """The running job in a process group of its own; whatever is left of it is ended."""
        limit = ("--max-per-batch", str(self.per_batch), "--interval", "0.1")
        with self.log.open("ab") as log:
            job = subprocess.Popen(
                self.command("--stream", *limit),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | dict(self.environment),
            )
        family = [psutil.Process(job.pid)]
        try:
            yield job
        finally:
            if job.poll() is None:
                family += family[0].children(recursive=True)
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            wait_until_over(family)

    def drain(self, seconds: float = 600) -> dict[str, Any]:
        """Land what is left and end: what the job says of it."""
        done = subprocess.run(
            self.command("--format", "json"),
            capture_output=True,
            check=False,
            timeout=seconds,
            env=os.environ | dict(self.environment),
        )
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return report

    def progress(self) -> int:
        """How many batches were ever committed."""
        commits = self.lake / "_checkpoint" / "commits"
        return len(list(commits.glob("[0-9]*"))) if commits.exists() else 0

    def lags(self) -> list[int | None]:
        """What the source held beyond each batch."""
        found: list[int | None] = batches(Storage.open(str(self.lake)))["lag"].to_pylist()
        return found

    def repeated(self) -> int:
        """How many messages all runs together took for ones that had come before."""
        return sum(batches(Storage.open(str(self.lake)))["repeated"].to_pylist())

    def found(self) -> Counter[str]:
        """How often each token stands in a table or a dead letter."""
        seen: Counter[str] = Counter()
        for info in tables(str(self.lake)):
            for row in DeltaTable(info.path).to_pyarrow_table().to_pylist():
                seen.update(set(TOKEN.findall(str(row))))
        for letter in deadletters.letters(str(self.lake)):
            seen.update(set(TOKEN.findall(letter["line"])))
        return seen


def shop_messages(count: int = MESSAGES, first: int = 0) -> list[Message]:
    """Events of examples/shop in both modes, each with a token as its id; 11 % are flawed."""
    shop = heraldry.open(str(ROOT / "examples" / "shop"))
    order = {"order": "4711", "customer": "Inês", "total": 12.5}
    values = {"shop": "lisbon", "order": "4711", "time": "2026-11-16T08:00:00Z", "id": "m-0"}
    placed = shop["shop.order.placed"].build(order, **values)
    reason = {"order": "4711", "reason": "stock"}
    cancelled = shop["shop.order.cancelled"].build(reason, **values)
    return [_one(f"m-{number}", placed, cancelled) for number in range(first, first + count)]


def _one(token: str, placed: Message, cancelled: Message) -> Message:
    kind = int(token[-1])
    message = cancelled if kind < 4 else placed
    attributes = dict(message.attributes) | {"id": token}
    payload = message.payload
    if kind == 9:
        payload = b'{"order":"4711","customer":"In\xc3\xaas","total":"%s"}' % token.encode()
    elif token.endswith("08"):
        attributes["type"] = "shop.none"
    mode: Mode = "binary" if kind % 2 else "structured"
    return replace(message, attributes=attributes, payload=payload, mode=mode)


class Feeder(threading.Thread):
    """Sends messages in slices at random times.

    With ``twice``, some of each slice are sent once more with the next one; so many is ``again``.
    """

    def __init__(
        self, feed: Feed, messages: Sequence[Message], chance: random.Random, *, twice: bool
    ) -> None:
        super().__init__(daemon=True)
        self._feed, self._messages, self._chance, self._twice = feed, messages, chance, twice
        self._failure: Exception | None = None
        self.again = 0

    def run(self) -> None:
        size = -(-len(self._messages) // SLICES)
        again: list[Message] = []
        try:
            for begin in range(0, len(self._messages), size):
                part = self._messages[begin : begin + size]
                self._feed([*part, *again])
                self.again += len(again)
                again = [*part[::AGAIN]] if self._twice else []
                time.sleep(self._chance.uniform(0, 3))
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            self._failure = error

    def finish(self) -> Counter[str]:
        """Wait for the end: the tokens sent."""
        self.join()
        if self._failure is not None:
            raise self._failure
        return Counter(str(message.attributes["id"]) for message in self._messages)


def killed_landings(
    landing: Landing,
    feed: Feed,
    *,
    kills: int = 3,
    messages: int = MESSAGES,
    twice: bool = False,
    seed: int | None = None,
) -> dict[str, Any]:
    """Feed messages, kill the job so often, land the rest: the tokens are all there, each once.

    One kill in three hits a job that is still starting. With ``twice``, for a source that may
    repeat, some messages are sent twice. What is returned is the report of the last run.
    ``seed`` repeats the moments of a failure.
    """
    # so small that there is a batch to wait for before every kill
    landing = replace(landing, per_batch=min(landing.per_batch, messages // (3 * kills)))
    seed = random.randrange(10**6) if seed is None else seed
    chance = random.Random(seed)
    feeder = Feeder(feed, shop_messages(messages), random.Random(seed), twice=twice)
    feeder.start()
    for number in range(kills):
        kill(landing, chance, early=number % 3 == 1)
    sent = feeder.finish()
    report = landing.drain()
    assert report["read"] == report["landed"] + report["dead"] + report.get("repeated", 0)
    found = landing.found()
    lost, doubled = sent - found, found - sent
    told = f"seed {seed}: lost {len(lost)} {[*lost][:5]}, doubled {len(doubled)} {[*doubled][:5]}"
    assert not lost + doubled, told
    assert landing.repeated() >= feeder.again, f"seed {seed}: {feeder.again} came twice"
    assert bool(feeder.again) == twice
    return report


def kill(landing: Landing, chance: random.Random, *, early: bool = False) -> None:
    """Start the job and kill it: soon after a batch was committed, or while it still starts."""
    with landing.streaming() as job:
        if early:
            time.sleep(chance.uniform(0.5, 6))
        else:
            wait_for_batch(landing, job)
            time.sleep(chance.uniform(0, 1))
        assert job.poll() is None, f"the job ended by itself:\n{_end(landing)}"
        os.killpg(job.pid, signal.SIGKILL)


def wait_for_batch(landing: Landing, job: subprocess.Popen[bytes]) -> None:
    """Wait until the job has committed one more batch."""
    before, end = landing.progress(), time.monotonic() + START
    while landing.progress() <= before:
        assert job.poll() is None, f"the job ended by itself:\n{_end(landing)}"
        assert time.monotonic() < end, f"the job got nowhere:\n{_end(landing)}"
        time.sleep(0.01)


def _end(landing: Landing) -> str:
    return landing.log.read_text(errors="replace")[-3000:]
