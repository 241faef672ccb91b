"""The official sample catalogs: all of them are read, and written back as they came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heraldry.dialects.dump import dump
from heraldry.dialects.load import load
from heraldry.errors import DialectError
from heraldry.model.inherit import definitions, materialize
from heraldry.model.schema_reference import Resolved, resolve_schema

DEFINITIONS = {
    "contoso-erp-jsons07": 17,
    "inkjet-proto3": 5,
    "lightbulb-avro": 4,
    "mqtt-sparkplugB": 10,
    "smartoven-xsd": 5,
    "vacuumcleaner-avro": 5,
    "watchkam-jsons07": 2,
    "waterboiler-mqtt5-jsons07": 2,
    "windgenerator-kafka-avro": 2,
}


@pytest.fixture(scope="module")
def samples(reference: Path) -> Path:
    return reference / "catalogs" / "xregistry-samples"


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in DEFINITIONS])
def test_a_sample_is_read_and_written_back(samples: Path, name: str) -> None:
    file = samples / f"{name}.xreg.json"
    catalog = load(file)
    written, given = json.loads(dump(catalog)), json.loads(file.read_bytes())
    assert json.dumps(written) == json.dumps(given)
    assert len(list(definitions(catalog))) == DEFINITIONS[name]


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in DEFINITIONS])
def test_every_schema_of_a_sample_is_found_unless_it_is_kept_elsewhere(
    samples: Path, name: str
) -> None:
    catalog = load(samples / f"{name}.xreg.json")
    for xid in definitions(catalog):
        found = resolve_schema(catalog, materialize(catalog, xid))
        assert isinstance(found, Resolved) or found.reason == "external", (xid, found)


def test_all_samples_are_one_catalog(samples: Path) -> None:
    catalog = load(*(samples / f"{name}.xreg.json" for name in DEFINITIONS))
    assert len(list(definitions(catalog))) == sum(DEFINITIONS.values())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("contoso-crm.cereg", id="json"),
        pytest.param("contoso-crm.cereg.yaml", id="yaml"),
    ],
)
def test_older_samples_are_named(samples: Path, name: str) -> None:
    with pytest.raises(DialectError, match="CloudEvents Registry"):
        load(samples / name)
