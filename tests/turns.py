"""The order of the tests, so that the workers of a run end at about the same time."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with groups, each of which stays on one worker, and end with what is short."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """0 for the members of groups, 1 for what starts Spark or says it is slow, 2 for others."""
    if item.get_closest_marker("xdist_group"):
        return 0
    return 1 if item.get_closest_marker("spark") or item.get_closest_marker("slow") else 2
