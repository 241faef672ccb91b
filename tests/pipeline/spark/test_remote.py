"""Spark Connect without a server: what travels, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import PipelineError, UsageError
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, Watched, fixed
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from heraldry.pipeline.spark import remote_lander
from heraldry.pipeline.spark.remote import open_remote
from heraldry.pipeline.spark.remote_lander import RemoteLander, StoredCatalog
from tests.live.servers.server import free_port
from tests.suites.streams import WIDE


@pytest.fixture
def lander(tmp_path: Path) -> BatchLander:
    settings = LandSettings(source=f"files:{tmp_path}", warehouse=str(tmp_path / "lake"))
    ledger = Ledger.open(str(tmp_path / "checkpoint"))
    return BatchLander(
        settings=settings,
        committer=Committer(Storage.open(settings.warehouse), "job"),
        ledger=ledger,
        source=FilesSource(str(tmp_path), settings),
        watch=CatalogWatch(fixed(load_bytes(WIDE, "catalog")), 600),
        plan=TablePlan(database="shop"),
        run="run-1",
        breaker=Breaker(0.5, ledger),
        window=None,
    )


def test_a_lander_travels(lander: BatchLander) -> None:
    sent = RemoteLander.of(lander)
    found: RemoteLander = pickle.loads(pickle.dumps(sent))
    assert found == sent
    assert pickle.loads(found.source).name == lander.source.name


def test_the_server_judges_by_the_catalog_of_the_client(lander: BatchLander) -> None:
    storage, watched = lander.ledger.storage, lander.watch.current()
    StoredCatalog.of(watched).store(storage)
    there = RemoteLander.of(lander)._lander().watch
    assert there.current().digest == watched.digest
    changed = Watched.of(load_bytes(WIDE.replace(b"shop.order", b"shop.ordered"), "catalog"))
    StoredCatalog.of(changed).store(storage)
    assert there.current().digest == changed.digest != watched.digest


def test_a_batch_waits_for_one_of_an_earlier_run(
    lander: BatchLander, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_lander, "_PATIENCE", 0.3)
    with (
        remote_lander.alone(lander.ledger),
        pytest.raises(PipelineError, match="an earlier run is still landing"),
        remote_lander.alone(lander.ledger),
    ):
        pass
    with remote_lander.alone(lander.ledger):
        pass


@pytest.mark.parametrize("url", ["host:15002", "spark://host:7077", "sc://"])
def test_no_address_of_a_server(url: str) -> None:
    with pytest.raises(UsageError, match="is no Spark Connect server"):
        open_remote(url)


def test_nobody_is_there() -> None:
    with pytest.raises(PipelineError, match="refused"):
        open_remote(f"sc://127.0.0.1:{free_port()}")
