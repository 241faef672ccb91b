"""Dead letters: every message that did not land, with its reasons."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from heraldry.errors import WarehouseError
from heraldry.pipeline import deadletters, delta
from heraldry.pipeline.layout import DEAD_LETTERS
from tests.pipeline.landing import Setting, judge_of, lander_of, lines_of
from tests.suites.streams import WIDE, event, line, xid

SETTING = Setting(catalog=WIDE)
LINES = (
    b"",
    b"\xff",
    line(event("order", {"id": 1, "total": 1})),
    line(event("order", {"id": 2, "total": 1})),
    line({**event("raw", 1), "type": "shop.none"}),
    line(event("scalar", 2**70)),
    line(event("scan", {"weight": "heavy"})),
)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    land(tmp_path, LINES)
    return tmp_path


def land(warehouse: Path, lines: Sequence[bytes]) -> None:
    result = lander_of(SETTING, warehouse).land(lines_of(lines))
    table = delta.create_table(str(warehouse / DEAD_LETTERS), deadletters.SCHEMA, {})
    files = [
        delta.DataFile(name=row["file"], rows=row["rows"], size=row["size"])
        for row in result.to_pylist()
        if row["path"] == DEAD_LETTERS
    ]
    assert delta.commit_files(table, files, "job", 7)


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no such warehouse"):
        deadletters.groups(str(tmp_path / "none"))


def test_no_letters(tmp_path: Path) -> None:
    assert deadletters.groups(str(tmp_path)) == ()
    assert list(deadletters.letters(str(tmp_path))) == []


def test_groups_by_cause(warehouse: Path) -> None:
    found = deadletters.groups(str(warehouse))
    assert sum(group.count for group in found) == len(LINES)
    assert (found[0].count, found[0].stage, found[0].definition) == (2, "validate", xid("order"))
    assert found[0].path == "/id"
    stages = {(group.stage, group.rule) for group in found}
    assert {("decode", "empty"), ("decode", "encoding"), ("validate", "type")} <= stages
    assert ("land", "column") in stages
    assert any(group.stage == "match" for group in found)


@pytest.mark.parametrize(
    ("rule", "definition", "count"),
    [
        ("empty", None, 1),
        (None, xid("order"), 2),
        ("type", xid("order"), 2),
        ("empty", xid("order"), 0),
        ("no such rule", None, 0),
    ],
    ids=["rule", "definition", "both", "neither", "unknown"],
)
def test_filters(warehouse: Path, rule: str | None, definition: str | None, count: int) -> None:
    found = deadletters.groups(str(warehouse), rule=rule, definition=definition)
    assert sum(group.count for group in found) == count
    letters = deadletters.letters(str(warehouse), rule=rule, definition=definition)
    assert len(list(letters)) == count


def test_letters_hold_the_message(warehouse: Path) -> None:
    found = list(deadletters.letters(str(warehouse)))
    assert [letter["position"] for letter in found] == [f"0+{n}" for n in range(len(LINES))]
    for letter, original in zip(found, LINES, strict=True):
        if "line_base64" in letter:
            assert "line" not in letter
            assert base64.b64decode(letter["line_base64"]) == original
        else:
            assert letter["line"].encode() == original
    assert ["line_base64" in letter for letter in found].count(True) == 1
    json.dumps(found)


def test_letters_hold_every_reason(warehouse: Path) -> None:
    letter = list(deadletters.letters(str(warehouse)))[2]
    verdict = judge_of(SETTING).judge(LINES[2])
    assert [problem["rule"] for problem in letter["problems"]] == ["type"]
    assert letter["message"] == letter["problems"][0]["message"]
    assert letter["received"] == "2026-11-16T08:30:00Z"
    assert (letter["batch"], letter["source"]) == (7, "file")
    assert verdict.definition == letter["definition"]  # type: ignore[union-attr]


def test_letters_up_to_a_limit(warehouse: Path) -> None:
    assert len(list(deadletters.letters(str(warehouse), 3))) == 3
    assert list(deadletters.letters(str(warehouse), 0)) == []


def test_letters_come_in_order(tmp_path: Path) -> None:
    """Positions count: the tenth line of a file follows the ninth."""
    land(tmp_path, [b"[]"] * 12 + [line(event("order", {"id": 1, "total": 1}))] + [b"{}"] * 3)
    found = [letter["position"] for letter in deadletters.letters(str(tmp_path))]
    assert found == [f"0+{n}" for n in range(16)]
