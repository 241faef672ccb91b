"""The built-in model of messages, endpoints and schemas."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.model_names import canonical_source, wire_source
from heraldry.dialects.xreg_1_0.wire import RC2, RC4
from heraldry.errors import UsageError
from heraldry.model.metamodel import Model
from heraldry.model.model_reading import read_model
from heraldry.registry.models import NAMES, builtin_model
from tests.registry.asking import ask, registry

SAMPLES = (
    "contoso-erp-jsons07",
    "inkjet-proto3",
    "lightbulb-avro",
    "mqtt-sparkplugB",
    "smartoven-xsd",
    "vacuumcleaner-avro",
    "watchkam-jsons07",
    "waterboiler-mqtt5-jsons07",
    "windgenerator-kafka-avro",
)
OFFICIAL = "https://xregistry.io/xreg/domains/{}/specs/model.json"
ALIKE = ("createdat", "modifiedat", "epoch")


def model() -> Model:
    """The model, complete."""
    return read_model(canonical_source(builtin_model("messaging"), RC4))


def test_there_is_a_model_for_every_name() -> None:
    assert NAMES == ("messaging", "none")
    assert builtin_model("none") == {}
    with pytest.raises(UsageError, match="messaging"):
        builtin_model("shopping")


def test_the_types_are_those_of_the_specifications() -> None:
    found = {
        (group.plural, group.singular): [(r.plural, r.singular) for r in group.resources.values()]
        for group in model().groups.values()
    }
    assert found == {
        ("messagegroups", "messagegroup"): [("messages", "message")],
        ("endpoints", "endpoint"): [("messages", "message")],
        ("schemagroups", "schemagroup"): [("schemas", "schema")],
    }
    told = {group.plural: group.about.modelcompatiblewith for group in model().groups.values()}
    assert told == {
        "messagegroups": OFFICIAL.format("message"),
        "endpoints": OFFICIAL.format("endpoint"),
        "schemagroups": OFFICIAL.format("schema"),
    }


def test_messages_have_history_and_no_document_and_schemas_are_checked() -> None:
    groups = model().groups
    messages = groups["messagegroups"].resources["messages"]
    assert (messages.hasdocument, messages.maxversions) == (False, 0)
    assert groups["endpoints"].imported == {"messages": "/messagegroups/messages"}
    schemas = groups["schemagroups"].resources["schemas"]
    assert (schemas.hasdocument, schemas.strictvalidation) == (True, False)
    assert (schemas.validateformat, schemas.validatecompatibility) == (True, True)
    assert schemas.attributes["format"].matchversions


def aspects(value: Any) -> set[str]:
    """The names of all members of a source."""
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(aspects(one) for one in value.values()))


def test_nothing_is_refused_for_being_unknown_and_nothing_is_added() -> None:
    whole = model()
    levels = [whole.attributes]
    for group in whole.groups.values():
        levels.append(group.attributes)
        for resource in group.resources.values():
            levels += [resource.attributes, resource.metaattributes]
    assert all(attributes["*"].type == "any" for attributes in levels)
    assert aspects(builtin_model("messaging")).isdisjoint({"required", "default", "ifvalues"})


def test_the_model_can_be_told_in_rc2() -> None:
    older = canonical_source(wire_source(builtin_model("messaging"), RC4, RC2), RC2)
    schemas = read_model(older).groups["schemagroups"].resources["schemas"]
    assert schemas.attributes["format"].matchversions


def without_times(value: Any) -> Any:
    """A document without what each registry says for itself."""
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if name not in ALIKE}
    return value


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.covers("VW-02")
def test_the_official_samples_are_imported_without_loss(name: str, reference: Path) -> None:
    file = reference / "catalogs/xregistry-samples" / f"{name}.xreg.json"
    sample = json.loads(file.read_text("utf-8"))
    first, second = registry("messaging"), registry("messaging")
    ask(first, "post", "/", sample)
    exported = ask(first, "get", "/export")
    for plural, groups in sample.items():
        for id_, group in groups.items():
            assert_kept(group, exported[plural][id_])
    ask(second, "put", "/", exported, ignore=("epoch",))
    assert without_times(ask(second, "get", "/export")) == without_times(exported)


def readable(version: dict[str, Any]) -> dict[str, Any]:
    """A schema version with its text: given without a content type, it is no JSON (DO-04, KD-4)."""
    if "schemabase64" in version:
        return version | {"schema": base64.b64decode(version["schemabase64"]).decode()}
    return version


def assert_kept(group: dict[str, Any], stored: dict[str, Any]) -> None:
    """Every member of a group, of its messages and of the versions of its schemas is there."""
    for name, value in group.items():
        if name == "messages":
            for id_, message in value.items():
                kept = stored["messages"][id_]
                default = kept["versions"][kept["meta"]["defaultversionid"]]
                assert default | message == default
        elif name == "schemas":
            for id_, schema in value.items():
                for version, given in schema["versions"].items():
                    kept = readable(stored["schemas"][id_]["versions"][version])
                    assert kept | given == kept
        else:
            assert stored[name] == value
