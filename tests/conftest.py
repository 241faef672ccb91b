"""What every test may use: the reference material, the examples, and one Spark session."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from pyspark.sql import SparkSession

pytest_plugins = ["tests.interrupts", "tests.stores", "tests.turns"]

ROOT = Path(__file__).resolve().parent.parent
NEEDS_SERVERS = ("live", "spark")
NO_REFERENCE = "no reference material"

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


def pytest_report_header() -> str:
    """Say what the run stands on."""
    versions = [f"Python {platform.python_version()}"]
    named = {"Spark": "pyspark", "delta-rs": "deltalake", "jsonschema-rs": "jsonschema-rs"}
    for name, package in named.items():
        try:
            versions.append(f"{name} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} absent")
    versions.append(f"Java {java_major() or 'absent'}")
    return "heraldry: " + ", ".join(versions)


@cache
def java_major() -> int:
    """The major version of the Java that Spark would start; 0 without one."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found.group(1)) if found else 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the users of the `spark` fixture, and keep them on one worker: one session for all."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a JVM where there is none."""
    if item.get_closest_marker("spark") and java_major() < 17:
        pytest.skip("Java 17 or later is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With HERALDRY_REQUIRE_LIVE=1 a live or spark test may lack no more than the reference."""
    report = yield
    if (
        os.environ.get("HERALDRY_REQUIRE_LIVE") == "1"
        and report.skipped
        and not hasattr(report, "wasxfail")
        and NO_REFERENCE not in str(report.longrepr)
        and any(item.get_closest_marker(name) for name in NEEDS_SERVERS)
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} must not be skipped here: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file under tests/live that skips itself."""
    report = yield
    if (
        os.environ.get("HERALDRY_REQUIRE_LIVE") == "1"
        and report.skipped
        and "live" in collector.path.relative_to(ROOT).parts
    ):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} must not be skipped here: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with the specification's data: HERALDRY_REFERENCE, else `shared` beside us."""
    folder = Path(os.environ.get("HERALDRY_REFERENCE") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"{NO_REFERENCE} at {folder} (set HERALDRY_REFERENCE)")
    return folder


def suite(name: str) -> Path:
    """The checkout of a public test suite, by the name of its repository, or a skip.

    HERALDRY_SUITES is the folder that holds them; none of them is part of this project.
    """
    folder = Path(os.environ.get("HERALDRY_SUITES") or ROOT.parent / "suites") / name
    if not folder.is_dir():
        pytest.skip(
            f"no checkout of {name} at {folder} (set HERALDRY_SUITES)", allow_module_level=True
        )
    return folder


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder with the example catalogs and programs."""
    return ROOT / "examples"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark session for all tests of a worker."""
    from heraldry.pipeline.spark.session import open_session

    session = open_session(master="local[2]")
    yield session
    session.stop()
