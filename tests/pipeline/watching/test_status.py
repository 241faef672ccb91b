"""Status: what a warehouse tells of its jobs while none of them runs, and while one does."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.watching.status import is_running, status
from tests.pipeline.watching.observing import DIGEST, NOON
from tests.pipeline.watching.warehouses import Warehouse


@pytest.fixture
def lake(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path)


def test_a_job_is_told_by_its_batches(lake: Warehouse) -> None:
    before = datetime.now(UTC)
    lake.land(lake.manifest(0, dead=1, repeated=2))
    lake.land(lake.manifest(1, lag=4))
    (job,) = status(lake.path).jobs
    assert (job.job, job.checkpoint) == (lake.ledger.job, lake.ledger.storage.url)
    assert (job.batch, job.run, job.catalog, job.lag) == (1, "r", DIGEST, 4)
    assert job.committed is not None
    assert before <= job.committed <= datetime.now(UTC)
    assert job.newest == NOON
    total = job.total
    assert (total.batches, total.read, total.landed, total.dead, total.repeated) == (2, 9, 6, 1, 2)
    assert total.read == total.landed + total.dead + total.repeated
    assert (job.running, job.pending) == (False, None)


def test_the_share_of_dead_letters_is_that_of_the_last_batches(lake: Warehouse) -> None:
    lake.land(lake.manifest(0, dead=97))
    lake.land(lake.manifest(1, dead=1))
    (job,) = status(lake.path, last=1).jobs
    assert job.recent.dead_share == 0.25
    assert job.total.dead_share == 98 / 104


def test_tables_have_their_rows_and_last_change(lake: Warehouse) -> None:
    lake.land(lake.manifest(0))
    lake.land(lake.manifest(1))
    found = status(lake.path)
    (table,) = found.tables
    assert (table.name, table.rows) == ("default.orders.order.placed", 6)
    assert table.changed == found.jobs[0].committed


def test_a_batch_that_is_prepared_and_not_committed_is_pending(lake: Warehouse) -> None:
    lake.land(lake.manifest(0))
    lake.ledger.prepare(lake.manifest(1))
    assert status(lake.path).jobs[0].pending == 1
    lake.ledger.commit(lake.manifest(1))
    assert status(lake.path).jobs[0].pending is None


def test_a_job_that_holds_its_lock_is_running(lake: Warehouse) -> None:
    program = (
        "import sys; from heraldry.pipeline.lake.ledger import Ledger\n"
        "with Ledger.open(sys.argv[1]).locked():\n    print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", program, lake.ledger.storage.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as held:
        assert held.stdout.readline() == b"held\n"
        assert status(lake.path).jobs[0].running is True
        held.communicate(b"\n")
    assert status(lake.path).jobs[0].running is False


def test_looking_takes_no_lock_from_a_job(lake: Warehouse) -> None:
    with lake.ledger.locked():
        pass
    assert is_running(lake.ledger.storage) is False
    with lake.ledger.locked():
        assert is_running(lake.ledger.storage) is True


def test_looking_stops_no_job_that_starts(lake: Warehouse) -> None:
    """Whoever looks has the lock for a moment, here for a long one."""
    with lake.ledger.locked():
        lock = Path(lake.ledger.storage.url) / "heraldry" / "lock"
    with lock.open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert is_running(lake.ledger.storage) is False
        timer = threading.Timer(0.2, fcntl.flock, (looking, fcntl.LOCK_UN))
        timer.start()
        with lake.ledger.locked():
            assert is_running(lake.ledger.storage) is True
        timer.join()


def test_a_job_with_a_checkpoint_elsewhere_is_known_by_its_batches(
    lake: Warehouse, tmp_path: Path
) -> None:
    other = Ledger.open(str(tmp_path / "elsewhere"))
    lake.land(lake.manifest(0))
    lake.land(lake.manifest(0), job=other.job)
    found = {job.job: job for job in status(lake.path).jobs}
    assert (found[other.job].checkpoint, found[other.job].running) == (None, None)
    named = {job.job: job for job in status(lake.path, [other.storage.url]).jobs}
    assert named[other.job].running is False
    assert len(named) == 2


def test_looking_at_a_checkpoint_that_is_not_there_makes_none(
    lake: Warehouse, tmp_path: Path
) -> None:
    assert len(status(lake.path, [str(tmp_path / "nowhere")]).jobs) == 1
    assert not (tmp_path / "nowhere").exists()


def test_open_letters_are_counted_by_rule(lake: Warehouse) -> None:
    lake.letters(["type"] * 3 + ["required"] * 2 + list("abcdef"))
    found = status(lake.path)
    assert found.letters == 11
    assert sum(number for _, number in found.rules) == found.letters
    assert found.rules[:2] == (("type", 3), ("required", 2))


def test_a_warehouse_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError):
        status(str(tmp_path / "nowhere"))
