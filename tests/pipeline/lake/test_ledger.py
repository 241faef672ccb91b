"""The ledger: prepared once, committed once, and one writer at a time."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Barrier, local

import msgspec
import pytest

from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake.ledger import DeprecatedRows, Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage

FILE = ManifestFile(table="a/b/c", name="part.parquet", rows=3, size=10)
MANIFEST = Manifest(batch=5, files=(FILE,), tables={"a/b/c": {"heraldry.name": '["a"]'}})


def test_a_job_keeps_its_name(tmp_path: Path) -> None:
    first = Ledger.open(str(tmp_path))
    assert first.job.startswith("heraldry-")
    assert Ledger.open(str(tmp_path)).job == first.job
    assert Ledger.open(str(tmp_path / "other")).job != first.job


def test_jobs_that_begin_at_once_have_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a name that the next run does not find, a batch would be committed twice."""
    both, read, asked = Barrier(2, timeout=30), Storage.read, local()

    def together(storage: Storage, path: str) -> bytes | None:
        found = read(storage, path)
        if not hasattr(asked, "once"):
            asked.once = both.wait()
        return found

    monkeypatch.setattr(Storage, "read", together)
    with ThreadPoolExecutor(2) as pool:
        names = {one.job for one in pool.map(Ledger.open, [str(tmp_path)] * 2)}
    monkeypatch.undo()
    assert names == {Ledger.open(str(tmp_path)).job}


def test_a_manifest_is_what_was_prepared(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    assert ledger.manifest(5) is None
    ledger.prepare(MANIFEST)
    assert Ledger.open(str(tmp_path)).manifest(5) == MANIFEST


def test_a_commit_is_remembered(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    ledger.prepare(MANIFEST)
    ledger.commit(MANIFEST)
    found = ledger.manifest(5)
    assert found is not None
    assert found.committed
    assert (found.files, found.tables) == (MANIFEST.files, MANIFEST.tables)


@pytest.mark.parametrize("committed", [False, True], ids=["pending", "committed"])
def test_a_batch_is_decided_once(tmp_path: Path, committed: bool) -> None:
    """A driver that hung may wake up after another one went on; so may one far behind."""
    ledger = Ledger.open(str(tmp_path))
    ledger.prepare(MANIFEST)
    ledger.prepare(MANIFEST)
    if committed:
        ledger.commit(MANIFEST)
    late = msgspec.structs.replace(MANIFEST, catalog="another")
    for step in (ledger.prepare, ledger.confirm, ledger.commit):
        with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
            step(late)
    with pytest.raises(PipelineError, match="while it decided batch 3: another job has gone on"):
        ledger.prepare(msgspec.structs.replace(MANIFEST, batch=3))
    found = ledger.manifest(5)
    assert found is not None
    assert (found.catalog, found.committed) == ("", committed)


def test_a_manifest_is_known_again_by_all_it_says(tmp_path: Path) -> None:
    manifest = msgspec.structs.replace(
        MANIFEST,
        seconds=0.1 + 0.2,
        reasons=Counter(schema=2),
        newest=datetime(2026, 11, 18, 12, 0, 0, 1, timezone(timedelta(hours=2))),
        deprecated={"/x": DeprecatedRows(rows=1)},
    )
    ledger = Ledger.open(str(tmp_path))
    ledger.prepare(manifest)
    ledger.confirm(manifest)
    ledger.commit(manifest)


def test_what_is_pending(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    assert ledger.pending() is None
    ledger.prepare(MANIFEST)
    assert ledger.pending() == MANIFEST
    ledger.commit(MANIFEST)
    assert ledger.pending() is None


def test_what_came_before_a_batch(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    for batch in (1, 3, 4, 5):
        ledger.prepare(msgspec.structs.replace(MANIFEST, batch=batch))
    assert [found.batch for found in ledger.before(5)] == [4, 3]
    assert list(ledger.before(0)) == []


def test_a_draft_is_no_manifest(tmp_path: Path) -> None:
    """What a kill leaves behind half written does not count, and is written over."""
    ledger = Ledger.open(str(tmp_path))
    draft = tmp_path / "heraldry" / "batches" / "000000000005.json.draft"
    draft.parent.mkdir(parents=True)
    draft.write_bytes(b'{"batch": 5, "fi')
    assert ledger.manifest(5) is None
    ledger.prepare(MANIFEST)
    assert ledger.manifest(5) == MANIFEST
    assert not draft.exists()


def test_manifests_long_past_are_forgotten(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    for batch in range(103):
        manifest = Manifest(batch=batch, files=(), tables={})
        ledger.prepare(manifest)
        ledger.commit(manifest)
    assert ledger.manifest(2) is None
    assert ledger.manifest(3) is not None
    assert len(list((tmp_path / "heraldry" / "batches").iterdir())) == 100
    # A driver that hung all the while must not take what is forgotten for what nobody decided.
    for step in (ledger.prepare, ledger.confirm, ledger.commit):
        with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
            step(Manifest(batch=2, files=(), tables={}))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    with ledger.locked():
        other = Ledger.open(str(tmp_path))
        with pytest.raises(WarehouseError) as refused, other.locked():
            pass
        # with another checkpoint the same source would land once more
        assert str(refused.value) == (
            f"{tmp_path}: another job is landing with this checkpoint"
            " (wait for it; a job of another source needs a --checkpoint of its own)"
        )
        with Ledger.open(str(tmp_path / "other")).locked():
            pass
    with ledger.locked():
        pass


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from heraldry.pipeline.lake.ledger import Ledger\n"
        "with Ledger.open(sys.argv[1]).locked():\n"
        "    print('locked', flush=True)\n"
        "    time.sleep(60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "locked\n"
        ledger = Ledger.open(str(tmp_path))
        with pytest.raises(WarehouseError), ledger.locked():
            pass
        child.kill()
    with ledger.locked():
        pass


def test_a_checkpoint_belongs_to_one_warehouse(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    ledger.bind("/lake/a")
    ledger.bind("/lake/a")
    with pytest.raises(WarehouseError, match="belongs to the warehouse /lake/a"):
        ledger.bind("/lake/b")


def test_a_manifest_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path))
    ledger.storage.write("heraldry/batches/000000000003.json", b"{")
    with pytest.raises(WarehouseError, match="manifest of batch 3"):
        ledger.pending()
