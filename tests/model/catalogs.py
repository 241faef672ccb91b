"""Catalogs of one group, for tests that look at single messages."""

from __future__ import annotations

from typing import Any

from heraldry.dialects.xreg_1_0 import read
from heraldry.model.catalog import Catalog

FILE = "catalog.json"


def catalog(
    messages: dict[str, Any], schemas: dict[str, Any] | None = None, **group: Any
) -> Catalog:
    """A catalog with the message group ``g`` and the schema group ``s``."""
    document: dict[str, Any] = {"messagegroups": {"g": {**group, "messages": messages}}}
    if schemas is not None:
        document["schemagroups"] = {"s": {"schemas": schemas}}
    return read(document, FILE)
