"""What a job says of the servers of an endpoint of Kafka counts more than what a catalog says."""

from __future__ import annotations

import json

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UsageError
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.kafka import KafkaSource
from heraldry.pipeline.sources.opening import open_source
from heraldry.pipeline.sources.source import Source
from tests.conftest import ROOT


def opened(name: str, folder: str, **options: str) -> Source:
    """An endpoint of the shop, whose Kafka has two servers that want TLS."""
    document = json.loads((ROOT / "examples" / "shop" / "shop.xreg.json").read_text())
    servers = {"bootstrap.servers": ["one:1", "two:2"], "security.protocol": "SSL"}
    document["endpoints"]["shop-kafka"]["protocoloptions"]["endpoints"] = [servers]
    catalog = load_bytes(json.dumps(document).encode(), "shop")
    settings = LandSettings(source="", warehouse="lake", source_options=options)
    url = f"endpoint:{name}"
    return open_source(url, catalog=catalog, settings=settings, checkpoint=folder)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({}, {"security.protocol": "SSL"}, id="the-catalog"),
        pytest.param(
            {"security.protocol": "PLAINTEXT"}, {"security.protocol": "PLAINTEXT"}, id="another"
        ),
        pytest.param(
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256"},
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256"},
            id="a-user",
        ),
    ],
)
def test_what_is_said_of_servers(tmp_path, monkeypatch, given, told):
    monkeypatch.setenv("HERALDRY_USERNAME", "ada")
    monkeypatch.setenv("HERALDRY_PASSWORD", "s3cret")
    source = opened("shop-kafka", str(tmp_path / "cp"), **given)
    assert isinstance(source, KafkaSource)
    options = source._options
    assert {name: options[f"kafka.{name}"] for name in told} == told
    assert options["kafka.bootstrap.servers"] == "one:1,two:2"


def test_servers_of_another_protocol_have_no_such_option(tmp_path):
    with pytest.raises(UsageError, match=r"no option 'security\.protocol'"):
        opened("shop-mqtt", str(tmp_path / "cp"), **{"security.protocol": "SSL"})
