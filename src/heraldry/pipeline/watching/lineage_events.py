"""OpenLineage run events of a landing job: what was read, what was written, and how well.

The forms are those of https://openlineage.io/spec/2-0-2/OpenLineage.json and its facets.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from heraldry.pipeline.watching.observer import JobInfo

_SPEC: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
LANDING_FACET: Final = "urn:heraldry:openlineage:1-0-0:LandingRunFacet"
"""The schema of our own facet: docs/reference/lineage-landing-facet.json."""

_FACETS: Final = {
    "processing_engine": ("1-1-1", "ProcessingEngineRunFacet"),
    "parent": ("1-2-0", "ParentRunFacet"),
    "errorMessage": ("1-0-1", "ErrorMessageRunFacet"),
    "jobType": ("2-0-4", "JobTypeJobFacet"),
    "documentation": ("1-1-0", "DocumentationJobFacet"),
    "schema": ("1-2-0", "SchemaDatasetFacet"),
    "dataSource": ("1-0-1", "DatasourceDatasetFacet"),
    "inputStatistics": ("1-0-0", "InputStatisticsInputDatasetFacet"),
    "dataQualityAssertions": ("1-1-0", "DataQualityAssertionsDatasetFacet"),
    "outputStatistics": ("1-0-2", "OutputStatisticsOutputDatasetFacet"),
}
_NAMESPACE: Final = "heraldry"
_LONGEST_MESSAGE: Final = 2000
_CONTAINER: Final = re.compile(r"[A-Za-z0-9$-]+")
Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One table that gained rows in this run; ``columns`` where they are new to the collector."""

    name: str
    path: str
    rows: int
    columns: Columns = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The state of a run when something is told of it; counts are of the whole run so far."""

    kind: str
    time: datetime
    info: JobInfo
    catalog: str = ""
    read: int = 0
    landed: int = 0
    dead: int = 0
    repeated: int = 0
    batches: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, int] = field(default_factory=dict)
    """Rows by name, of the tables that this event tells of."""
    left_out: int = 0
    """Tables that were too many to tell of."""
    error: str = ""


def producer() -> str:
    """Who says it: this program, in its version."""
    return f"urn:heraldry:version:{metadata.version('heraldry')}"


def run_event(
    moment: Moment, outputs: list[Output], environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """One event as JSON has it."""
    variables = os.environ if environ is None else environ
    time = moment.time.astimezone(UTC).isoformat(timespec="milliseconds")
    return {
        "eventType": moment.kind,
        "eventTime": time.replace("+00:00", "Z"),
        "producer": producer(),
        "schemaURL": _EVENT,
        "run": {"runId": run_uuid(moment.info.run), "facets": _run_facets(moment, variables)},
        "job": {
            "namespace": variables.get("OPENLINEAGE_NAMESPACE") or _NAMESPACE,
            "name": moment.info.job,
            "facets": _job_facets(moment.info),
        },
        "inputs": [_input(place, moment) for place in places(moment.info.source)],
        "outputs": [_output(one, moment.info.warehouse) for one in outputs],
    }


def run_uuid(run: str) -> str:
    """The run's id as a UUID: itself where it is one, else one that is always the same."""
    try:
        return str(uuid.UUID(run))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:heraldry:run:{run}"))


def places(source: str) -> list[tuple[str, str]]:
    """Namespace and name of what a source reads, as OpenLineage names brokers and files.

    ``kafka://host:9092/orders`` is ``kafka://host:9092`` and ``orders``; a folder is ``file`` and
    its absolute path; an object of S3 is ``s3://bucket`` and its key, one of Azure
    ``abfss://container@account.dfs.core.windows.net`` and its path.
    """
    place = source.removeprefix("files:")
    scheme, separator, rest = place.partition("://")
    if separator:
        host, _, name = rest.partition("/")
        namespace = f"{'s3' if scheme == 's3a' else scheme}://{_authority(scheme, host)}"
        name = name.partition("?")[0] if scheme in {"kafka", "nats", "amqp", "mqtt"} else name
        names = name.split(",") if scheme == "kafka" else [name]
        return [(namespace, one.strip("/") or "/") for one in names]
    kind, colon, name = place.partition(":")
    if colon and source == place and "/" not in kind:
        return [(kind, name or "/")]
    return [("file", str(Path(place).absolute()))]


def _authority(scheme: str, host: str) -> str:
    """The first server of a URL, without a user; for Azure with the container before it."""
    before, at, server = host.rpartition("@")
    first = server.partition(",")[0]
    if scheme in {"abfs", "abfss"} and _CONTAINER.fullmatch(before):
        return f"{before}{at}{first}"
    return first


def _facet(facet: str, /, **content: Any) -> dict[str, Any]:
    version, schema = _FACETS[facet]
    url = f"{_SPEC}/facets/{version}/{schema}.json#/$defs/{schema}"
    return {"_producer": producer(), "_schemaURL": url, **content}


def _run_facets(moment: Moment, variables: Mapping[str, str]) -> dict[str, Any]:
    facets = {
        "processing_engine": _facet(
            "processing_engine",
            name="spark",
            version=metadata.version("pyspark"),
            openlineageAdapterVersion=metadata.version("heraldry"),
        ),
        "heraldry_landing": _landing(moment),
    }
    if parent := _parent(variables):
        facets["parent"] = parent
    if moment.error:
        message = moment.error[:_LONGEST_MESSAGE]
        facets["errorMessage"] = _facet(
            "errorMessage", message=message, programmingLanguage="PYTHON"
        )
    return facets


def _landing(moment: Moment) -> dict[str, Any]:
    """Our own facet: the catalog that judged, and the sum that must be right."""
    return {
        "_producer": producer(),
        "_schemaURL": LANDING_FACET,
        "catalog": moment.catalog or moment.info.catalog,
        "read": moment.read,
        "landed": moment.landed,
        "deadLetters": moment.dead,
        "repeated": moment.repeated,
        "batches": moment.batches,
        "reasons": dict(moment.reasons),
        "tablesLeftOut": moment.left_out,
    }


def _parent(variables: Mapping[str, str]) -> dict[str, Any] | None:
    """The run that started this one, as ``OPENLINEAGE_PARENT_ID`` names it; the root likewise."""
    parent = _run_and_job(variables.get("OPENLINEAGE_PARENT_ID", ""))
    if parent is None:
        return None
    root = _run_and_job(variables.get("OPENLINEAGE_ROOT_PARENT_ID", ""))
    return _facet("parent", **parent, **({"root": root} if root else {}))


def _run_and_job(text: str) -> dict[str, Any] | None:
    """``namespace/name/run``; a namespace may hold slashes. Anything else is passed over."""
    parts = text.rsplit("/", 2)
    try:
        namespace, name, run = parts
        run = str(uuid.UUID(run))
    except ValueError:
        return None
    return {"run": {"runId": run}, "job": {"namespace": namespace, "name": name}}


def _job_facets(info: JobInfo) -> dict[str, Any]:
    said = f"Lands the messages of {info.source} in typed tables of {info.warehouse}."
    return {
        "jobType": _facet(
            "jobType",
            processingType="STREAMING" if info.stream else "BATCH",
            integration="HERALDRY",
            jobType="JOB",
            emissionPattern={"eventTrigger": "EVENT_BASED", "eventContentMode": "ACCUMULATIVE"},
        ),
        "documentation": _facet("documentation", description=said, contentType="text/plain"),
    }


def _input(place: tuple[str, str], moment: Moment) -> dict[str, Any]:
    namespace, name = place
    lands = {
        "assertion": "lands",
        "success": moment.dead == 0,
        "severity": "warn",
        "name": "every message lands",
        "description": "Every message fits a definition of the catalog, and its schema.",
        "expected": "0",
        "actual": str(moment.dead),
        "params": {"valid": moment.landed, "deadLetters": dict(moment.reasons)},
    }
    return {
        "namespace": namespace,
        "name": name,
        "facets": {"dataSource": _source(namespace, name)},
        "inputFacets": {
            "inputStatistics": _facet("inputStatistics", rowCount=moment.read),
            "dataQualityAssertions": _facet("dataQualityAssertions", assertions=[lands]),
        },
    }


def _output(output: Output, warehouse: str) -> dict[str, Any]:
    ((namespace, name),) = places(f"{warehouse.rstrip('/')}/{output.path}")
    facets = {"dataSource": _source(namespace, name)}
    if output.columns:
        fields = [{"name": column, "type": kind} for column, kind in output.columns]
        facets["schema"] = _facet("schema", fields=fields)
    return {
        "namespace": namespace,
        "name": name,
        "facets": facets,
        "outputFacets": {"outputStatistics": _facet("outputStatistics", rowCount=output.rows)},
    }


def _source(namespace: str, name: str) -> dict[str, Any]:
    uri = Path(name).as_uri() if namespace == "file" else namespace
    return _facet("dataSource", name=namespace, uri=uri)
