"""The Spark session: quiet, bounded, and with the interpreter that runs us in its workers.

What is set here are defaults. A session that runs, spark-submit's own options, PYSPARK_SUBMIT_ARGS
and spark-defaults.conf are each asked first; only what the caller names wins over them.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import FrameType

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from heraldry.errors import PipelineError, UsageError
from heraldry.pipeline.spark.stopping import hold_signals

JARS = "HERALDRY_SPARK_JARS"
"""A folder of jars to take instead of fetching packages: for machines without a network."""

_BAR = "spark.ui.showConsoleProgress"
_CONFIG = {
    "spark.ui.enabled": "false",
    _BAR: "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.session.timeZone": "UTC",
    # A dead task is run again by Spark; speculation would only write files twice.
    "spark.speculation": "false",
    # foreachBatch writes nothing itself, so adaptive plans have nothing to gain.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
}
_JAVA_OPTIONS = ("extraJavaOptions", "defaultJavaOptions", "--driver-java-options")
_PROPERTY = re.compile(r"^[ \t]*(?P<name>[^\s#!=:]+)[ \t=:]*(?P<value>.*?)[ \t]*$", re.MULTILINE)


def open_session(
    master: str | None = None, app_name: str = "heraldry", packages: Sequence[str] = ()
) -> SparkSession:
    """Start Spark, or take the session that runs, as it is.

    Without a master it is the one that spark-submit or spark-defaults.conf name, else ``local[*]``.
    """
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    defaults = _spark_defaults()
    python = defaults.get("spark.pyspark.python", sys.executable)
    os.environ.setdefault("PYSPARK_PYTHON", python)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    launch = _launch(master, packages, defaults)
    if _stays_here(master, defaults):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    try:
        told = SparkConf(loadDefaults=False).setAll(list(launch.items()))
        with hold_signals(_end_java):
            SparkContext._ensure_initialized(conf=told)
        with hold_signals():
            conf = _config(master, app_name)
            SparkContext.getOrCreate(conf)
        with hold_signals():  # anew: PySpark has just set a handler of its own
            return SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as error:
        raise PipelineError("started Spark", _why(error, master, packages)) from error


def _end_java(frame: FrameType | None) -> None:
    """End the Java that PySpark is waiting for: it would outlive us, or take its time to answer.

    Only the frame of the one who waits knows it. Once Java has answered it ends by itself with us.
    """
    while frame is not None and frame.f_code is not launch_gateway.__code__:
        frame = frame.f_back
    seen = {} if frame is None else frame.f_locals
    if "proc" in seen and "gateway_port" not in seen and not os.path.exists(seen["conn_info_file"]):
        seen["proc"].terminate()


def _launch(
    master: str | None, packages: Sequence[str], defaults: Mapping[str, str]
) -> dict[str, str]:
    """What the JVM must be told before it starts; under spark-submit it runs already."""
    launch = {} if master is None else {"spark.master": master}
    if _BAR not in defaults:  # spark-submit would show it to whoever starts Python
        launch[_BAR] = "false"
    # Two choices of a garbage collector would keep Java from starting.
    said = " ".join((*defaults, os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    if not any(name in said for name in _JAVA_OPTIONS):
        log4j = resources.files("heraldry.pipeline.spark").joinpath("log4j2.properties")
        options = f"-XX:+UseParallelGC -Dlog4j2.configurationFile={log4j}"
        launch["spark.driver.extraJavaOptions"] = options
    if packages:
        folder = os.environ.get(JARS)
        name, wanted = ("jars", _jars(folder)) if folder else ("jars.packages", packages)
        others = defaults.get(f"spark.{name}", "")
        launch[f"spark.{name}"] = ",".join((*filter(None, [others]), *wanted))
    return launch


def _config(master: str | None, app_name: str) -> SparkConf:
    """What the JVM was told, filled up with our defaults."""
    conf = SparkConf()
    if master is not None:
        conf.setMaster(master)
    if conf.get("spark.app.name", "pyspark-shell") == "pyspark-shell":
        conf.setAppName(app_name)
    for name, value in _CONFIG.items():
        conf.setIfMissing(name, value)
    if (conf.get("spark.master") or "").startswith("local"):
        conf.setIfMissing("spark.driver.host", "127.0.0.1")
    return conf


def _stays_here(master: str | None, defaults: Mapping[str, str]) -> bool:
    """Whether the JVM that is about to start needs no other machine."""
    if master is None and "PYSPARK_SUBMIT_ARGS" in os.environ:
        return False
    return (master or defaults.get("spark.master", "local[*]")).startswith("local")


def _spark_defaults() -> dict[str, str]:
    """The settings of spark-defaults.conf, which a plain ``--conf`` would override."""
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(_find_spark_home(), "conf")
    try:
        text = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {found["name"]: found["value"] for found in _PROPERTY.finditer(text)}


def _jars(folder: str) -> list[str]:
    found = sorted(str(path.resolve()) for path in Path(folder).glob("*.jar"))
    if not found:
        raise UsageError(f"{JARS} names {folder}, where there is no jar", "name a folder of jars")
    return found


def _why(error: Exception, master: str | None, packages: Sequence[str] = ()) -> str:
    """Spark's JVM ends without a word for us: there is none, or it refused what it was told."""
    if "JAVA_GATEWAY" not in str(error):
        lines = str(error).strip().splitlines()
        return " ".join(line.strip() for line in lines[:2]) or type(error).__name__
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        return "Java 17 or later was not found (Debian: apt-get install openjdk-17-jre-headless)"
    if packages and not os.environ.get(JARS):
        return (
            f"Java could not start it with the packages {', '.join(packages)}; its own words stand"
            f" above (without a way to Maven, put their jars in a folder and name it by {JARS})"
        )
    named = f" with the master {master!r}" if master else ""
    return f"Java could not start it{named}; its own words stand above"
