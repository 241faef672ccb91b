"""schemathesis over /openapi.json of a server at work: the description and the server agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.served import Served, serving

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "tests/live/schemathesis.toml"
MODEL = ROOT / "tests/conformance/transcripts/models/dirs.json"
SETTINGS = ("/", "/capabilities", "/modelsource")
"""Writes here may change the model, and with it what the description describes."""
EXCLUDED = {
    "positive_data_acceptance": "The rules of a registry are more than a schema can say: paths in "
    "`inline`, filters, epochs, references between entities, ids that differ by case only.",
    "ignored_auth": "There is no authentication.",
    "object_level_authorization": "There is no authentication.",
}
CHANGING = {
    "negative_data_rejection": "Capabilities may switch flags off, which are then ignored (HT-06).",
    "allow_header_conformance": "Capabilities may make things read-only, or unavailable (HT-03).",
}
"""Also left out where the settings are written."""
DIRS = {
    "one": {
        "files": {
            "one": {
                "versions": {"v1": {"file": {"a": 1}}, "v2": {"fileurl": "http://127.0.0.1:9/"}}
            },
            "two": {"meta": {"xref": "/dirs/one/files/one"}},
        },
        "events": {"one": {"versionid": "v1", "colour": "red"}},
    },
    "two": {"files": {"one": {"meta": {"xref": "/dirs/none/files/none"}}}},
}
MESSAGES = {"one": {"messages": {"one": {"versionid": "v1", "envelope": "CloudEvents/1.0"}}}}
SCHEMAS = {
    "one": {
        "schemas": {
            "one": {
                "versions": {"v1": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}}
            }
        }
    }
}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A registry to be tried: its model, its content and the operations that are left alone."""

    model: str
    content: dict
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


SUBJECTS = (
    pytest.param(Subject(model=str(MODEL), content={"dirs": DIRS}, without=SETTINGS), id="dirs"),
    pytest.param(
        Subject(
            model="messaging",
            content={"messagegroups": MESSAGES, "schemagroups": SCHEMAS},
            without=SETTINGS,
        ),
        id="messaging",
    ),
    pytest.param(
        Subject(model=str(MODEL), content={"dirs": DIRS}, only=SETTINGS, excluded=tuple(CHANGING)),
        id="settings",
    ),
)


def command(served: Served, subject: Subject, report: Path, *arguments: str) -> list[str]:
    chosen: list[str] = []
    for path in subject.only:
        chosen += ["--include-path", path]
    if subject.without:
        paths = "|".join(path.replace("/", "\\/") for path in subject.without)
        chosen += ["--exclude-path-regex", f"^({paths})$"]
    return [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG)),
        *("run", f"{served.url}/openapi.json"),
        *("--checks", "all", "--exclude-checks", ",".join((*EXCLUDED, *subject.excluded))),
        *("--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off"),
        *("--report", "json", "--report-json-path", str(report)),
        *chosen,
        *arguments,
    ]


def fill(served: Served, subject: Subject) -> None:
    body = json.dumps(subject.content).encode()
    request = urllib.request.Request(f"{served.url}/", body, method="POST")
    with urllib.request.urlopen(request) as reply:
        assert reply.status == 200


def attempted(database: str, folder: Path, subject: Subject, arguments: Sequence[str]) -> int:
    """Run it against a new server; the number of requests, after none of them failed."""
    report = folder / "report.json"
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "tests.live.schemathesis_hooks",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }
    with serving(folder, "--db", database, "--model", subject.model) as served:
        fill(served, subject)
        done = subprocess.run(
            command(served, subject, report, *arguments),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    told = json.loads(report.read_text())
    assert told["complete"]
    return told["test_cases"]["generated"]


@pytest.mark.parametrize(
    ("subject", "examples"),
    [
        pytest.param(*one.values, count, id=one.id)
        for one, count in zip(SUBJECTS, (2, 1, 8), strict=True)
    ],
)
def test_the_server_answers_as_it_is_described(
    durable_address: str, subject: Subject, examples: int, tmp_path: Path
) -> None:
    chosen = ("--phases", "fuzzing", "--max-examples", str(examples), "--seed", "1")
    assert attempted(durable_address, tmp_path, subject, chosen) >= 50


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_server_answers_as_it_is_described_for_long(
    durable_address: str, subject: Subject, tmp_path: Path
) -> None:
    phases = "coverage,fuzzing,stateful"
    count = attempted(
        durable_address, tmp_path, subject, ("--phases", phases, "--max-examples", "30")
    )
    print(f"{count} requests")  # noqa: T201
    assert count >= (500 if subject.only else 5000)
