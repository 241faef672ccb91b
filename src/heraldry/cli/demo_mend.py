"""The demo's mended definition: a cabin class that the schema forgot, and its letters replayed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heraldry.pipeline.landing.replay_report import ReplayReport

DEFINITION = "/messagegroups/luggage/messages/checkedin"
SCHEMA = "/schemagroups/luggage/schemas/checkedin"
CABIN = "premium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """The version that the schema has now, and what became of the letters."""

    version: str
    report: ReplayReport


def mend(address: str, warehouse: Path, database: str, cache: Path) -> Mended:
    """Give the schema in the registry another version, and replay the letters of its message."""
    from heraldry.client.registry_catalog import Catalogs
    from heraldry.pipeline.replay import ReplaySettings, replay

    version = _change(address)
    settings = ReplaySettings(
        warehouse=str(warehouse), where=(f"definition={DEFINITION}",), database=database
    )
    report = replay(Catalogs(cache=cache).load(address), settings)
    return Mended(version=version, report=report)


def _change(address: str) -> str:
    """Let the cabin be what airlines sell: a new version, unless an earlier demo made it."""
    from heraldry.client.registry import RegistryClient

    with RegistryClient(address) as registry:
        document = registry.get(SCHEMA).json()
        cabins = document["properties"]["cabin"]["enum"]
        if CABIN not in cabins:
            cabins.append(CABIN)
            details = {"format": "JSONSchema/draft-07", "contenttype": "application/schema+json"}
            body = details | {"schema": document}
            registry.send("POST", f"{SCHEMA}/versions", {"3": {"versionid": "3", **body}})
        found: str = registry.get(f"{SCHEMA}$details").json()["versionid"]
        return found
