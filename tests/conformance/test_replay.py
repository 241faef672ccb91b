"""The reference server's HTTP tests, played against this server: what fails has a waiver."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.conformance.replay_waivers import checkout, waivers
from tests.conftest import ROOT

PORT = 8282
"""Where the tests expect the files that models include and documents are read from."""
SERVER = (
    f"{shlex.quote(sys.executable)} -m heraldry serve --db sqlite:{{data}}/r.db --port {{port}} "
    "--registry-id {regid} --model none --specversion 1.0-rc4 "
    f"--allow-origin '*' --allow-include http://localhost:{PORT}/"
)
FUNCTIONS = 122
CHECKS = 2987


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is logged."""


@pytest.fixture
def files() -> Iterator[None]:
    """The files of their tests, at the address where they expect them."""
    folder = checkout("server") / "tests/files"
    with ThreadingHTTPServer(("127.0.0.1", PORT), partial(_Files, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def test_the_documentation_has_these_numbers() -> None:
    page = (ROOT / "docs/explain/conformance.md").read_text(encoding="utf-8")
    assert f"{FUNCTIONS} pass ({CHECKS:,} of" in page


@pytest.mark.soak
@pytest.mark.usefixtures("files")
def test_what_fails_in_the_replay_has_a_waiver_and_nothing_else(
    reference: Path, tmp_path: Path
) -> None:
    report = _replayed(reference, tmp_path)
    results = {one["func"]: one["result"] for one in report["functions"]}
    failed = {name for name, result in results.items() if result == "fail"}
    assert failed == {waiver["function"] for waiver in waivers()}
    passed = [name for name, result in results.items() if result in ("pass", "pass-cut")]
    assert len(passed) >= FUNCTIONS
    assert report["steps_pass"] >= CHECKS


def _replayed(reference: Path, folder: Path) -> Any:
    tool = reference / "tools/replay"
    if not tool.is_dir():
        pytest.skip(f"no replay tool at {tool} (set HERALDRY_REFERENCE)")
    steps, report = folder / "steps.json", folder / "report.json"
    extract = ["--src", str(checkout("server")), "--out", str(steps)]
    subprocess.run([sys.executable, str(tool / "extract.py"), *extract], check=True)
    how = ["--full-only", "--json-semantic", "--jobs", "2", "--files", str(folder / "none"), "-q"]
    play = ["--steps", str(steps), "--server-cmd", SERVER, "--report", str(report)]
    subprocess.run([sys.executable, str(tool / "replay.py"), *how, *play], check=False)
    return json.loads(report.read_text(encoding="utf-8"))
