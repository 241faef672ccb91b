"""Several processes on one registry, and the end of one of them at the worst moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from heraldry.store.opening import open_store
from tests.store.registries import DIRS, FILES, FIRST, VERSIONS, add_group, got

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """
    import sys
    from dataclasses import replace
    from heraldry.store.opening import open_store
    from tests.store.registries import *
    store = open_store(sys.argv[1], FIRST)
"""
COUNTING = """
    for _ in range(50):
        with store.write() as tx:
            row = got(tx, "/dirs/d1")
            tx.save(replace(row, attributes={"epoch": row.attributes["epoch"] + 1}))
            tx.note(note("/dirs/d1"))
"""
GROWING = """
    for n in range(100_000):
        with store.write() as tx:
            group = add_group(tx, f"d{n}", {"name": f"group {n}"})
            for m in range(5):
                add_file(tx, group, f"f{m}", File(versions={"v1": {"n": m}, "v2": {"n": m}}))
                tx.count([0], "dirs")
            tx.note(note(group.xid, n))
        print(n, flush=True)
"""


def program(text: str, address: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BEGIN) + textwrap.dedent(text), address],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        stdout=subprocess.PIPE,
        text=True,
    )


def keeps(address: str) -> None:
    if "memory" in address:
        pytest.skip("a registry in memory belongs to one process")


@pytest.mark.slow
def test_writers_of_several_processes_wait_for_each_other(address: str) -> None:
    keeps(address)
    with closing(open_store(address, FIRST)) as store:
        with store.write() as tx:
            add_group(tx, "d1", {"epoch": 0})
        before = store.revision()
        with ExitStack() as stack:
            programs = [stack.enter_context(program(COUNTING, address)) for _ in range(3)]
            assert [one.wait(120) for one in programs] == [0, 0, 0]
        with store.read() as tx:
            assert got(tx, "/dirs/d1").attributes == {"epoch": 150}
            assert [one.sequence for one in tx.journal(0, 1000)] == list(range(1, 151))
        assert store.revision() == before + 150


@pytest.mark.slow
@pytest.mark.covers("GN-01")
@pytest.mark.parametrize("moment", [0.05, 0.13, 0.21])
def test_a_killed_writer_loses_nothing_and_leaves_nothing_half_done(
    address: str, moment: float
) -> None:
    keeps(address)
    with program(GROWING, address) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(moment)
        os.kill(writer.pid, signal.SIGKILL)
        told = writer.stdout.read().split()
    last = int(told[-1]) if told else 0
    with closing(open_store(address, FIRST)) as store, store.read() as tx:
        groups = list(tx.rows(DIRS))
        assert last + 1 <= len(groups) <= last + 2  # one may have been committed but not yet told
        files = list(tx.children([group.key for group in groups], FILES))
        assert len(files) == 5 * len(groups)
        versions = {row.key for row in tx.rows(VERSIONS)}
        assert len(versions) == 10 * len(groups)
        assert all(file.default in versions for file in files)
        assert [one.xid for one in tx.journal(0, 10**6)] == [group.xid for group in groups]
