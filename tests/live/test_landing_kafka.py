"""Landing from a real Kafka broker by Spark's connector: killed, guarded, from the catalog."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from heraldry.messages.message import Message
from heraldry.messages.protocols import kafka as protocol
from tests.conftest import ROOT
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.kafka import PASSWORD, USERNAME, KafkaServer, create_topic

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1200)]


def connector() -> str:
    """The folder with the jars of Spark's connector, or a skip."""
    home = Path(os.environ.get("HERALDRY_KAFKA_HOME") or ROOT / "build" / "kafka")
    if not (home / "connector.xml").exists():
        pytest.skip(f"no Kafka connector in {home}: scripts/install-jars")
    return str(home / "connector")


def produce(server: KafkaServer, topic: str, messages: Sequence[Message]) -> None:
    """Send records quickly, and wait until the broker has them all."""
    producer = Producer({"bootstrap.servers": f"{server.host}:{server.port}", "linger.ms": 20})
    failures: list[object] = []
    for number, message in enumerate(messages):
        record = protocol.encode(message)
        producer.produce(
            topic,
            value=record.value,
            key=b"%d" % number,
            headers=list(record.headers),
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0
    assert not failures


def landing(folder: Path, source: str, *options: str, **environment: str) -> Landing:
    own = {"HERALDRY_SPARK_JARS": connector(), **environment}
    return Landing(folder=folder, source=source, options=options, environment=own)


def url(server: KafkaServer, *topics: str) -> str:
    return f"kafka://{server.host}:{server.port}/{','.join(topics)}"


def check_kills(server: KafkaServer, folder: Path, kills: int) -> None:
    topic = create_topic(server, f"kills-{kills}", 3)
    job = landing(folder, url(server, topic))
    killed_landings(job, lambda messages: produce(server, topic, messages), kills=kills)


def test_killed_three_times(kafka: KafkaServer, tmp_path: Path) -> None:
    check_kills(kafka, tmp_path, 3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_killed_twenty_times(kafka: KafkaServer, tmp_path: Path) -> None:
    check_kills(kafka, tmp_path, 20)


def test_a_user_with_a_password_that_is_written_nowhere(kafka: KafkaServer, tmp_path: Path) -> None:
    topic = create_topic(kafka, "guarded", 2)
    produce(kafka, topic, shop_messages(100))
    job = landing(
        tmp_path,
        f"kafka://{kafka.sasl}/{topic}",
        *("--source-option", "security.protocol=SASL_PLAINTEXT"),
        *("--source-option", "sasl.mechanism=SCRAM-SHA-256"),
        HERALDRY_USERNAME=USERNAME,
        HERALDRY_PASSWORD=PASSWORD,
    )
    report = job.drain()
    assert (report["read"], report["dead"]) == (100, 10)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]


def test_records_of_a_transaction_that_was_aborted_never_land(
    kafka: KafkaServer, tmp_path: Path
) -> None:
    topic = create_topic(kafka, "transactions", 1)
    own = {"bootstrap.servers": f"{kafka.host}:{kafka.port}", "transactional.id": "orders"}
    producer = Producer(own)
    producer.init_transactions(60)
    messages = shop_messages(90)
    for begin in range(0, 90, 10):
        producer.begin_transaction()
        for message in messages[begin : begin + 10]:
            record = protocol.encode(message)
            producer.produce(topic, value=record.value, headers=list(record.headers))
        producer.flush(60)
        (producer.commit_transaction if begin % 30 else producer.abort_transaction)()
    job = landing(tmp_path, url(kafka, topic))
    assert job.drain()["read"] == 60
    assert job.found() == {f"m-{n}": 1 for n in range(90) if n % 30 >= 10}


def test_an_endpoint_of_the_catalog(kafka: KafkaServer, tmp_path: Path) -> None:
    topic = create_topic(kafka, "orders-of-the-catalog", 1)
    produce(kafka, topic, shop_messages(50))
    document = json.loads((ROOT / "examples" / "shop" / "shop.xreg.json").read_text())
    options = document["endpoints"]["shop-kafka"]["protocoloptions"]
    options["endpoints"] = [{"bootstrap.servers": [f"{kafka.host}:{kafka.port}"]}]
    options["topic"] = "orders-of-the-{what}"
    catalog = tmp_path / "shop.xreg.json"
    catalog.write_text(json.dumps(document))
    job = landing(tmp_path, "endpoint:/endpoints/shop-kafka", "--source-option", "what=catalog")
    job = replace(job, catalog=catalog)
    report = job.drain()
    assert report["read"] == 50
    assert (job.lake / "shop-kafka" / "shop.orders").is_dir()


def test_the_lag_is_what_a_batch_leaves(kafka: KafkaServer, tmp_path: Path) -> None:
    topic = create_topic(kafka, "lag", 1)
    produce(kafka, topic, shop_messages(50))
    job = landing(tmp_path, url(kafka, topic), "--max-per-batch", "20")
    job.drain()
    assert job.lags() == [30, 10, 0]
