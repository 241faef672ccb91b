"""How far a query is behind in the batch that it lands: what Spark has planned, and has seen."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from heraldry.errors import HeraldryError
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.sources.source import Lag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def batch_end(checkpoint: Storage, batch: int) -> Any:
    """The offset that a batch ends at, which Spark notes before the batch begins.

    None where that cannot be known, or where the rows come from more than one source of Spark's.
    """
    with suppress(HeraldryError, OSError, ValueError):
        noted = checkpoint.read(f"offsets/{batch}") or b""
        _version, _settings, offset = noted.decode().splitlines()
        return json.loads(offset)
    return None


def query_lag(spark: SparkSession | None, end: Any, behind: Callable[[Any, Any], int]) -> Lag:
    """What the source of a session's one query had beyond an offset, as the batch was planned.

    ``behind`` counts between two offsets. A query tells its progress after a batch only, so the
    one that runs is looked into; a batch of an earlier run was planned then, and is unknown.
    """
    with suppress(Exception):  # the query may end while it is asked
        assert spark is not None
        (query,) = spark.streams.active
        seen: Any = query._jsq.streamingQuery().latestOffsets()
        return Lag(messages=max(0, behind(end, json.loads(seen.values().head().json()))))
    return Lag()
