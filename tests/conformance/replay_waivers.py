"""The functions of the reference server's tests that do not pass here, with the reasons."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

FILE = Path(__file__).parent / "replay-waivers.toml"


def waivers() -> list[dict[str, Any]]:
    """All tables of the file."""
    found: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["waiver"]
    return found


def checkout(repository: str) -> Path:
    """The checkout of a repository of xregistry, ``xregistry/NAME`` or ``NAME``, or a skip."""
    suites = Path(os.environ.get("HERALDRY_SUITES") or ROOT.parent / "suites")
    for folder in (suites / "xregistry" / repository, suites / repository):
        if folder.is_dir():
            return folder
    pytest.skip(f"no checkout of xregistry/{repository} in {suites} (set HERALDRY_SUITES)")
