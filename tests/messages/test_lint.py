"""What only shows when messages are built and matched is found beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import heraldry
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
            {"dataschema": {"type": 5}}, "/dataschema", "schema-invalid", "error", id="invalid"
        ),
        pytest.param(
            {"dataschemaformat": "Avro/1.11", "dataschema": {"type": "string"}},
            "/dataschema",
            "schema-unsupported",
            "info",
            id="unsupported",
        ),
        pytest.param(
            {"protocol": "AMQP/1.0", "protocoloptions": {}},
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
            {"envelopemetadata": {"type": {"value": "a{"}}},
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
    catalog = catalog_of(odd={"protocol": "AMQP/1.0", "protocoloptions": {}})
    assert {one.file for one in catalog.check()} == {"luggage.json"}


def test_real_catalogs_have_no_errors_of_the_run_time(reference: Path) -> None:
    folder = reference / "catalogs" / "xregistry-samples"
    for path in sorted(folder.glob("*.xreg.json")):
        rules = {one.rule for one in heraldry.open(path).check() if one.severity == "error"}
        assert not {rule for rule in rules if "-" in rule}, path.name
