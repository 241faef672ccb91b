"""What other tools make of a table, each by its own reading of the Delta log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from duckdb_extensions import import_extension  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[3]
_SPARK = """
import json, sys
from pyspark.sql import SparkSession

table, columns, jars, target = sys.argv[1], *map(json.loads, sys.argv[2:4]), sys.argv[4]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.jars", ",".join(jars))
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()
)
rows = spark.read.format("delta").load(table).select(*columns).collect()
with open(target, "w") as file:
    json.dump([row.asDict(recursive=True) for row in rows], file)
"""


def by_duckdb(table: Path, columns: Sequence[str], home: Path) -> list[dict[str, Any]]:
    """The rows as DuckDB's extension for Delta reads them."""
    with duckdb.connect(config={"extension_directory": str(home)}) as connection:
        import_extension("delta", con=connection)
        connection.execute("load delta")
        found = connection.execute(f"select {', '.join(columns)} from delta_scan(?)", [str(table)])
        return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def by_spark(table: Path, columns: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    """The rows as Delta's own reader for Spark reads them; a skip where it is not installed."""
    target = folder / "rows.json"
    told = [str(table), json.dumps(list(columns)), json.dumps(_jars()), str(target)]
    subprocess.run([sys.executable, "-c", _SPARK, *told], check=True, timeout=240)
    found: list[dict[str, Any]] = json.loads(target.read_text())
    return found


def _jars() -> list[str]:
    home = Path(os.environ.get("HERALDRY_DELTA_HOME") or ROOT / "build" / "delta")
    if not (home / "reader.xml").exists():
        pytest.skip(f"no reader of Delta in {home}: scripts/install-jars")
    return sorted(map(str, (home / "reader").glob("*.jar")))
