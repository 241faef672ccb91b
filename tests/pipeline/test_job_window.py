"""The identities of a job: who does not hold its lock neither reads nor changes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.pipeline.identities.digests import digest
from heraldry.pipeline.identities.duplicates import IDENTITIES, Window
from heraldry.pipeline.job import LandJob, land
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, fixed
from heraldry.pipeline.settings import LandSettings
from tests.suites.streams import WIDE

CATALOG = load_bytes(WIDE, "catalog")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(str(tmp_path / "lake" / "_checkpoint"))


def settings(folder: Path, **more: Any) -> LandSettings:
    inbox, lake = folder / "inbox", str(folder / "lake")
    inbox.mkdir()
    return LandSettings(source=f"files:{inbox}", warehouse=lake, dedupe="on", **more)


def remember(ledger: Ledger, *batches: int) -> Window:
    window = Window.open(ledger.storage, IDENTITIES, 1000)
    for batch in batches:
        digests = {"file": b"".join(digest(f"{batch}-{number}") for number in range(50))}
        window.remember(window.repeated(batch, digests))
    return window


def test_a_job_that_is_refused_forgets_nothing_of_the_one_that_runs(
    tmp_path: Path, ledger: Ledger
) -> None:
    remember(ledger, 0, 1, 2)
    with ledger.locked(), pytest.raises(WarehouseError, match="another job is landing"):
        land(CATALOG, settings(tmp_path, dedupe_window=10))
    assert len(remember(ledger)) == 150


def test_a_job_knows_what_landed_until_it_had_the_lock(tmp_path: Path, ledger: Ledger) -> None:
    job = LandJob(CatalogWatch(fixed(CATALOG), 0.0), settings(tmp_path), [])
    remember(ledger, 0)
    with ledger.locked():
        job.finish()
    window = job._lander.window
    assert window is not None
    assert len(window) == 50
