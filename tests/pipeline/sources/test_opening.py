"""Sources by their URL: each kind opens what it says, and wrong ones teach what would be right."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import HeraldryError, TransportError, UnknownEndpointError, UsageError
from heraldry.messages.source_url import SCHEMES, endpoint_of_url, filled_endpoint
from heraldry.model.catalog import Catalog
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources import kafka as kafka_source
from heraldry.pipeline.sources.files import FilesSource, refuse_own
from heraldry.pipeline.sources.intake import GUARANTEES as INTAKE
from heraldry.pipeline.sources.intake import IntakeSource
from heraldry.pipeline.sources.jetstream import JetStreamSource
from heraldry.pipeline.sources.kafka import CONNECTOR, KafkaSource
from heraldry.pipeline.sources.opening import is_jetstream, open_source, source_of
from heraldry.pipeline.sources.opening_options import goes_on
from heraldry.pipeline.sources.raw_log import RawLogSource
from heraldry.pipeline.sources.source import Source
from heraldry.pipeline.watching.lineage_events import places
from tests.conftest import ROOT

SHOP = load_bytes((ROOT / "examples" / "shop" / "shop.xreg.json").read_bytes(), "shop")
SETTINGS = LandSettings(source="", warehouse="lake")


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USERNAME", "PASSWORD", "TOKEN", "CA_FILE", "CERTIFICATE_FILE", "KEY_FILE"):
        monkeypatch.delenv(f"HERALDRY_{name}", raising=False)


def opened(url: str, folder: Path, catalog: Catalog = SHOP, **options: str) -> Source:
    settings = replace(SETTINGS, source_options=options)
    return open_source(url, catalog=catalog, settings=settings, checkpoint=str(folder / "_cp"))


def kafka(url: str = "kafka://broker:9092/orders", **options: str) -> KafkaSource:
    given = {name.replace("__", "."): value for name, value in options.items()}
    settings = replace(SETTINGS, source_options=given)
    return KafkaSource(endpoint_of_url(url), settings)


# --- which source a URL opens


@pytest.mark.parametrize(
    ("url", "kind", "name"),
    [
        ("mqtt://broker:1883/shops/#", IntakeSource, "mqtt://broker:1883/shops/#"),
        ("amqps://broker/orders", IntakeSource, "amqps://broker:5671/orders"),
        ("nats://server:4222/shop.>", IntakeSource, "nats://server:4222/shop.>"),
        ("kafka://broker:9092/orders", KafkaSource, "kafka://broker:9092/orders"),
        ("KAFKA://one:1,two:2/a,b", KafkaSource, "kafka://one:1/a,b"),
        ("endpoint:/endpoints/shop-kafka", KafkaSource, "kafka://localhost:9092/shop"),
        ("endpoint:shop-mqtt", IntakeSource, "mqtt://localhost:1883/shops/#"),
    ],
    ids=["mqtt", "amqps", "nats", "kafka", "several servers and topics", "xid", "bare id"],
)
def test_what_a_url_opens(url: str, kind: type, name: str, tmp_path: Path) -> None:
    source = opened(url, tmp_path)
    assert type(source) is kind
    assert source.name == name


def test_folders(tmp_path: Path) -> None:
    assert isinstance(opened(f"files:{tmp_path}", tmp_path), FilesSource)
    assert isinstance(opened(f"raw-log:{tmp_path}", tmp_path), RawLogSource)


def test_the_database_is_the_endpoint(tmp_path: Path) -> None:
    assert opened("endpoint:/endpoints/shop-kafka", tmp_path).database == "shop-kafka"
    assert opened("endpoint:/endpoints/shop-amqp", tmp_path).database == "shop-amqp"
    assert opened("kafka://broker:9092/orders", tmp_path).database is None


def test_spark_needs_the_connector_for_kafka_alone(tmp_path: Path) -> None:
    assert opened("kafka://broker:9092/orders", tmp_path).packages == (CONNECTOR,)
    assert CONNECTOR.startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:4.")
    assert opened("mqtt://broker/#", tmp_path).packages == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"stream": "ORDERS"}, True),
        ({"durable": "reader"}, True),
        ({"stream": "ORDERS", "jetstream": False}, False),
        ({"jetstream": "true"}, True),
    ],
    ids=["nothing", "stream", "durable", "told not to", "told to"],
)
def test_what_is_a_stream_is_told(options: dict[str, object], expected: bool) -> None:
    endpoint = endpoint_of_url("nats://server/shop.>")
    assert is_jetstream(replace(endpoint, options={**endpoint.options, **options})) is expected


def test_urls_of_streams() -> None:
    one = endpoint_of_url("nats+jetstream://server:4222/ORDERS?subject=shop.>")
    two = endpoint_of_url("nats://server:4222/shop.>?stream=ORDERS")
    assert one.options == two.options == {"stream": "ORDERS", "subjectfilter": "shop.>"}
    assert one.addresses == two.addresses == ("nats://server:4222",)
    assert is_jetstream(one)


def test_a_server_that_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(TransportError, match="is the server running"):
        opened("nats+jetstream://127.0.0.1:9/ORDERS", tmp_path)


# --- what is refused


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("orders.jsonl", "a source is files:DIR"),
        ("files:", "a source is files:DIR"),
        ("http://host/path", "a source is files:DIR"),
        ("kafka:broker/orders", "a source is files:DIR"),
        ("kafka://broker:9092", "names no topic: write it as kafka://broker:9092/orders"),
        ("kafka://broker:9092/", "names no topic"),
        ("kafka:///orders", "names no server"),
        ("kafka://broker:port/orders", "names no server"),
        ("kafka://broker:99999/orders", "names no server"),
        ("kafka://one,,two/orders", "names no server"),
        ("kafka://broker/ord ers", "Kafka does not allow"),
        ("kafka://broker/a,,b", "Kafka does not allow"),
        ("mqtt://one,two/#", "several servers"),
        ("mqtt://broker", "names no topic filter"),
        ("amqp://broker/", "names no address"),
        ("nats://server/shop..orders", "a subject that NATS does not allow"),
        ("nats://server/shop.>?durable=x", "durable, which is not known"),
        ("nats+jetstream://server/OR.DERS", "a stream that NATS does not allow"),
        ("endpoint:", "a source is files:DIR"),
        ("endpoint:shop-http", "heraldry intake"),
    ],
)
def test_urls_that_teach(url: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        opened(url, tmp_path)
    assert told in str(caught.value)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("path", ["orders", "", "a b"])
def test_a_password_in_a_url_is_refused_and_never_shown(
    scheme: str, path: str, tmp_path: Path
) -> None:
    for secret in ("ada:s3cret@", "ada:s3/cret@", "s3cret@"):
        with pytest.raises(UsageError) as caught:
            opened(f"{scheme}://{secret}broker:1/{path}", tmp_path)
        assert "cret" not in str(caught.value)
    with pytest.raises(HeraldryError) as other:
        opened(f"{scheme}://broker:0/{path}?password=s3cret", tmp_path)
    assert "s3cret" not in str(other.value)


@pytest.mark.parametrize("scheme", ["mqtt", "amqp", "nats"])
def test_what_is_taken_in_needs_a_disk(scheme: str) -> None:
    url = f"{scheme}://broker/orders"
    with pytest.raises(UsageError, match=r"on a disk of this machine.*--raw-log DIR"):
        open_source(url, catalog=SHOP, settings=SETTINGS, checkpoint="s3://lake/_checkpoint")


def test_an_endpoint_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownEndpointError, match="shop-kafka"):
        opened("endpoint:shop-kafkas", tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "files:{here}",
        "raw-log:{here}",
        "kafka://broker:9092/orders",
        "nats+jetstream://127.0.0.1:9/ORDERS",
        "endpoint:shop-kafka",
    ],
)
def test_a_raw_log_beside_what_can_be_read_again(url: str, tmp_path: Path) -> None:
    given = url.format(here=tmp_path)
    settings = replace(SETTINGS, source=given, raw_log=str(tmp_path / "log"))
    with pytest.raises(UsageError) as caught:
        open_source(given, catalog=SHOP, settings=settings, checkpoint=str(tmp_path / "_cp"))
    assert str(caught.value).startswith(f"{given} can be read again, and needs no raw log: ")


@pytest.mark.parametrize(
    "url", ["files:{here}", "raw-log:{here}", "kafka://broker:9092/orders", "endpoint:shop-kafka"]
)
def test_a_raw_log_for_those_that_need_one_is_passed_over(url: str, tmp_path: Path) -> None:
    """It may be told once for all jobs, by a variable or the file of settings."""
    given = url.format(here=tmp_path)
    told = replace(SETTINGS, source=given, raw_log=str(tmp_path / "log"), raw_log_if_needed=True)
    open_source(given, catalog=SHOP, settings=told, checkpoint=str(tmp_path / "_cp"))
    assert not (tmp_path / "log").exists()


def test_the_raw_log_that_is_the_source(tmp_path: Path) -> None:
    """One variable may name the log for `heraldry intake` and for the job that lands it."""
    url = f"raw-log:{tmp_path}/"
    settings = replace(SETTINGS, source=url, raw_log=str(tmp_path))
    source = open_source(url, catalog=SHOP, settings=settings, checkpoint=str(tmp_path / "_cp"))
    assert isinstance(source, RawLogSource)


@pytest.mark.parametrize(
    ("warehouse", "checkpoint", "told"),
    [
        ("{}", "elsewhere", "--to {} is in the folder that is read"),
        ("{}/below/lake", "elsewhere", "--to {}/below/lake is in the folder"),
        ("lake", "{}/cp", "--checkpoint {}/cp is in the folder"),
        ("{}/below/../../in/lake", "elsewhere", "is in the folder"),
        ("{}/out/lake", "elsewhere", "is in the folder"),
        ("{}/link/lake", "elsewhere", "is in the folder"),
        ("{}/_day=1/lake", "elsewhere", "is in the folder"),
        ("{}/_private/lake", "elsewhere", ""),
        ("{}/lake/../.lake", "elsewhere", ""),
        ("{}/..", "elsewhere", ""),
        ("{}-lake", "{}/../in-cp", ""),
    ],
    ids=[
        "itself",
        "below",
        "checkpoint",
        "detour",
        "link-out",
        "link-in",
        "partition",
        "private",
        "hidden",
        "above",
        "beside",
    ],
)
def test_a_job_that_would_read_what_it_writes_is_refused(
    tmp_path: Path, warehouse: str, checkpoint: str, told: str
) -> None:
    folder = tmp_path / "in"
    (folder / "_private").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "_private")
    (folder / "out").symlink_to(tmp_path)
    to, kept = warehouse.format(folder), checkpoint.format(folder)
    settings = replace(SETTINGS, warehouse=to)
    with pytest.raises(UsageError, match=told.format(folder)) if told else nullcontext():
        open_source(f"files:{folder}", catalog=SHOP, settings=settings, checkpoint=kept)


def test_a_folder_that_is_a_link_to_itself_is_none(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="there is no folder"):
        opened(f"files:{tmp_path}/loop", tmp_path)


@pytest.mark.parametrize(
    ("folder", "warehouse", "refused"),
    [
        ("s3://bucket/in", "s3://bucket/in/lake", True),
        ("s3://bucket/in/", "s3://bucket/in", True),
        ("s3://bucket/in", "s3://bucket/in/_lake", False),
        ("s3://bucket/in", "s3://bucket/inner", False),
        ("s3://bucket/in", "s3://other/in/lake", False),
        ("s3://bucket/in", "in/lake", False),
    ],
)
def test_a_job_on_object_storage_too(folder: str, warehouse: str, refused: bool) -> None:
    with pytest.raises(UsageError, match="would be messages again") if refused else nullcontext():
        refuse_own(folder, warehouse, "--to")


# --- endpoints


def test_placeholders_are_filled_and_not_seen_as_options(tmp_path: Path) -> None:
    document = json.loads((ROOT / "examples" / "shop" / "shop.xreg.json").read_text())
    document["endpoints"]["shop-kafka"]["protocoloptions"]["topic"] = "orders-{shop}"
    catalog = load_bytes(json.dumps(document).encode(), "shop")
    source = opened("endpoint:shop-kafka", tmp_path, catalog, shop="lisbon", starting="latest")
    assert source.name.endswith("/orders-lisbon")
    some = opened("endpoint:shop-kafka", tmp_path, catalog)
    assert isinstance(some, KafkaSource)
    assert some._options["subscribePattern"] == "orders-.+"
    assert some.name.endswith("/orders-{shop}")
    document["endpoints"]["shop-kafka"]["protocoloptions"] |= {"topic": "a, b", "partition": 3}
    both = opened("endpoint:shop-kafka", tmp_path, load_bytes(json.dumps(document).encode(), "s"))
    assert isinstance(both, KafkaSource)
    assert json.loads(both._options["assign"]) == {"a": [3], "b": [3]}
    assert [name for _, name in places(both.name)] == ["a", "b"]


def test_a_stream_without_a_name_and_a_subject(tmp_path: Path) -> None:
    """The server would give the first stream that it has."""
    endpoint = replace(endpoint_of_url("nats://127.0.0.1:9/a"), options={"durable": "reader"})
    with pytest.raises(UsageError, match="/endpoints/nats names no stream: add the option stream"):
        source_of(endpoint, SETTINGS, str(tmp_path))


def test_a_placeholder_without_a_value_stays() -> None:
    endpoint = endpoint_of_url("mqtt://broker/{a}/{b}")
    assert filled_endpoint(endpoint, {"a": "1"}).options["topicfilter"] == "{a}/{b}"
    assert filled_endpoint(endpoint, {"a": "1", "b": "x y"}).options["topicfilter"] == "1/x y"


# --- what Spark's connector is told


def test_how_kafka_is_read() -> None:
    assert kafka()._options == {
        "kafka.bootstrap.servers": "broker:9092",
        "kafka.security.protocol": "PLAINTEXT",
        "subscribe": "orders",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": "1000000",
        "startingOffsets": "earliest",
        "failOnDataLoss": "true",
        "groupIdPrefix": "heraldry",
        "kafka.isolation.level": "read_committed",
    }


def test_what_options_change() -> None:
    offsets = '{"orders":{"0":15}}'
    source = kafka(starting=offsets, partitions="8", group="readers", on_loss="continue")
    assert source._options["startingOffsets"] == offsets
    assert source._options["minPartitions"] == "8"
    assert source._options["kafka.group.id"] == "readers"
    assert source._options["failOnDataLoss"] == "false"
    assert "groupIdPrefix" not in source._options
    assert kafka(kafka__fetch__max__bytes="5")._options["kafka.fetch.max.bytes"] == "5"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("starting", "yesterday", "cannot start at"),
        ("starting", "[1]", "cannot start at"),
        ("partitions", "many", "an integer from 1"),
        ("partitions", "0", "an integer from 1"),
        ("on_loss", "weep", "fail or continue"),
        ("colour", "blue", "the source has no option 'colour'"),
        ("kafka.sasl.jaas.config", "x", "credentials in the environment"),
        ("kafka.ssl.key.password", "x", "credentials in the environment"),
        ("kafka.bootstrap.servers", "x", "servers stand in the URL"),
        ("security.protocol", "MAGIC", "use PLAINTEXT, SSL"),
    ],
)
def test_options_that_are_refused(name: str, value: str, told: str) -> None:
    with pytest.raises(HeraldryError) as caught:
        kafka(**{name.replace(".", "__"): value})
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, False), ({"on_loss": "fail"}, False), ({"on_loss": "continue"}, True)],
    ids=["nothing", "fail", "continue"],
)
def test_whether_a_job_goes_on(given: dict[str, str], expected: bool) -> None:
    assert goes_on(given) is expected


def test_a_loss_that_is_neither_is_refused() -> None:
    with pytest.raises(UsageError, match="on_loss is 'weep': write fail or continue"):
        goes_on({"on_loss": "weep"})


def test_one_partition() -> None:
    endpoint = endpoint_of_url("kafka://broker/orders")
    one = replace(endpoint, options={**endpoint.options, "partition": 3})
    assert KafkaSource(one, SETTINGS)._options["assign"] == '{"orders": [3]}'


def test_a_user_of_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERALDRY_KAFKA_USERNAME", "ada")
    monkeypatch.setenv("HERALDRY_PASSWORD", 'say "x\\y"')
    source = kafka(security__protocol="SASL_SSL", sasl__mechanism="SCRAM-SHA-512")
    login = source._options["kafka.sasl.jaas.config"]
    assert login.startswith("org.apache.kafka.common.security.scram.ScramLoginModule required ")
    assert login.endswith('username="ada" password="say \\"x\\\\y\\"";')
    assert source._options["kafka.sasl.mechanism"] == "SCRAM-SHA-512"
    assert "say" not in repr(source) + source.name


def test_a_user_of_kafka_that_is_not_named() -> None:
    with pytest.raises(TransportError, match="HERALDRY_USERNAME and HERALDRY_PASSWORD"):
        kafka(security__protocol="SASL_PLAINTEXT")
    with pytest.raises(TransportError, match="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"):
        kafka(security__protocol="SASL_PLAINTEXT", sasl__mechanism="OAUTHBEARER")


def test_certificates_travel_by_their_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CA_FILE", "CERTIFICATE_FILE", "KEY_FILE"):
        (tmp_path / name).write_text(f"the {name}")
        monkeypatch.setenv(f"HERALDRY_{name}", str(tmp_path / name))
    options = kafka(security__protocol="SSL")._options
    assert options["kafka.ssl.truststore.certificates"] == "the CA_FILE"
    assert options["kafka.ssl.truststore.type"] == "PEM"
    assert options["kafka.ssl.keystore.certificate.chain"] == "the CERTIFICATE_FILE"
    assert options["kafka.ssl.keystore.key"] == "the KEY_FILE"
    assert options["kafka.ssl.keystore.type"] == "PEM"
    (tmp_path / "KEY_FILE").unlink()
    with pytest.raises(TransportError, match="PEM file"):
        kafka(security__protocol="SSL")


# --- how far behind


def test_offsets_of_kafka_are_counted_by_partition() -> None:
    read, latest = {"a": {"0": 5, "1": 7}}, {"a": {"0": 9, "1": 7}, "b": {"0": 3}}
    assert kafka_source._behind(read, latest) == 4


# --- what sources promise


def test_the_page_says_what_the_classes_say(tmp_path: Path) -> None:
    """docs/explain/guarantees.md holds the table of the classes; this prints the right one."""
    files = opened(f"files:{tmp_path}", tmp_path)
    known = {
        "`files:DIR`": files.guarantee,
        "`kafka://`": KafkaSource.guarantee,
        "`nats+jetstream://`": JetStreamSource.guarantee,
        "`mqtt://`": INTAKE["MQTT"],
        "`amqp://`": INTAKE["AMQP"],
        "`nats://`": INTAKE["NATS"],
        "HTTP, by `heraldry intake`": INTAKE["HTTP"],
        "`raw-log:DIR`": RawLogSource.guarantee,
    }
    rows = []
    for name, one in known.items():
        cells = (name, _word(one.replayable), _word(one.repeats), one.ordered, one.identity)
        rows.append(f"| {' | '.join(cells)} |")
    page = (ROOT / "docs" / "explain" / "guarantees.md").read_text()
    head = "| source | replayable | repeats | ordered | place |\n|---|---|---|---|---|\n"
    assert head + "\n".join(rows) + "\n" in page, "\n" + head + "\n".join(rows)


def _word(value: bool) -> str:
    return "yes" if value else "no"
