"""Why a query failed, from what Spark says of it."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from heraldry.errors import HeraldryError, PipelineError, UsageError, WarehouseError
from heraldry.pipeline.spark.failures import failure_of

WORKER = (
    "An exception was thrown from the Python worker:\n"
    'Traceback (most recent call last):\n  File "worker.py", line 1, in main\n'
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (PipelineError("judged", "too many: 9"), PipelineError("judged", "too many: 9")),
        (UsageError("no folder"), PipelineError("landed a batch", "no folder")),
        (WarehouseError("a", "b", "c"), PipelineError("landed a batch", "a: b (c)")),
    ],
    ids=["of the pipeline", "of another kind", "with advice"],
)
@pytest.mark.parametrize(
    "text",
    [WORKER + "{}\n", "Traceback:\n  ...\n{}\n\nJVM stacktrace:\n..."],
    ids=["here", "there"],
)
def test_what_heraldry_said_is_told_alone(
    said: HeraldryError, expected: HeraldryError, text: str
) -> None:
    error = RuntimeError(text.format(f"heraldry.errors.{type(said).__name__}: {said}"))
    found = failure_of(error)
    assert isinstance(found, PipelineError)
    assert str(found) == str(expected)
    assert found.__cause__ is error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Connection reset by peer\n  at org.apache", "Connection reset by peer"),
        (
            f"{WORKER}ValueError: year 0 is out of range\n",
            "An exception was thrown from the Python worker: ValueError: year 0 is out of range",
        ),
        ("", "RuntimeError"),
    ],
    ids=["of the JVM", "of a worker", "without words"],
)
def test_an_error_of_another_is_told_in_short(text: str, reason: str) -> None:
    found = failure_of(RuntimeError(text), "opened its source")
    assert str(found) == f"the pipeline stopped while it opened its source: {reason}"


def test_a_connector_that_is_missing_is_named_with_what_helps(spark: SparkSession) -> None:
    """Spark that runs already, as under spark-submit, takes no packages any more."""
    with pytest.raises(PySparkException) as missing:
        spark.readStream.format("kafka").load()
    found = failure_of(missing.value, "opened its source", ["org.apache.spark:kafka:4"])
    assert isinstance(found, UsageError)
    assert str(found) == (
        "Spark runs without org.apache.spark:kafka:4, which must be there before its Java starts:"
        " give --packages to spark-submit or to the Spark Connect server"
    )


def test_an_error_of_heraldry_stays_what_it_is() -> None:
    error = WarehouseError("a", "b")
    assert failure_of(error) is error
