"""What several tests of the pipeline need of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def elsewhere(spark: SparkSession) -> Iterator[SparkSession]:
    """A cluster where a bare path is on another file system, which is away."""
    jvm = spark.sparkContext._jsc
    assert jvm is not None
    configuration = jvm.hadoopConfiguration()
    before = configuration.get("fs.defaultFS")
    configuration.set("fs.defaultFS", "hdfs://127.0.0.1:1")
    yield spark
    configuration.set("fs.defaultFS", before)
