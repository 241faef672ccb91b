"""Exactly once: a replay of ten thousand letters is killed again and again, and none is doubled.

While it runs, its job is sent some of the messages again, and lands those that are not there yet.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.letters import deadletters
from tests.pipeline.letters.lettering import land_lines, replays
from tests.pipeline.test_replay import FIRST, SECOND, message

LETTERS = 10_000
MENDED = {
    "order": (0, ("ce_id",)),
    "refund": (1, ("ce_id",)),
    "belt": (2, ("_source", "_position")),
}
"""The tables of what was mended: the cause, and the columns that tell its messages apart.

No belt is sent again, so each has the place of its letter; a place is told within its source.
"""
RUN = """
import time
from heraldry.cli.replay import command
from heraldry.pipeline.lake.commits import Committer

commit = Committer.commit

def slowly(*given):
    time.sleep(0.05)
    return commit(*given)

Committer.commit = slowly
command()
"""
"""The command, with commits that take long enough for a kill to fall among them."""


class Site:
    """A warehouse of letters with five causes, and the replay as a process of its own."""

    def __init__(self, folder: Path, letters: int) -> None:
        self.lake, self.letters = folder / "lake", letters
        self.lake.mkdir()
        self.catalog = folder / "mended.json"
        self.catalog.write_bytes(SECOND)
        self.log = folder / "log"
        self.step = letters // 4
        for batch in range(4):
            numbers = range(batch * self.step, (batch + 1) * self.step)
            lines = [message(n, n % 5) for n in numbers]
            land_lines(self.lake, FIRST, lines, batch=batch, source=f"file-{batch}", once=True)
        self.batch = 4
        self.ledger = Ledger.open(f"{self.lake}/_checkpoint/replay")

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        command = ("--catalog", str(self.catalog), "--warehouse", str(self.lake), "-o", "json")
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", RUN, *command, *more],
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def prepared(self) -> int:
        return len(self.ledger.storage.names("heraldry/batches"))

    def redeliver(self, chance: random.Random) -> int:
        """Send some events again, by the mended catalog: how many had landed before."""
        some = chance.sample(range(self.letters), 200)
        lines = [message(n, n % 5) for n in some if n % 5 < 2]
        self.batch += 1
        source = f"again-{self.batch}"
        done = land_lines(self.lake, SECOND, lines, batch=self.batch, source=source, once=True)
        return done.repeated

    def kill(self, chance: random.Random, when: str) -> bool:
        """Start a replay and kill it; True if it died between its manifest and the last commit."""
        before = self.prepared()
        job = self.start("--where", f"batch={chance.randrange(4)}")
        end = time.monotonic() + 60
        self.redeliver(chance)
        if when == "prepared":
            while self.prepared() == before and job.poll() is None and time.monotonic() < end:
                time.sleep(0.0005)
            time.sleep(chance.choice((0, 0, 0.002, 0.01)))
        else:
            time.sleep(chance.uniform(0.3, 3))
        job.kill()
        job.communicate()
        return self.ledger.pending() is not None

    def finish(self) -> dict[str, int]:
        job = self.start()
        told, _ = job.communicate(timeout=400)
        assert job.returncode == 0, self.log.read_text()[-3000:]
        report: dict[str, int] = json.loads(told)
        return report

    def told(self, number: int) -> dict[str, str]:
        """What tells a message of the first batches apart, by column."""
        batch, line = divmod(number, self.step)
        return {"ce_id": f"m-{number}", "_source": f"file-{batch}", "_position": f"0+{line}"}

    def landed(self, name: str, columns: tuple[str, ...]) -> Counter[tuple[object, ...]]:
        """The rows of a table by some columns, with how often each is there."""
        storage = Storage(str(self.lake))
        table = delta.open_table(storage, f"default/shop/{name}")
        assert table is not None
        rows = delta.table_rows(storage, table, list(columns)).to_pylist()
        return Counter(tuple(row[column] for column in columns) for row in rows)

    def check(self) -> None:
        """Every mended letter is in its table once, every other is still open, all in history."""
        share = self.letters // 5
        for name, (cause, columns) in MENDED.items():
            numbers = range(cause, self.letters, 5)
            assert self.landed(name, columns) == Counter(
                tuple(self.told(number)[column] for column in columns) for number in numbers
            ), name
        still = sum(group.count for group in deadletters.groups(str(self.lake)))
        assert still == self.letters - 3 * share
        rows = replays(self.lake).to_pylist()
        done = Counter(row["letter"] for row in rows if row["outcome"] in ("landed", "repeated"))
        assert len(done) == 3 * share
        assert set(done.values()) == {1}
        assert len({(row["letter"], row["replay"]) for row in rows}) == len(rows)


def check_kills(folder: Path, letters: int, kinds: list[str], seed: int) -> None:
    chance = random.Random(seed)
    site = Site(folder, letters)
    amid = sum(site.kill(chance, kind) for kind in kinds)
    for _ in range(5):
        if amid:
            break
        amid += site.kill(chance, "prepared")
    assert amid, "no kill fell between the manifest and the last commit"
    first, second = site.finish(), site.finish()
    assert first["selected"] == sum(
        first[name] for name in ("landed", "refused", "skipped", "repeated")
    )
    assert (second["landed"], second["masked"]) == (0, 0), f"seed {seed}"
    assert site.redeliver(chance) > 0
    site.check()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_amid_its_commits(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    check_kills(tmp_path, LETTERS, ["prepared", "anywhere", "prepared"], seed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_thirty_times(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    kinds = [chance.choice(("prepared", "anywhere")) for _ in range(30)]
    check_kills(tmp_path, LETTERS, kinds, seed)
