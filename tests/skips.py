"""What a run stands on, and the tests it skips for want of Java, a server or the AMQP client.

With HERALDRY_REQUIRE_LIVE=1 such a test fails; it may lack no more than the reference material.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Generator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
NEEDS = ("live", "spark", "amqp")
NO_REFERENCE = "no reference material"
NO_AMQP = "no AMQP client: pip install 'heraldry[amqp]' (needs gcc, libssl-dev, python3-dev)"


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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a JVM or the AMQP client where there is none."""
    if item.get_closest_marker("spark") and java_major() < 17:
        pytest.skip("Java 17 or later is not installed")
    if item.get_closest_marker("amqp") and find_spec("proton") is None:
        pytest.skip(NO_AMQP)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail the test that must run here and was skipped."""
    report = yield
    if (
        os.environ.get("HERALDRY_REQUIRE_LIVE") == "1"
        and report.skipped
        and not hasattr(report, "wasxfail")
        and NO_REFERENCE not in str(report.longrepr)
        and any(item.get_closest_marker(name) for name in NEEDS)
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} must not be skipped here: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file that skips itself."""
    report = yield
    if (
        os.environ.get("HERALDRY_REQUIRE_LIVE") == "1"
        and report.skipped
        and (TESTS / "live" in collector.path.parents or NO_AMQP in str(report.longrepr))
    ):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} must not be skipped here: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with the specification's data: HERALDRY_REFERENCE, else `shared` beside us."""
    folder = Path(os.environ.get("HERALDRY_REFERENCE") or TESTS.parent.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"{NO_REFERENCE} at {folder} (set HERALDRY_REFERENCE)")
    return folder
