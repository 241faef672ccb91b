"""Every definition of an endpoint, published twice by a real server, and landed by identity."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nats
import pytest

import heraldry
from heraldry.messages.line import read
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from tests.conftest import ROOT
from tests.live.landing_kills import Landing
from tests.live.servers.kafka import create_topic
from tests.live.servers.server import Server
from tests.live.test_landing_kafka import connector

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

SHOP = ROOT / "examples" / "shop"
COUNT = 5
"""How often each definition is published, and all of them once more."""


@dataclass(frozen=True)
class Case:
    """An endpoint with its server, and how often each of its messages then lands."""

    endpoint: str
    server: str
    events: int
    natives: int


CASES = [
    # What repeats is told by an identity: the message-id, but a publish of MQTT has none.
    Case("shop-amqp", "rabbitmq", events=1, natives=1),
    Case("shop-mqtt", "mosquitto", events=1, natives=2),
    # Each record and each message of a stream is one for itself.
    Case("shop-kafka", "kafka", events=2, natives=2),
    Case("shop-nats", "nats", events=2, natives=2),
]


def catalog_at(folder: Path, address: str) -> Path:
    """The shop's catalog with its servers at an address, and places of its own there."""
    document = json.loads((SHOP / "shop.xreg.json").read_text())
    for endpoint in document["endpoints"].values():
        options = endpoint["protocoloptions"]
        place = {"bootstrap.servers": [address]} if "topic" in options else {"uri": address}
        options["endpoints"] = [{"uri": address} if endpoint["protocol"] != "KAFKA" else place]
    own = document["endpoints"]
    own["shop-amqp"]["protocoloptions"]["node"] = "/queue/landed"
    own["shop-kafka"]["protocoloptions"]["topic"] = "landed"
    own["shop-nats"]["protocoloptions"]["stream"] = "LANDED"
    file = folder / "shop.xreg.json"
    file.write_text(json.dumps(document))
    return file


def stream(address: str) -> None:
    """A stream that keeps what the shop publishes."""

    async def run() -> None:
        connection = await nats.connect(address)
        await connection.jetstream().add_stream(name="LANDED", subjects=["shop.>"])
        await connection.close()

    asyncio.run(run())


def published(catalog: Path, endpoint: str) -> list[bytes]:
    """Samples of all definitions; the same ones at every call."""
    command = [sys.executable, "-m", "heraldry", "publish", "--catalog", str(catalog)]
    options = ["--endpoint", endpoint, "--sample", "--seed", "7", "--count", str(COUNT)]
    done = subprocess.run(
        [*command, *options, "--format", "json"], capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines()


def expected(lines: Iterable[bytes], case: Case) -> Counter[str]:
    """What the tables hold in the end: definition, placeholders and payload of each row."""
    shop = heraldry.open(SHOP)
    found: Counter[str] = Counter()
    for line in lines:
        message = read(line)
        match = shop.match(message)
        assert match.definition is not None
        payload = json.loads(message.payload or b"null")
        values = {f"ctx_{name}": value for name, value in match.values.items()}
        times = case.events if message.envelope else case.natives
        found[told(str(match.definition.xid), payload | values)] += times
    return found


def told(definition: str, values: Mapping[str, Any]) -> str:
    given = {name: value for name, value in sorted(values.items()) if value is not None}
    return f"{definition} {json.dumps(given)}"


def landed(lake: Path) -> Counter[str]:
    """The rows of all tables: definition, placeholders and payload of each."""
    found: Counter[str] = Counter()
    for info in tables(str(lake)):
        table = delta.open_table(Storage(info.path), "")
        assert table is not None
        names = [name for name, _ in info.columns if not name.startswith(("_", "ce_"))]
        for row in delta.table_rows(Storage.open(str(lake)), table, names).to_pylist():
            found[told(info.definition, row)] += 1
    return found


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id=one.endpoint, marks=pytest.mark.xdist_group(one.server))
        for one in CASES
    ],
)
def test_what_an_endpoint_says_is_landed_by_its_identity(
    case: Case, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server: Server = request.getfixturevalue(case.server)
    address = server.address
    catalog = catalog_at(tmp_path, address)
    landing = Landing(
        folder=tmp_path,
        source=f"endpoint:{case.endpoint}",
        environment={"HERALDRY_SPARK_JARS": connector()} if case.server == "kafka" else {},
        catalog=catalog,
    )
    if case.server == "mosquitto":
        landing.drain()  # the broker keeps nothing for whom it does not know
    if case.server == "nats":
        stream(address)
    if case.server == "kafka":
        create_topic(server, "landed", 2)
    sent = published(catalog, case.endpoint)
    assert published(catalog, case.endpoint) == sent
    report = landing.drain()
    wanted = expected(sent, case)
    assert landed(landing.lake) == wanted
    assert len(sent) == 3 * COUNT
    assert (report["read"], report["landed"], report["dead"]) == (6 * COUNT, wanted.total(), 0)
    assert report["repeated"] == 6 * COUNT - wanted.total()
