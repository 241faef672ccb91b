"""A source that is away is told before Spark starts, and the run is told as failed."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from heraldry.errors import TransportError
from heraldry.pipeline import job
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.opening import open_source
from heraldry.pipeline.watching.lineage import Lineage
from tests.pipeline.sources.test_opening import SHOP


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param("kafka", id="kafka"),
        pytest.param("mqtt", id="mqtt"),
        pytest.param("nats", id="nats"),
        pytest.param("amqp", marks=pytest.mark.amqp, id="amqp"),
    ],
)
def test_a_broker_that_is_away(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "open_session", lambda *_, **__: pytest.fail("Spark was started"))
    lineage = tmp_path / "lineage.jsonl"
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = LandSettings(source=f"{scheme}://{place}/orders", warehouse=f"{tmp_path}/lake")
        with pytest.raises(TransportError) as away:
            job.land(SHOP, settings, [Lineage(str(lineage), tell=pytest.fail)])
    assert place in str(away.value)
    events = [json.loads(line) for line in lineage.read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "FAIL"]
    told = events[-1]["run"]["facets"]["errorMessage"]["message"]
    assert place in told


def test_the_second_broker_of_kafka_will_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ports = (taken.getsockname()[1], server.getsockname()[1])
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        settings = LandSettings(source=f"kafka://{hosts}/orders", warehouse=f"{tmp_path}/lake")
        source = open_source(
            settings.source, catalog=SHOP, settings=settings, checkpoint=f"{tmp_path}/progress"
        )
        with source.open():
            pass
