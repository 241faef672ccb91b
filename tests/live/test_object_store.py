"""Object storage by a real S3 server: the same behaviour as a folder, leases, and landing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.delta import open_table, table_rows
from heraldry.pipeline.lake.lease import Lease
from heraldry.pipeline.lake.storage import Storage
from tests.live.servers.moto import BUCKET, S3Server, start
from tests.pipeline.letters.lettering import land_lines
from tests.suites.progress_folders import MirroredFolderBehaviour
from tests.suites.storages import StorageBehaviour
from tests.suites.streams import WIDE, event, line


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with start(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture
def storage(s3: S3Server) -> Storage:
    assert s3.port
    return Storage.open(f"s3://{BUCKET}/{uuid4()}")


class TestS3(StorageBehaviour):
    """S3 does what a folder does."""


class TestProgressOnS3(MirroredFolderBehaviour):
    """Spark's own progress is mirrored to S3 as to a folder."""


def lease(storage: Storage, *, life: float = 60.0, beat: float = 0.1) -> tuple[Lease, list[str]]:
    lost: list[str] = []
    return (
        Lease(storage=storage, path="lock", life=life, beat=beat, lost=lambda: lost.append("lost")),
        lost,
    )


def test_a_lease_outlives_its_first_beat(storage: Storage) -> None:
    """Moto tells times in whole seconds, so that a life of three is a short one."""
    mine, lost = lease(storage, life=3.0)
    with mine.held() as free:
        assert free
        threading.Event().wait(4)
        with lease(storage, life=3.0)[0].held() as second:
            assert not second
    assert not lost


def test_a_lease_without_beats_is_taken_over(storage: Storage) -> None:
    """Its owner hung for longer than it lives; when it wakes it learns that it lost."""
    mine, lost = lease(storage, life=1.0, beat=4.0)
    with mine.held() as free:
        assert free
        threading.Event().wait(2.5)
        with lease(storage, life=1.0)[0].held() as second:
            assert second
            threading.Event().wait(2.5)
            assert lost == ["lost"]
            with lease(storage, life=2.0)[0].held() as third:
                assert not third
    names = storage.names("lock")
    assert not any(name.endswith("0" * 12) and name.startswith("turn") for name in names)


def test_a_store_that_is_away_is_an_error_not_an_empty_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.write("a", b"x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(OSError, match="curl"):
        storage.read("a")
    with pytest.raises(OSError, match="curl"):
        storage.names("")
    with pytest.raises((OSError, WarehouseError)):
        open_table(storage, "t")


def test_a_bucket_that_is_not_there_is_told(s3: S3Server) -> None:
    storage = Storage.open(f"s3://absent-{s3.port}/w")
    with pytest.raises(OSError, match=r"(?i)bucket"):
        storage.write("a", b"x")


ORDERS = "default/shop/order"


def order(number: int) -> bytes:
    return line(event("order", {"id": str(number), "total": number}, id=f"o{number}"))


def landed(folder: Path, storage: Storage, source: str, **options: str) -> dict[str, Any]:
    """What ``heraldry land`` says of a run onto object storage, on a machine of its own."""
    command = [sys.executable, "-m", "heraldry", "land", "--catalog", str(folder / "catalog.json")]
    command += ["--from", source, "--to", storage.url, "--master", "local[2]", "-o", "json"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", value]
    machine = folder / "machine"
    machine.mkdir()
    here = os.environ | {"TMPDIR": str(machine)}
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False, env=here
    )
    assert not list(machine.glob("heraldry-*")), "progress was left behind"
    shutil.rmtree(machine)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def counts(told: dict[str, Any]) -> tuple[int, ...]:
    return tuple(told[name] for name in ("read", "landed", "dead", "repeated"))


def numbers(storage: Storage) -> Counter[str]:
    table = open_table(storage, ORDERS)
    assert table is not None
    return Counter(table_rows(storage, table, ["ce_id"])["ce_id"].to_pylist())


@pytest.mark.parametrize(
    "checkpoint",
    [
        pytest.param("checkpoint", id="progress in a folder"),
        pytest.param(None, id="progress in the warehouse"),
    ],
)
def test_landing_onto_s3_from_s3(storage: Storage, tmp_path: Path, checkpoint: str | None) -> None:
    """Files of two kinds in a bucket, read once; messages that come again land once."""
    (tmp_path / "catalog.json").write_bytes(WIDE)
    inbox = Storage.open(f"{storage.url}-inbox")
    inbox.write("a.jsonl", b"\n".join(order(number) for number in range(500)))
    inbox.write("deep/b.json", b"[" + b",".join(order(n) for n in range(400, 600)) + b"]")
    inbox.write("_draft.jsonl", b"not read")
    source, told = f"files:{inbox.url}", {"dedupe": "on"}
    if checkpoint is not None:
        told["checkpoint"] = str(tmp_path / checkpoint)
    assert counts(landed(tmp_path, storage, source, **told)) == (700, 600, 0, 100)
    inbox.write("c.jsonl.gz", b"broken")
    inbox.write("d.jsonl", b"\n".join(order(number) for number in range(590, 650)))
    assert counts(landed(tmp_path, storage, source, **told)) == (61, 50, 1, 10)
    assert numbers(storage) == Counter(f"o{number}" for number in range(650))


def test_a_folder_lands_with_its_progress_on_s3(storage: Storage, tmp_path: Path) -> None:
    """Spark's own source and log of files: each run has a machine that knows nothing."""
    (tmp_path / "catalog.json").write_bytes(WIDE)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    state = Storage.open(f"{storage.url}-state/job")
    source, told = f"files:{inbox}", {"max_per_batch": "100", "checkpoint": state.url}
    for number in range(3):
        lines = [order(one) for one in range(number * 100, number * 100 + 100)]
        (inbox / f"{number}.jsonl").write_bytes(b"\n".join(lines))
    first = landed(tmp_path, storage, source, **told)
    assert (counts(first), first["batches"]) == ((300, 300, 0, 0), 3)
    assert state.names("commits")[-1] == "2"
    (inbox / "3.jsonl").write_bytes(b"\n".join(order(one) for one in range(300, 350)))
    assert counts(landed(tmp_path, storage, source, **told)) == (50, 50, 0, 0)
    assert counts(landed(tmp_path, storage, source, **told)) == (0, 0, 0, 0)
    assert numbers(storage) == Counter(f"o{number}" for number in range(350))
    assert not any("crc" in file.path for file in state.walk(""))


def told(*command: str) -> Any:
    """What a command says as JSON."""
    result = CliRunner().invoke(main, [*command, "-o", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_warehouse_on_s3_is_looked_after_as_a_folder_is(storage: Storage, tmp_path: Path) -> None:
    """Letters, their replay, upkeep, status and cut, without Spark."""
    mended = tmp_path / "catalog.json"
    mended.write_bytes(WIDE)
    narrow = json.loads(WIDE)
    del narrow["messagegroups"]["shop"]["messages"]["order"]
    for batch in range(4):
        lines = [order(number) for number in range(batch * 10, batch * 10 + 10)]
        known = WIDE if batch % 2 else json.dumps(narrow).encode()
        land_lines(storage.url, known, [*lines, b"garbage"], batch=batch, source=f"f{batch}")
    at = ("--warehouse", storage.url)
    assert len(told("dead-letters", *at, "--rows")) == 24
    again = ("replay", "--catalog", str(mended), *at)
    assert told(*again, "--dry-run")["landed"] == 20
    done = told(*again)
    assert (done["landed"], done["refused"]) == (20, 4)
    assert told(*again)["landed"] == 0
    kept = told("maintain", *at, "--retention", "0")
    (table,) = (one for one in kept["tables"] if one["table"] == ORDERS.replace("/", "."))
    assert (table["compacted"], table["into"], table["removed"]) == (3, 1, 3)
    assert numbers(storage) == Counter(f"o{number}" for number in range(40))
    (row,) = (one for one in told("tables", *at) if one["table"] == ORDERS.replace("/", "."))
    assert row["rows"] == 40
    assert told("status", *at)
    assert told("tables", *at, "--cut")
