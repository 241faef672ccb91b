"""Traffic on deprecated definitions: it lands as any other, and is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime

from heraldry.messages.deprecation import deprecation
from heraldry.model.catalog import Catalog
from heraldry.model.xid import Xid
from heraldry.pipeline.lake.layout import DEFINITION_KEY
from heraldry.pipeline.lake.ledger import DeprecatedRows, ManifestFile


def deprecated_rows(
    catalog: Catalog,
    files: Iterable[ManifestFile],
    tables: Mapping[str, Mapping[str, str]],
    moment: datetime,
) -> dict[str, DeprecatedRows]:
    """The definitions among a batch's files that are deprecated at a moment, with their rows."""
    rows: Counter[str] = Counter()
    for file in files:
        rows[file.definition or tables[file.table].get(DEFINITION_KEY, "")] += file.rows
    del rows[""]  # letters are of no definition
    found: dict[str, DeprecatedRows] = {}
    for xid, number in sorted(rows.items()):
        told = deprecation(catalog, Xid.parse(xid), moment)
        if told is not None:
            found[xid] = DeprecatedRows(rows=number, **asdict(told))
    return found


def told(xid: str, found: DeprecatedRows) -> str:
    """One line for people."""
    parts = [f"{found.rows:,} {'row' if found.rows == 1 else 'rows'} of deprecated {xid}"]
    parts += [f"use {found.alternative}"] if found.alternative else []
    parts += [f"removal {found.removal}"] if found.removal else []
    parts += [f"see {found.documentation}"] if found.documentation else []
    return "; ".join(parts)
