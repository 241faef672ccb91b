"""Exactly once: files keep arriving while the job is killed, and every message is found once."""

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from heraldry.pipeline.lake.delta import open_table
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.letters import deadletters
from tests.suites.processes import wait_until_over
from tests.suites.streams import WIDE, event, line

pytestmark = [pytest.mark.spark, pytest.mark.slow]

START = 240.0
"""A job that has not landed anything after so many seconds has failed."""
TOKEN = re.compile(r"m-[0-9]+")


def message(token: str, choice: int) -> bytes:
    """A message that carries a token; some kinds of them are flawed."""
    match choice:
        case 0:
            return line(event("scan", {"tag": token, "weight": 2.5}, id=token))
        case 1:
            return line(event("raw", [token], id=token))
        case 2:
            return line(event("scan", {"tag": token, "weight": "heavy"}, id=token))
        case 3:
            return line({**event("raw", 1, id=token), "type": "shop.none"})
        case 4:
            return f"no message at all: {token}".encode()
        case 5:
            return line(event("order", {"id": token, "total": 1.0, "count": 2.0}, id=token))
    return line(event("order", {"id": token, "total": 1.5, "tags": ["a"]}, id=token))


class Feeder(threading.Thread):
    """Writes files at random times, each under another name first."""

    def __init__(self, inbox: Path, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self._inbox, self._chance = inbox, chance
        self._ended = threading.Event()
        self.tokens: list[str] = []
        self.files = 0

    def run(self) -> None:
        while not self._ended.wait(self._chance.uniform(0, 0.5)):
            self.write()

    def write(self) -> None:
        first = len(self.tokens)
        tokens = [f"m-{first + n}" for n in range(self._chance.randint(1, 40))]
        lines = [message(token, self._chance.randint(0, 12)) for token in tokens]
        draft = self._inbox / f"{self.files:06d}.tmp"
        draft.write_bytes(b"".join(one + b"\n" for one in lines))
        draft.rename(draft.with_suffix(".jsonl"))
        self.tokens += tokens
        self.files += 1

    def end(self) -> None:
        self._ended.set()
        self.join()


class Site:
    """A job's folders, and the job itself as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.inbox, self.lake = folder / "inbox", folder / "lake"
        self.inbox.mkdir()
        self.catalog = folder / "catalog.json"
        self.catalog.write_bytes(WIDE)
        self.checkpoint = self.lake / "_checkpoint"
        self.log = folder / "log"

    def command(self, *more: str) -> list[str]:
        return [
            *(sys.executable, "-m", "heraldry", "land", "--catalog", str(self.catalog)),
            *("--from", f"files:{self.inbox}", "--to", str(self.lake), "--master", "local[2]"),
            *more,
        ]

    @contextmanager
    def streaming(self, *more: str) -> Iterator[subprocess.Popen[bytes]]:
        """The running job in a process group of its own; whatever is left of it is ended."""
        with self.log.open("ab") as log:
            job = subprocess.Popen(
                self.command("--stream", "--max-per-batch", "200", "--interval", "0.1", *more),
                start_new_session=True,
                stdout=log,
                stderr=log,
            )
        family = [psutil.Process(job.pid)]
        try:
            yield job
            family += family[0].children(recursive=True) if job.poll() is None else []
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            wait_until_over(family)

    def drain(self) -> dict[str, int]:
        """Land what is left, without --stream."""
        done = subprocess.run(
            self.command("--format", "json"), capture_output=True, check=False, timeout=400
        )
        assert done.returncode == 0, done.stderr.decode()
        report: dict[str, int] = json.loads(done.stdout)
        return report

    def progress(self) -> int:
        """How many batches were ever committed."""
        commits = self.checkpoint / "commits"
        return len(list(commits.glob("[0-9]*"))) if commits.exists() else 0

    def prepared(self) -> int:
        """The number of the last batch that has a manifest."""
        found = (self.checkpoint / "heraldry" / "batches").glob("*.json")
        return max((int(path.stem) for path in found), default=-1)

    def found(self) -> Counter[str]:
        """How often each token stands in a table or a dead letter."""
        seen: Counter[str] = Counter()
        for info in tables(str(self.lake)):
            table = open_table(Storage(info.path), "")
            assert table is not None
            rows = table.to_pyarrow_table(columns=["ce_id"])["ce_id"].to_pylist()
            assert len(rows) == info.rows
            seen.update(rows)
        for letter in deadletters.letters(str(self.lake)):
            seen.update(set(TOKEN.findall(letter["line"])))
        return seen


def wait_until(job: subprocess.Popen[bytes], site: Site, condition: Callable[[], bool]) -> None:
    """Look again and again, quickly, while the job lives."""
    end = time.monotonic() + START
    while not condition():
        assert job.poll() is None, f"the job ended by itself:\n{site.log.read_text()[-3000:]}"
        assert time.monotonic() < end, f"the job got nowhere:\n{site.log.read_text()[-3000:]}"
        time.sleep(0.0005)


def kill(site: Site, chance: random.Random, when: str, whole: bool) -> None:
    """Start the job, kill it at a moment of a kind.

    That a kill falls amid the commits of a batch is a matter of luck here; the runs that are cut
    at chosen places are in test_conservation_batches.
    """
    with site.streaming() as job:
        if when == "starting":
            time.sleep(chance.uniform(0.5, 6))
        elif when == "prepared":
            last = site.prepared()
            wait_until(job, site, lambda: site.prepared() > last)
        else:
            before = site.progress()
            wait_until(job, site, lambda: site.progress() > before)
            time.sleep(chance.uniform(0, 0.6))
        if whole:
            os.killpg(job.pid, signal.SIGKILL)
        else:
            job.kill()
        job.wait()


def check_kills(folder: Path, kinds: list[str], seed: int) -> None:
    chance = random.Random(seed)
    site = Site(folder)
    feeder = Feeder(site.inbox, chance)
    feeder.write()
    feeder.start()
    try:
        for number, kind in enumerate(kinds):
            kill(site, chance, kind, number % 2 == 1)
    finally:
        feeder.end()
    report = site.drain()
    assert report["read"] == report["landed"] + report["dead"]
    assert site.found() == Counter(feeder.tokens), f"seed {seed}"


@pytest.mark.timeout(1200)
def test_killed_twice(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    check_kills(tmp_path, ["running", "prepared"], seed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_twenty_times(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    kinds = [chance.choice(("running", "prepared", "starting")) for _ in range(20)]
    check_kills(tmp_path, kinds, seed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_stream_ends_when_told(tmp_path: Path, number: signal.Signals) -> None:
    site, lineage = Site(tmp_path), tmp_path / "lineage.jsonl"
    feeder = Feeder(site.inbox, random.Random(1))
    feeder.write()
    feeder.start()
    try:
        with site.streaming("--lineage", str(lineage)) as job:
            wait_until(job, site, lambda: site.progress() > 0)
            os.kill(job.pid, number)
            assert job.wait(timeout=120) == 0, site.log.read_text()[-3000:]
    finally:
        feeder.end()
    assert "Traceback" not in site.log.read_text()
    events = [json.loads(line)["eventType"] for line in lineage.read_text().splitlines()]
    assert (events[0], events[-1]) == ("START", "ABORT")
    found = site.found()
    assert found
    assert found <= Counter(feeder.tokens)
