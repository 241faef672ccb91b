"""Which tests cover which requirement: loaded by `make conformance` (-p), printed at the end.

A test names what it covers: `@pytest.mark.covers("CA-09")`. The list of requirements is read from
the reference material; where that is absent, only what the tests name is printed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conformance.uncovered import UNCOVERED

ROOT = Path(__file__).resolve().parents[2]
LATER = ("EV",)  # change events are a part of their own
NO_REQUIREMENT = ("KD",)  # decisions about defects of the text, which requirements refer to
GOAL = 97.0


def required() -> list[str]:
    """The ids of the requirement list, in its order; empty where it is absent."""
    folder = Path(os.environ.get("HERALDRY_REFERENCE") or ROOT.parent / "shared")
    listing = folder / "spec" / "core-requirements.md"
    if not listing.is_file():
        return []
    ids = re.findall(r"^([A-Z]{1,2}-\d\d)\b", listing.read_text(encoding="utf-8"), re.MULTILINE)
    return [one for one in ids if not one.startswith((*LATER, *NO_REQUIREMENT))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the ids along with the report, from the worker to the process that prints."""
    report = yield
    ids = [id_ for mark in item.iter_markers("covers") for id_ in mark.args]
    if ids and report.when == "call":
        report.user_properties.append(("covers", ids))
    return report


def covered(terminal: pytest.TerminalReporter) -> dict[str, set[str]]:
    """By id: the tests that passed and cover it."""
    tests: dict[str, set[str]] = defaultdict(set)
    for report in terminal.stats.get("passed", []):
        for name, ids in getattr(report, "user_properties", []):
            if name == "covers":
                for id_ in ids:
                    tests[id_].add(report.nodeid)
    return tests


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Each requirement with its tests, then the total."""
    tests, ids = covered(terminalreporter), required()
    write = terminalreporter.write_line
    terminalreporter.section("requirements")
    for id_ in ids or sorted(tests):
        found = sorted(tests[id_])
        if found:
            more = f" (+{len(found) - 1})" if len(found) > 1 else ""
            write(f"{id_}  {found[0].removeprefix('tests/')}{more}")
        else:
            write(f"{id_}  NOT COVERED: {UNCOVERED.get(id_, 'no reason given')}")
    if ids:
        reached = sum(1 for id_ in ids if tests[id_])
        share = 100 * reached / len(ids)
        write(f"{reached} of {len(ids)} requirements covered: {share:.1f} % (goal {GOAL} %)")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Too few covered requirements, or one without a reason, fail the run."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or session.config.getoption("collectonly"):
        return
    tests, ids = covered(terminal), required()
    missing = [id_ for id_ in ids if not tests[id_]]
    short = ids and 100 * (len(ids) - len(missing)) / len(ids) < GOAL
    if session.exitstatus == 0 and (short or any(id_ not in UNCOVERED for id_ in missing)):
        session.exitstatus = 1
