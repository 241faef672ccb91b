"""Exactly once with everything on object storage: each run is killed, and its machine is lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from heraldry.pipeline.lake.delta import open_table, table_rows
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.letters import deadletters
from tests.live.servers.moto import BUCKET, S3Server, start
from tests.pipeline.test_kill import TOKEN, Feeder, Site, kill, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with start(tmp_path_factory.mktemp("moto")) as server:
        yield server


class StoredSite(Site):
    """A job whose warehouse and checkpoint are on object storage; its machine is a folder."""

    def __init__(self, folder: Path, store: Storage) -> None:
        super().__init__(folder)
        self.store, self.machine = store, folder / "machine"

    def command(self, *more: str) -> list[str]:
        there = [self.store.url if one == str(self.lake) else one for one in super().command()]
        return ["env", f"TMPDIR={self.machine}", *there, *more]

    @contextmanager
    def streaming(self, *more: str) -> Iterator[subprocess.Popen[bytes]]:
        self.renew()
        with super().streaming(*more) as job:
            yield job

    def renew(self) -> None:
        """A machine that knows nothing, a minute later: the leases of the one before are over."""
        shutil.rmtree(self.machine, ignore_errors=True)
        self.machine.mkdir()
        for lease in ("lock", "batch", "deciding"):
            self.store.delete_tree(f"_checkpoint/heraldry/{lease}")

    def progress(self) -> int:
        time.sleep(0.02)
        return len(self.store.names("_checkpoint/commits"))

    def prepared(self) -> int:
        time.sleep(0.02)
        names = self.store.names("_checkpoint/heraldry/batches")
        return max((int(name.removesuffix(".json")) for name in names), default=-1)

    def found(self) -> Counter[str]:
        seen: Counter[str] = Counter()
        for info in tables(self.store.url):
            storage = Storage(info.path)
            table = open_table(storage, "")
            assert table is not None
            seen.update(table_rows(storage, table, ["ce_id"])["ce_id"].to_pylist())
        for letter in deadletters.letters(self.store.url):
            seen.update(set(TOKEN.findall(letter["line"])))
        return seen


def check_kills(folder: Path, kinds: list[str], seed: int) -> None:
    chance = random.Random(seed)
    site = StoredSite(folder, Storage.open(f"s3://{BUCKET}/{uuid4()}"))
    feeder = Feeder(site.inbox, chance)
    feeder.write()
    feeder.start()
    try:
        for number, kind in enumerate(kinds):
            kill(site, chance, kind, number % 2 == 0)
    finally:
        feeder.end()
    told = f"seed {seed}"
    assert any(site.machine.iterdir()), f"{told}: the killed run kept nothing on its machine"
    site.renew()
    report = site.drain()
    assert report["read"] == report["landed"] + report["dead"], told
    assert site.found() == Counter(feeder.tokens), told


@pytest.mark.timeout(1200)
def test_killed_four_times_and_every_machine_lost(s3: S3Server, tmp_path: Path) -> None:
    assert s3.port
    seed = random.randrange(10**6)
    check_kills(tmp_path, ["running", "prepared", "running", "prepared"], seed)


@pytest.mark.timeout(600)
def test_a_stream_that_was_told_to_end_leaves_no_lease(s3: S3Server, tmp_path: Path) -> None:
    assert s3.port
    site = StoredSite(tmp_path, Storage.open(f"s3://{BUCKET}/{uuid4()}"))
    feeder = Feeder(site.inbox, random.Random(1))
    feeder.write()
    with site.streaming() as job:
        wait_until(job, site, lambda: site.prepared() >= 0)
        os.kill(job.pid, signal.SIGTERM)
        assert job.wait(timeout=120) == 0, site.log.read_text()[-3000:]
    assert "Traceback" not in site.log.read_text()
    assert not list(site.machine.glob("heraldry-*")), "progress was left behind"
    feeder.write()
    site.drain()
    assert site.found() == Counter(feeder.tokens)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_twenty_times_and_every_machine_lost(s3: S3Server, tmp_path: Path) -> None:
    assert s3.port
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    kinds = [chance.choice(("running", "prepared", "starting")) for _ in range(19)]
    # A run that is killed as it starts has nothing on its machine yet, which is looked at last.
    check_kills(tmp_path, [*kinds, "running"], seed)
