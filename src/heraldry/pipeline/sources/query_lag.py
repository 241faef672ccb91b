"""How far a query is behind, as Spark tells it: between two batches, of the one before."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from heraldry.pipeline.sources.source import Lag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def query_lag(spark: SparkSession | None, behind: Callable[[Any, Any], int]) -> Lag:
    """What the one query of a session has left to read; ``behind`` counts between two offsets."""
    with suppress(Exception):  # the query may end while it is asked
        assert spark is not None
        (query,) = spark.streams.active
        progress: Any = query.lastProgress
        (source,) = progress["sources"]
        read, latest = (_offset(source[name]) for name in ("endOffset", "latestOffset"))
        return Lag(messages=max(0, behind(read, latest)))
    return Lag()


def _offset(told: Any) -> Any:
    return json.loads(told) if isinstance(told, str) else told
