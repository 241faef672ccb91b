"""``heraldry dead-letters``: groups, letters, one letter, and exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli.dead_letters import command
from tests.pipeline.landing.without_spark import RECEIVED
from tests.pipeline.letters.lettering import land_lines, mask_letters
from tests.suites.streams import WIDE, event, line, xid

LINES = (
    b"no message",
    line(event("order", {"id": 1, "total": 1})),
    line({**event("raw", 1), "type": "shop.rew"}),
    b"\xff",
)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    for batch in (0, 1):
        received = RECEIVED.replace(minute=batch)
        land_lines(tmp_path, WIDE, LINES, batch=batch, received=received, source=f"s{batch}")
    return str(tmp_path)


def told(lake: str, *more: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, ["--warehouse", lake, *more])
    assert result.exit_code == code, result.output
    return result.stdout


def test_groups(lake: str) -> None:
    text = told(lake)
    assert "8 dead letters with 4 reasons" in text
    assert "seen 2026-11-16 08:00:00 to 2026-11-16 08:01:00" in text
    groups = json.loads(told(lake, "-o", "json"))
    assert [group["count"] for group in groups] == [2] * 4
    assert {group["first"] for group in groups} == {"2026-11-16T08:00:00Z"}


def test_terms(lake: str) -> None:
    text = told(lake, "--where", "stage=decode, source=s1", "--rule", "encoding")
    assert "1 dead letter with 1 reason" in text
    assert "2 dead letters" in told(lake, "--definition", xid("order"))


def test_a_term_that_is_none(lake: str) -> None:
    result = CliRunner().invoke(command, ["--warehouse", lake, "--where", "colour=red"])
    assert result.exit_code != 0


def test_rows(lake: str) -> None:
    text = told(lake, "--rows", "3", "--newest")
    assert text.count("batch 1") == 3
    assert "batch 0" not in text
    assert text.endswith("3 dead letters\n")
    found = json.loads(told(lake, "--rows", "-o", "json"))
    assert len({one["letter"] for one in found}) == 8


def test_one_letter(lake: str) -> None:
    found = json.loads(told(lake, "--rows", "-o", "json", "--where", "stage=match, batch=0"))
    start = found[0]["letter"][:10]
    text = told(lake, "--letter", start)
    assert f"letter    {found[0]['letter']}" in text
    assert f"Nearly {xid('raw')}" in text
    assert "  attributes.type: " in text
    assert "    expected shop.raw" in text
    assert "    found shop.rew" in text
    assert '"shop.rew"' in text.splitlines()[-1]
    whole = json.loads(told(lake, "--letter", start, "-o", "json"))
    assert (whole["letter"], whole["replays"]) == (found[0]["letter"], [])


def test_export(lake: str, tmp_path: Path) -> None:
    target = tmp_path / "letters.jsonl"
    told(lake, "--export", str(target), "--where", "batch=1")
    assert target.read_bytes() == b"".join(one + b"\n" for one in LINES)


def test_export_leaves_masked_letters_out(lake: str) -> None:
    mask_letters(Path(lake), ["id"], batch=7)
    result = CliRunner().invoke(command, ["--warehouse", lake, "--export", "-"])
    assert result.exit_code == 0
    assert len(result.stdout_bytes.splitlines()) == 8
    assert "8 messages exported, 8 left out because they are masked" in result.stderr


def test_export_as_kafka_records(lake: str) -> None:
    text = told(lake, "--export", "-", "--as", "connect", "--where", "batch=1")
    records = [json.loads(one) for one in text.splitlines()]
    assert [record["protocol"] for record in records] == ["KAFKA"] * 4
    headers = records[1]["metadata"]["headers"]
    assert headers["__connect.errors.exception.class.name"] == "type"
    assert headers["content-type"] == "application/cloudevents+json"
    assert records[1]["payload"]["type"] == "shop.order"


def test_one_way_at_a_time(lake: str) -> None:
    result = CliRunner().invoke(command, ["--warehouse", lake, "--rows", "1", "--export", "-"])
    assert result.exit_code != 0
