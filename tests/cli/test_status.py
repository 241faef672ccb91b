"""The command `status`: text within the width, JSON for machines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heraldry.cli.status import command
from heraldry.dialects.load import load_bytes
from heraldry.pipeline.lake import checkpoints
from heraldry.pipeline.lake.ledger import DeprecatedRows
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.letters.lettering import land_lines
from tests.pipeline.test_replay import FIRST, SECOND, message
from tests.pipeline.watching.observing import DIGEST
from tests.pipeline.watching.warehouses import Warehouse


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments])


@pytest.fixture
def lake(tmp_path: Path) -> Warehouse:
    lake = Warehouse(tmp_path)
    lake.letters(["type", "type", "required"])
    lake.land(lake.manifest(0, dead=1, repeated=2))
    lake.land(lake.manifest(1))
    return lake


def test_people_see_job_tables_and_letters(lake: Warehouse) -> None:
    lake.ledger.prepare(lake.manifest(2))
    result = run("--warehouse", lake.path)
    assert result.exit_code == 0, result.output
    text = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert text[0] == f"{lake.ledger.job} not running"
    assert text[1].startswith("last batch 1, ")
    assert text[2] == "all batches 9 in = 6 landed + 1 dead letter + 2 repeated"
    assert text[3] == "dead letters 14.3% of the last 2 batches"
    assert text[5:8] == [
        "lag 7",
        f"catalog {DIGEST[:12]}",
        "pending batch 2 is prepared and not committed",
    ]
    assert text[9].startswith("default.orders.order.placed 6 rows ")
    assert text[10] == "3 open dead letters: type 2, required 1"
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_machines_get_one_object(lake: Warehouse) -> None:
    result = run("--warehouse", lake.path, "-o", "json", "--last", "1")
    found = json.loads(result.stdout)
    assert found["warehouse"] == lake.path
    (job,) = found["jobs"]
    assert (job["batch"], job["running"], job["pending"]) == (1, False, None)
    assert job["recent"]["batches"] == 1
    assert job["total"]["dead_share"] == 0.142857
    assert job["committed"].endswith("Z")
    assert found["tables"][0]["rows"] == 6
    assert found["dead_letters"] == {
        "open": 3,
        "rules": [{"rule": "type", "count": 2}, {"rule": "required", "count": 1}],
        "nearest": [],
    }


def test_deprecated_definitions_are_listed(lake: Warehouse) -> None:
    xid = "/messagegroups/orders/messages/order.placed"
    found = DeprecatedRows(
        rows=3, alternative="https://example.com/new\x1b[2J", removal="2027-01-01"
    )
    lake.land(lake.manifest(2, deprecated={xid: found}))
    result = run("--warehouse", lake.path)
    assert result.stdout.splitlines()[-2:] == [
        f"3 rows of deprecated {xid}",
        "  use https://example.com/new\\x1b[2J; removal 2027-01-01",
    ]
    (listed,) = json.loads(run("--warehouse", lake.path, "-o", "json").stdout)["deprecated"]
    notice = {"alternative": found.alternative, "removal": found.removal}
    assert listed == {"definition": xid, "rows": 3, **notice}


def test_what_is_named_adds_up(tmp_path: Path) -> None:
    lake, near = Warehouse(tmp_path), "/messagegroups/orders/messages/"
    rules = [f"rule-{number}" for number in range(7) for _ in range(9 - number)]
    lake.letters(rules, [f"{near}{rule}" for rule in rules])
    text = run("--warehouse", lake.path).stdout
    start = text.index("42 open dead letters")
    assert text[start:].splitlines()[:8] == [
        "42 open dead letters: rule-0 9, rule-1 8, rule-2 7, rule-3 6, rule-4 5, 7 by",
        "other rules",
        *(f"  {9 - number} near {near}rule-{number}" for number in range(5)),
        "  7 near other definitions",
    ]
    found = json.loads(run("--warehouse", lake.path, "-o", "json").stdout)["dead_letters"]
    assert [one["count"] for one in found["rules"]] == [9, 8, 7, 6, 5, 4, 3]
    assert [one["count"] for one in found["nearest"]] == [9, 8, 7, 6, 5, 4, 3]


def test_replays_are_no_job(tmp_path: Path) -> None:
    def replayed() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run("--warehouse", str(tmp_path), "-o", "json").stdout)
        assert [job["total"]["read"] for job in found["jobs"]] == [10]
        return dict(found["replays"])

    land_lines(tmp_path, FIRST, [message(number, number % 5) for number in range(10)])
    none = dict.fromkeys(("replays", "landed", "refused", "masked", "repeated"), 0)
    assert replayed() == none | {"last": None, "running": False, "pending": None}
    assert "replays" not in run("--warehouse", str(tmp_path)).stdout
    for _ in range(2):
        replay(load_bytes(SECOND, "catalog"), ReplaySettings(warehouse=str(tmp_path)))
    found = replayed()
    assert found.pop("last").endswith("Z")
    told = {"replays": 2, "landed": 6, "refused": 4, "running": False, "pending": None}
    assert found == none | told
    text = run("--warehouse", str(tmp_path)).stdout
    assert re.search(r"\nreplays: 2, last \d+ s ago, 6 landed, 4 refused\n", text), text


def test_a_replay_that_runs_or_was_killed_is_told(lake: Warehouse) -> None:
    with checkpoints.replaying(lake.storage) as ledger:
        text = run("--warehouse", lake.path).stdout
        assert "replays: 0, 0 landed, 0 refused, one is running\n" in text
        ledger.prepare(lake.manifest(1))
    text = run("--warehouse", lake.path).stdout
    assert "0 refused, number 1 is to be finished by the next\n" in text
    found = json.loads(run("--warehouse", lake.path, "-o", "json").stdout)
    assert (found["replays"]["running"], found["replays"]["pending"]) == (False, 1)


def test_an_empty_warehouse_says_so(tmp_path: Path) -> None:
    (tmp_path / "_checkpoint").mkdir()
    result = run("--warehouse", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "0 open dead letters",
        f"no job has landed anything in {tmp_path}",
    ]


def test_watching_goes_on_until_it_is_interrupted(lake: Warehouse) -> None:
    program = "from heraldry.cli.status import command; command()"
    arguments = ["--warehouse", lake.path, "--watch", "-o", "json"]
    watch = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(watch, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["jobs"][0]["batch"] == 1
        lake.land(lake.manifest(2))
        assert json.loads(process.stdout.readline())["jobs"][0]["batch"] == 2
        process.terminate()
        process.wait(10)
