"""What only shows when messages are built and matched is found beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import heraldry
from heraldry.dialects.load import load_bytes
from heraldry.messages import lint
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.lint_rules import RUN_TIME_RULES
from tests.messages.airport import CHECKED_IN, airport, catalog_of, xid


def found(**messages: Any) -> list[tuple[str, str, str]]:
    return [(one.location, one.rule, one.severity) for one in catalog_of(**messages).check()]


@pytest.mark.parametrize(
    ("changes", "member", "rule", "severity"),
    [
        pytest.param(
            {"dataschema": None, "dataschemauri": "/schemagroups/g/schemas/s"},
            "/dataschemauri",
            "schema-dangling",
            "warning",
            id="dangling",
        ),
        pytest.param(
            {"dataschema": None, "dataschemauri": "https://example.com/s.json"},
            "/dataschemauri",
            "schema-external",
            "warning",
            id="external",
        ),
        pytest.param(
            {"dataschemaformat": "JSONSchema/draft-99"},
            "/dataschema",
            "schema-draft",
            "warning",
            id="unknown draft",
        ),
        pytest.param(
            {"dataschema": {"type": 5}}, "/dataschema", "schema-invalid", "error", id="invalid"
        ),
        pytest.param(
            {"dataschemaformat": "Thrift/0.20", "dataschema": {"type": "string"}},
            "/dataschema",
            "schema-unsupported",
            "info",
            id="unsupported",
        ),
        pytest.param(
            {"protocol": "COAP/1.0", "protocoloptions": {}},
            "/protocol",
            "protocol-unsupported",
            "warning",
            id="protocol",
        ),
        pytest.param(
            {"envelope": "SOAP/1.2", "envelopemetadata": {}},
            "/envelope",
            "envelope-unknown",
            "warning",
            id="envelope",
        ),
        pytest.param(
            {"basemessage": xid("nowhere")}, "/basemessage", "base-dangling", "info", id="base"
        ),
        pytest.param(
            {"envelopemetadata": {"type": {"value": "a{", "type": "uritemplate"}}},
            "",
            "template-invalid",
            "error",
            id="template",
        ),
    ],
)
def test_findings_of_the_run_time(
    changes: dict[str, Any], member: str, rule: str, severity: str
) -> None:
    declared = {name: one for name, one in {**CHECKED_IN, **changes}.items() if one is not None}
    assert (xid("odd") + member, rule, severity) in found(odd=declared)


def test_a_circle_is_told_once_for_each_message() -> None:
    one, two = {"basemessage": xid("two")}, {"basemessage": xid("one")}
    circles = [place for place, rule, _ in found(one=one, two=two) if rule in ("circular", "M18")]
    assert circles == [f"{xid('one')}/basemessage", f"{xid('two')}/basemessage"]


def test_the_airport_is_clean() -> None:
    assert [one for one in airport().check() if one.severity == "error"] == []


def test_findings_name_their_file() -> None:
    catalog = catalog_of(odd={"protocol": "COAP/1.0", "protocoloptions": {}})
    assert {one.file for one in catalog.check()} == {"luggage.json"}


def test_real_catalogs_have_no_errors_of_the_run_time(reference: Path) -> None:
    folder = reference / "catalogs" / "xregistry-samples"
    for path in sorted(folder.glob("*.xreg.json")):
        rules = {one.rule for one in heraldry.open(path).check() if one.severity == "error"}
        assert not {rule for rule in rules if "-" in rule}, path.name


def test_every_version_of_a_schema_is_compiled(tmp_path: Path) -> None:
    """Also one that no message uses; a document of several parts is fine."""
    good, bad = {"versionid": "1", "schema": {}}, {"versionid": "2", "schema": {"type": 5}}
    schemas: dict[str, Any] = {
        "used": {"versions": {"1": good, "2": bad}},
        "flat": {"format": "Avro/1.12", "schema": {"type": "record"}},
        "parts": {"format": "Protobuf/3", "schema": "message A {} message B {}"},
        "other": {"format": "Thrift/0.20", "schema": "struct A {"},
    }
    for id_, schema in schemas.items():
        schema["schemaid"] = id_
        for version in schema.get("versions", {}).values():
            version["format"] = "JSONSchema/draft-07"
    group = {"schemagroupid": "g", "schemas": schemas}
    path = tmp_path / "c.xreg.json"
    path.write_text(json.dumps({"specversion": "1.0-rc2", "schemagroups": {"g": group}}))
    findings = [one for one in heraldry.open(path).check() if one.rule.startswith("schema-")]
    assert [(one.location, one.rule, one.severity) for one in findings] == [
        ("/schemagroups/g/schemas/used/versions/2/schema", "schema-document", "error"),
        ("/schemagroups/g/schemas/flat/schema", "schema-document", "error"),
    ]


def test_every_rule_of_the_run_time_has_a_sentence() -> None:
    source = "".join(path.read_text() for path in Path(lint.__file__).parent.glob("lint*.py"))
    states = {f"schema-{state}" for state in lint._SCHEMA}
    assert states | set(lint._UNUSABLE) <= set(RUN_TIME_RULES)
    unused = [rule for rule in RUN_TIME_RULES if source.count(f'"{rule}"') < 2]
    assert set(unused) <= states | {"document"}


ODD = [pytest.param(one, id=str(one)) for one in ({}, {"a": 1}, [], [1], 5, True, None, "")]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("protocol", id="protocol"),
        pytest.param("envelope", id="envelope"),
        pytest.param("basemessage", id="base message"),
        pytest.param("protocoloptions", id="options"),
        pytest.param("protocoloptions/subject", id="property"),
        pytest.param("protocoloptions/subject/type", id="type"),
        pytest.param("protocoloptions/subject/value", id="value"),
        pytest.param("protocoloptions/headers", id="headers"),
    ],
)
def test_whatever_a_document_holds_is_found_and_never_raised(place: str, odd: Any) -> None:
    """The same for messages and for endpoints, whose options have the same names here."""
    own: dict[str, Any] = {
        "usage": ["producer"],
        "protocol": "NATS",
        "protocoloptions": {"subject": {"value": "a"}},
    }
    *path, last = place.split("/")
    inner = own
    for name in path:
        inner = inner[name]
    inner[last] = odd
    document = {"endpoints": {"e": {**own, "messages": {"m": own}}}}
    catalog = MessageCatalog(load_bytes(json.dumps(document).encode(), "odd.json"))
    assert all(one.message for one in catalog.check())
    assert [one.xid for one in catalog.endpoint("e")] in ([], ["/endpoints/e/messages/m"])
