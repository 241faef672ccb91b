"""How much a property is tried: for seconds in every run, for minutes by `make soak`."""

from __future__ import annotations

import os

import pytest

SOAK = bool(os.environ.get("HERALDRY_SOAK"))

thorough = pytest.mark.thorough
"""For tests that try more by `make soak`, which sets HERALDRY_SOAK."""


def effort(always: int, soak: int) -> int:
    """The number of examples, rounds or mutations of this run."""
    return soak if SOAK else always
