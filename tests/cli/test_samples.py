"""What `check` says of the specification's nine samples; every finding is looked up in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from heraldry.cli import main

Found = tuple[str, str, str]
Pinned = Mapping[str, tuple[tuple[str, str, str, tuple[str, ...]], ...]]

FINDINGS: Pinned = {
    "contoso-erp-jsons07": (
        (
            "info",
            "R92",
            "/endpoints/Contoso.ERP.",
            ("QueueProducer/protocoloptions/distribution_mode",),
        ),
        (
            "warning",
            "R84",
            "/endpoints/Contoso.ERP.",
            ("KafkaProducer/endpoints/0/uri", "KafkaConsumer/endpoints/0/uri"),
        ),
    ),
    "inkjet-proto3": (),
    "lightbulb-avro": (),
    "mqtt-sparkplugB": (
        (
            "warning",
            "schema-external",
            "/messagegroups/Eclipse.SparkplugB.",
            (
                "EdgeNode/messages/NBIRTH/dataschemauri",
                "EdgeNode/messages/NDATA/dataschemauri",
                "EdgeNode/messages/NDEATH/dataschemauri",
                "Device/messages/DBIRTH/dataschemauri",
                "Device/messages/DDEATH/dataschemauri",
                "Device/messages/DDATA/dataschemauri",
                "EdgeNodeCommands/messages/NCMD/dataschemauri",
                "DeviceCommands/messages/DCMD/dataschemauri",
            ),
        ),
        (
            "info",
            "overlap-payload",
            "/messagegroups/Eclipse.SparkplugB.",
            ("HostApplicationState/messages/STATE.Birth",),
        ),
    ),
    "smartoven-xsd": (),
    "vacuumcleaner-avro": (),
    "watchkam-jsons07": (),
    "waterboiler-mqtt5-jsons07": (),
    "windgenerator-kafka-avro": (),
}
"""By file: severity, rule, and the places where the finding stands."""


def pinned(sample: str) -> list[Found]:
    return [
        (f"{start}{name}", rule, severity)
        for severity, rule, start, names in FINDINGS[sample]
        for name in names
    ]


def checked(*paths: Path) -> tuple[int, list[dict[str, str]]]:
    result = CliRunner().invoke(main, ["check", "-o", "json", *map(str, paths)])
    return result.exit_code, json.loads(result.stdout)


def path_of(reference: Path, sample: str) -> Path:
    return reference / "catalogs" / "xregistry-samples" / f"{sample}.xreg.json"


@pytest.mark.parametrize("sample", FINDINGS, ids=list(FINDINGS))
def test_findings_of_a_sample(sample: str, reference: Path) -> None:
    path = path_of(reference, sample)
    code, findings = checked(path)
    assert [(f["location"], f["rule"], f["severity"]) for f in findings] == pinned(sample)
    assert {finding["file"] for finding in findings} <= {str(path)}
    assert code == 0


def test_all_samples_together_say_the_same(reference: Path) -> None:
    code, findings = checked(*(path_of(reference, sample) for sample in FINDINGS))
    found = [(f["file"], f["location"], f["rule"], f["severity"]) for f in findings]
    expected = [
        (str(path_of(reference, sample)), *finding)
        for sample in FINDINGS
        for finding in pinned(sample)
    ]
    assert (code, found) == (0, expected)


def at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        document = document[step.replace("~1", "/").replace("~0", "~")]
    return document


@pytest.mark.parametrize("sample", FINDINGS, ids=list(FINDINGS))
def test_every_finding_is_true_and_none_is_missing(sample: str, reference: Path) -> None:
    """Told from the JSON alone: a schema that is kept elsewhere."""
    document = json.loads(path_of(reference, sample).read_bytes())
    expected: list[tuple[str, str]] = []
    for name, group in document["messagegroups"].items():
        for id_, message in group["messages"].items():
            location = f"/messagegroups/{name}/messages/{id_}/dataschemauri"
            schema = message["dataschemauri"].partition(":")[0].split("/")
            resource = at(document, "/".join(schema[:5]))
            newest = max(resource["versions"], key=lambda one: (len(one), one))
            version = resource["versions"][schema[6] if len(schema) > 5 else newest]
            if "schemaurl" in version or "schemauri" in version:
                expected.append((location, "schema-external"))
    told = [(place, rule) for place, rule, _ in pinned(sample) if rule.startswith("schema-")]
    assert told == expected
