"""What every test may use: public test suites, the examples, and one Spark session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytest_plugins = ["tests.interrupts", "tests.skips", "tests.stores", "tests.turns"]

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the users of the `spark` fixture, and keep them on one worker: one session for all."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


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
