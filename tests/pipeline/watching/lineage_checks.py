"""Checks of lineage events: by OpenLineage's own classes and their types, and by its schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
from openlineage.client import event_v2, facet_v2

from heraldry.pipeline.watching.lineage_events import LANDING_FACET

ROOT = Path(__file__).resolve().parents[3]
SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"

_written = facet_v2.output_statistics_output_dataset
CLASSES = {
    "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
    "documentation": facet_v2.documentation_job.DocumentationJobFacet,
    "dataSource": facet_v2.datasource_dataset.DatasourceDatasetFacet,
    "inputStatistics": facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": _written.OutputStatisticsOutputDatasetFacet,
}


def check_by_classes(event: dict[str, Any]) -> None:
    """Build OpenLineage's own objects of an event: unknown, missing and mistyped members fail."""
    msgspec.convert(event, event_v2.RunEvent)
    run, job = event["run"], event["job"]
    built = event_v2.RunEvent(
        eventType=event_v2.RunState(event["eventType"]),
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=event_v2.Run(runId=run["runId"], facets=_facets(run["facets"])),
        job=event_v2.Job(job["namespace"], job["name"], facets=_facets(job["facets"])),
        inputs=[
            event_v2.InputDataset(
                one["namespace"],
                one["name"],
                facets=_facets(one["facets"]),
                inputFacets=_facets(one["inputFacets"]),
            )
            for one in event["inputs"]
        ],
        outputs=[
            event_v2.OutputDataset(
                one["namespace"],
                one["name"],
                facets=_facets(one["facets"]),
                outputFacets=_facets(one["outputFacets"]),
            )
            for one in event["outputs"]
        ],
    )
    assert built.schemaURL == event["schemaURL"]


def _facets(facets: dict[str, Any]) -> dict[str, Any]:
    return {name: _facet(name, dict(content)) for name, content in facets.items()}


def _facet(name: str, content: dict[str, Any]) -> Any:
    producer, url = content.pop("_producer"), content.pop("_schemaURL")
    if name == "heraldry_landing":
        assert url == LANDING_FACET
        return facet_v2.RunFacet(producer=producer)
    built = _built(name, content, producer)
    msgspec.convert(content, type(built))
    assert built._schemaURL == url, name
    return built


def _built(name: str, content: dict[str, Any], producer: str) -> Any:
    if name == "schema":
        tables = facet_v2.schema_dataset
        fields = [tables.SchemaDatasetFacetFields(**one) for one in content["fields"]]
        return tables.SchemaDatasetFacet(fields=fields, producer=producer)
    if name == "dataQualityAssertions":
        quality = facet_v2.data_quality_assertions_dataset
        assertions = [quality.Assertion(**one) for one in content["assertions"]]
        return quality.DataQualityAssertionsDatasetFacet(assertions=assertions, producer=producer)
    if name == "jobType":
        jobs = facet_v2.job_type_job
        content["emissionPattern"] = jobs.EmissionPattern(**content["emissionPattern"])
        return jobs.JobTypeJobFacet(**content, producer=producer)
    if name == "parent":
        runs = facet_v2.parent_run
        run, job = runs.Run(**content["run"]), runs.Job(**content["job"])
        return runs.ParentRunFacet(run=run, job=job, producer=producer)
    return CLASSES[name](**content, producer=producer)


def check_by_schemas(event: dict[str, Any], spec: Path) -> None:
    """Validate an event and each of its facets by the specification's JSON Schemas."""
    documents = [
        json.loads(file.read_text())
        for file in [spec / "OpenLineage.json", *sorted((spec / "facets").glob("*.json"))]
    ]
    registry = jsonschema_rs.Registry([(one["$id"], one) for one in documents])
    _validate({"$ref": SPEC}, event, registry)
    for content in facets_of(event):
        if content["_schemaURL"] != LANDING_FACET:
            _validate({"$ref": content["_schemaURL"]}, content, registry)


def check_landing_facet(event: dict[str, Any]) -> None:
    """Validate our own facet by the schema that the documentation publishes."""
    schema = json.loads((ROOT / "docs/reference/lineage-landing-facet.json").read_text())
    _validate(schema, event["run"]["facets"]["heraldry_landing"], None)


def facets_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every facet of an event, wherever it stands."""
    if isinstance(value, dict):
        if "_schemaURL" in value:
            yield value
        for inner in value.values():
            yield from facets_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from facets_of(inner)


def _validate(schema: dict[str, Any], value: Any, registry: Any) -> None:
    checker = jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
    assert [str(error) for error in checker.iter_errors(value)] == []
