"""Real catalogs: what a definition builds, the same definition recognises, on every protocol."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heraldry
from heraldry.messages.catalog import MessageCatalog, MessageDefinition
from heraldry.messages.verdict import Match
from tests.messages.wires import PROTOCOLS

CATALOGS = [
    "contoso-erp-jsons07",
    "inkjet-proto3",
    "lightbulb-avro",
    "mqtt-sparkplugB",
    "smartoven-xsd",
    "vacuumcleaner-avro",
    "watchkam-jsons07",
    "waterboiler-mqtt5-jsons07",
    "windgenerator-kafka-avro",
]
EXTERNAL = {
    f"/messagegroups/Eclipse.SparkplugB.{name}"
    for name in (
        "EdgeNode/messages/NBIRTH",
        "EdgeNode/messages/NDATA",
        "EdgeNode/messages/NDEATH",
        "Device/messages/DBIRTH",
        "Device/messages/DDATA",
        "Device/messages/DDEATH",
        "EdgeNodeCommands/messages/NCMD",
        "DeviceCommands/messages/DCMD",
    )
}
"""Definitions whose schema is a document elsewhere: their payload is carried raw."""

NEVER: dict[str, tuple[str, str]] = {}
"""Definitions that no message can be of, with the reason: these catalogs have none."""

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
each = pytest.mark.parametrize("name", CATALOGS)


@cache
def opened(reference: Path, name: str) -> MessageCatalog:
    return heraldry.open(reference / "catalogs" / "xregistry-samples" / f"{name}.xreg.json")


@pytest.fixture
def catalog(reference: Path, name: str) -> MessageCatalog:
    return opened(reference, name)


def given_values(definition: MessageDefinition, seed: int) -> dict[str, str]:
    return {name: f"{name} {seed}/ü" for name in definition.placeholders}


def recognised(
    catalog: MessageCatalog, definition: MessageDefinition, raw: Any, values: dict[str, str]
) -> None:
    result = catalog.match(raw)
    assert isinstance(result, Match), (definition.xid, result)
    assert (str(result.definition.xid), result.values) == (definition.xid, values)


def test_every_catalog_is_tried(reference: Path) -> None:
    found = {path.name for path in (reference / "catalogs").rglob("*.xreg.json")}
    assert found == {f"{name}.xreg.json" for name in CATALOGS}


@each
def test_what_cannot_be_used_is_known_by_name(catalog: MessageCatalog) -> None:
    reasons = {one.xid: one.compiled.unusable for one in catalog if one.compiled.unusable}
    assert reasons == {xid: reason for xid, reason in NEVER.items() if xid in catalog}
    raw = {one.xid: one.compiled.schema_state for one in catalog}
    assert {xid: state for xid, state in raw.items() if state != "usable"} == {
        xid: "external" for xid in EXTERNAL if xid in catalog
    }


@each
@pytest.mark.parametrize("seed", range(5), ids="seed {}".format)
def test_samples_come_back(catalog: MessageCatalog, seed: int) -> None:
    assert len(catalog) > 0
    for definition in catalog:
        values = given_values(definition, seed)
        message = definition.sample(seed=seed, values=values)
        assert message.payload is not None
        recognised(catalog, definition, message, values)
        recognised(catalog, definition, message.line(), values)


@each
def test_any_payload_fits_a_schema_that_is_elsewhere(catalog: MessageCatalog) -> None:
    for definition in catalog:
        if definition.xid in EXTERNAL:
            values = given_values(definition, 0)
            message = definition.build(b"\x00\xff", values=values)
            assert message.payload == b"\x00\xff"
            recognised(catalog, definition, message.as_mqtt("3.1.1"), values)


@each
@pytest.mark.parametrize(
    ("protocol", "mode"),
    [
        pytest.param(protocol, mode, id=f"{protocol} {mode}")
        for protocol in PROTOCOLS
        for mode in ("binary", "structured")
        if (protocol, mode) != ("MQTT/3.1.1", "binary")
    ],
)
def test_events_come_back_on_every_protocol(
    catalog: MessageCatalog, protocol: str, mode: Any
) -> None:
    for definition in catalog:
        if definition.definition.protocol is None:
            values = given_values(definition, 1)
            message = definition.sample(seed=1, values=values, protocol=protocol, mode=mode)
            assert message.protocol == protocol
            recognised(catalog, definition, message.line(), values)


@each
@given(data=st.data())
@settings(max_examples=50)
def test_any_values_come_back(reference: Path, name: str, data: st.DataObject) -> None:
    catalog = opened(reference, name)
    definition = data.draw(st.sampled_from(list(catalog)))
    values = {one: data.draw(TEXT, label=one) for one in definition.placeholders}
    recognised(catalog, definition, definition.sample(values=values).line(), values)
