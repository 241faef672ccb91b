"""Starting the one streaming query of a job, wherever its batches are landed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.spark.stopping import hold_signals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

NOT_STARTED = (PySparkException, Py4JError)
"""What Spark raises where a query cannot start: its own errors, and those of Java."""


def start_query(
    rows: DataFrame, land: Callable[[DataFrame, int], Any], progress: str, settings: LandSettings
) -> StreamingQuery:
    """Hand over every micro-batch: of what is there, or with ``stream`` as it arrives.

    ``progress`` is the folder in which Spark keeps its offsets. A signal that comes meanwhile ends
    the query before it is raised.
    """
    writer = (
        rows.writeStream.foreachBatch(land)
        .option("checkpointLocation", progress)
        .queryName("heraldry")
    )
    if settings.stream:
        writer = writer.trigger(processingTime=f"{settings.interval} seconds")
    else:
        writer = writer.trigger(availableNow=True)
    with hold_signals() as told:
        query = writer.start()
        if told.is_set():
            query.stop()
    return query
