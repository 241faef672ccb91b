"""The Spark session: whose settings win, and what is said when it does not start."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from heraldry.errors import UsageError
from heraldry.pipeline.spark.session import (
    JARS,
    _launch,
    _spark_defaults,
    _stays_here,
    _why,
    open_session,
)

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
JAVA = "spark.driver.extraJavaOptions"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees what the machine says."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.delenv(JARS, raising=False)


def test_spark_defaults_are_read_as_spark_reads_them(tmp_path: Path) -> None:
    text = "# spark.a no\n\nspark.b  two words \nspark.c=3\nspark.e\n spark.d: x=y\n"
    (tmp_path / "spark-defaults.conf").write_text(text)
    found = {"spark.b": "two words", "spark.c": "3", "spark.e": "", "spark.d": "x=y"}
    assert _spark_defaults() == found


def test_without_spark_defaults() -> None:
    assert _spark_defaults() == {}


@pytest.mark.parametrize(
    "defaults",
    [{}, {JAVA: "-XX:+UseSerialGC"}, {"spark.driver.defaultJavaOptions": "-XX:+UseSerialGC"}],
    ids=["nobody else chose", "options of the user", "options of the administrator"],
)
def test_one_choice_of_a_garbage_collector(defaults: dict[str, str]) -> None:
    assert (JAVA in _launch(None, (), defaults)) == (not defaults)


def test_java_options_of_pyspark_submit_args(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-java-options -Xss4m pyspark-shell")
    assert JAVA not in _launch(None, (), {})


def test_a_master_is_only_named_where_it_was_given() -> None:
    assert "spark.master" not in _launch(None, (), {})
    assert _launch("local[3]", (), {})["spark.master"] == "local[3]"


def test_packages_join_those_of_spark_defaults() -> None:
    launch = _launch(None, [KAFKA], {"spark.jars.packages": "a:b:1"})
    assert launch["spark.jars.packages"] == f"a:b:1,{KAFKA}"


def test_jars_of_a_folder_take_the_place_of_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("b.jar", "a.jar", "c.txt"):
        (tmp_path / name).touch()
    monkeypatch.setenv(JARS, str(tmp_path))
    launch = _launch(None, [KAFKA], {})
    assert launch["spark.jars"] == f"{tmp_path / 'a.jar'},{tmp_path / 'b.jar'}"
    assert "spark.jars.packages" not in launch
    assert "spark.jars" not in _launch(None, (), {})


def test_a_folder_without_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(JARS, str(tmp_path))
    with pytest.raises(UsageError, match="where there is no jar"):
        _launch(None, [KAFKA], {})


@pytest.mark.parametrize(
    ("master", "defaults", "expected"),
    [
        (None, {}, True),
        ("local[2]", {"spark.master": "spark://host:7077"}, True),
        (None, {"spark.master": "spark://host:7077"}, False),
        ("yarn", {}, False),
    ],
    ids=["nothing said", "the caller", "spark-defaults", "a cluster"],
)
def test_only_a_local_master_is_bound_to_the_loopback_interface(
    master: str | None, defaults: dict[str, str], expected: bool
) -> None:
    assert _stays_here(master, defaults) is expected


def test_a_session_that_runs_is_taken_as_it_is(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        found = open_session("local[7]", "another")
        assert found.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert found.sparkContext.master == spark.sparkContext.master
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize(
    ("java", "packages", "expected"),
    [
        ("", (), "Java 17 or later was not found"),
        ("/some/java", (), "with the master 'nonsense'"),
        ("/some/java", (KAFKA,), f"with the packages {KAFKA}; .* {JARS}"),
    ],
    ids=["no Java", "Java refused", "packages cannot be had"],
)
def test_a_jvm_that_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, java: str, packages: tuple[str, ...], expected: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", java)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=expected):
        raise RuntimeError(_why(RuntimeError("[JAVA_GATEWAY_EXITED] ..."), "nonsense", packages))


def test_other_errors_speak_for_themselves() -> None:
    assert _why(RuntimeError("no more memory"), "local[2]") == "no more memory"
