"""The order of the tests, so that the workers of a run end at about the same time."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with groups, each of which stays on one worker, and end with what is short."""
    items.sort(key=_turn)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that are asked for and not formed would start every server on every worker."""
    if session.config.getoption("loadgroup", False):
        lost = [one.nodeid for one in session.items if _turn(one) == 0 and "@" not in one.nodeid]
        assert not lost, f"pytest-xdist has not grouped {lost[:3]}"


def _turn(item: pytest.Item) -> int:
    """0 for the members of groups, 1 for what starts Spark or says it is slow, 2 for others."""
    if item.get_closest_marker("xdist_group"):
        return 0
    return 1 if item.get_closest_marker("spark") or item.get_closest_marker("slow") else 2
