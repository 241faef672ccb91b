"""The Spark session: quiet, bounded, and with the interpreter that runs us in its workers."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import resources

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from heraldry.errors import PipelineError

_CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.session.timeZone": "UTC",
    # A dead task is run again by Spark; speculation would only write files twice.
    "spark.speculation": "false",
    # foreachBatch writes nothing itself, so adaptive plans have nothing to gain.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
}
_LOCAL = {"spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1"}


def open_session(master: str = "local[*]", app_name: str = "heraldry") -> SparkSession:
    """Start Spark, or take the session that runs; what is set here wins over spark-submit."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(app_name)
    config = dict(_CONFIG)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        config |= _LOCAL
    log4j = resources.files("heraldry.pipeline").joinpath("log4j2.properties")
    config["spark.driver.extraJavaOptions"] = (
        f"-XX:+UseParallelGC -Dlog4j2.configurationFile={log4j}"
    )
    for name, value in config.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise PipelineError("started Spark", _why(error, master)) from error


def _why(error: Exception, master: str) -> str:
    """Spark's JVM ends without a word for us: either there is none, or it refused the master."""
    if "JAVA_GATEWAY" not in str(error):
        return str(error)
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return f"Java could not start it with the master {master!r}; its own words stand above"
    return "Java 17 or later was not found (Debian: apt-get install openjdk-17-jre-headless)"
