"""A definition that changes under a running stream: every row stays readable, by one rule."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from heraldry.pipeline.letters import deadletters
from tests.live.delta.readers import by_duckdb, by_spark
from tests.suites.streams import NUMBER, TEXT, WHOLE, document, event, kind, line, record

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

Row = dict[str, Any]
STEPS: list[tuple[str, dict[str, Any], Row]] = [
    (
        "first",
        {"id": TEXT, "qty": WHOLE, "place": record(city=TEXT)},
        {"qty": 1, "place": {"city": "M"}},
    ),
    ("add", {"id": TEXT, "qty": WHOLE, "place": record(city=TEXT), "note": TEXT}, {"note": "new"}),
    (
        "widen",
        {"id": TEXT, "qty": WHOLE, "place": record(city=TEXT, zip=TEXT), "note": TEXT},
        {"place": {"city": "M", "zip": "80331"}},
    ),
    ("rename", {"id": TEXT, "quantity": WHOLE, "note": TEXT}, {"quantity": 4, "note": "four"}),
    ("retype", {"id": TEXT, "quantity": NUMBER, "note": WHOLE}, {"quantity": 2.5, "note": 7}),
    ("remove", {"id": TEXT}, {}),
    ("back", {"id": TEXT, "qty": WHOLE, "note": TEXT}, {"qty": 9, "note": "back"}),
]
"""Every change of the definition, each a version of it by its name, and a message of it."""

EXPECTED: dict[str, Row] = {
    "first": {"qty": 1, "place": {"city": "M", "zip": None}},
    "add": {"note": "new"},
    "widen": {"place": {"city": "M", "zip": "80331"}},
    "rename": {"quantity": 4, "note": "four"},
    "retype": {"quantity_2": 2.5, "note_2": 7},
    "remove": {},
    "back": {"qty": 9, "note": "back"},
}
COLUMNS = ("qty", "place", "note", "quantity", "quantity_2", "note_2")


def catalog(version: str, members: dict[str, Any]) -> bytes:
    definition = dict(kind("order", record("id", **members)).definition)
    return document({"order": definition | {"versionid": version}})


class Site:
    """A job that streams while its catalog changes."""

    def __init__(self, folder: Path) -> None:
        self.inbox, self.lake = folder / "inbox", folder / "lake"
        self.orders = self.lake / "default" / "shop" / "order"
        self.inbox.mkdir()
        self.catalog = folder / "catalog.json"
        self.log = folder / "log"

    @contextmanager
    def streaming(self) -> Iterator[None]:
        command = [
            *(sys.executable, "-m", "heraldry", "land", "--catalog", str(self.catalog), "--stream"),
            *("--from", f"files:{self.inbox}", "--to", str(self.lake), "--master", "local[2]"),
            *("--interval", "0.1"),
        ]
        with self.log.open("ab") as log:
            job = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
            job.send_signal(signal.SIGTERM)
            assert job.wait(240) == 0, self.log.read_text()
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()

    def put(self, name: str, path: Path, content: bytes) -> None:
        draft = path.parent / f".{name}"
        draft.write_bytes(content)
        draft.rename(path)

    def step(self, name: str, members: dict[str, Any], data: Row) -> None:
        """Change the definition, send a message of it, and wait for its row."""
        self.send(name, catalog(name, members), data)
        self.wait(lambda: name in self.landed())

    def send(self, name: str, document: bytes, data: Row) -> None:
        """Change the catalog, and send a message once the job has looked at it."""
        self.put(name, self.catalog, document)
        time.sleep(1.1)  # a catalog is looked at once in a second
        sent = line(event("order", {"id": name, **data}, id=name))
        self.put(name, self.inbox / f"{name}.jsonl", sent + b"\n")

    def wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 240
        while not condition():
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.1)

    def landed(self) -> set[str]:
        if not list((self.orders / "_delta_log").glob("*.json")):
            return set()
        return set(DeltaTable(self.orders).to_pyarrow_table(columns=["id"])["id"].to_pylist())


def test_every_row_is_readable_through_the_table(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.catalog.write_bytes(catalog(*STEPS[0][:2]))
    lake = str(site.lake)
    with site.streaming():
        for step in STEPS[:-1]:
            site.step(*step)
        assert list(deadletters.letters(lake)) == []
        # The whole definition goes: its rows stay, and there is a reason for what still comes.
        site.send("gone", document({}), {})
        site.wait(lambda: bool(list(deadletters.letters(lake))))
        site.step(*STEPS[-1])
    assert [(one["stage"], one["rule"]) for one in deadletters.letters(lake)] == [
        ("match", "unknown")
    ]
    expected = {
        name: {"id": name, "_version": name, **dict.fromkeys(COLUMNS), **row}
        for name, row in EXPECTED.items()
    }
    wanted = ("id", "_version", *COLUMNS)
    for read in (by_duckdb, by_spark):
        assert {row["id"]: row for row in read(site.orders, wanted, tmp_path)} == expected
