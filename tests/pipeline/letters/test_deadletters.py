"""Dead letters: every message that did not land, with its reasons."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.letters.alternatives import definition_meant
from heraldry.pipeline.letters.letter import letter_id, letter_ids
from heraldry.pipeline.letters.where import both, equals, where
from heraldry.pipeline.sources.file_reading import read_file
from tests.pipeline.landing.without_spark import RECEIVED, Setting, judge_of
from tests.pipeline.letters.lettering import land_lines
from tests.suites.streams import WIDE, event, line, xid

SETTING = Setting(catalog=WIDE)
NUMBERS = (float("nan"), float("inf"), float("-inf"), float("nan"))
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


def land(warehouse: Path, lines: Sequence[bytes], batch: int = 7) -> None:
    land_lines(warehouse, WIDE, lines, batch=batch)


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no such warehouse"):
        deadletters.groups(str(tmp_path / "none"))


def test_no_letters(tmp_path: Path) -> None:
    (tmp_path / "_checkpoint").mkdir()
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
    condition = both(equals("rule", rule), equals("definition", definition))
    found = deadletters.groups(str(warehouse), where=condition)
    assert sum(group.count for group in found) == count
    letters = deadletters.letters(str(warehouse), where=condition)
    assert len(list(letters)) == count


def in_order(warehouse: Path) -> list[dict[str, Any]]:
    """The letters by the lines they are of."""
    return sorted(deadletters.letters(str(warehouse)), key=lambda one: str(one["position"]))


def test_letters_hold_the_message(warehouse: Path) -> None:
    found = in_order(warehouse)
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
    letter = in_order(warehouse)[2]
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


# --- groups over many batches, and reading no more than is asked for


def test_records_of_files_that_lack_the_same_are_one_group(tmp_path: Path) -> None:
    events = [event("order", {"id": str(n), "total": number}) for n, number in enumerate(NUMBERS)]
    pq.write_table(pa.Table.from_pylist(events), tmp_path / "a.parquet")
    read = read_file((tmp_path / "a.parquet").as_uri())
    found = [one for batch in read for one in batch.column("value").to_pylist()]
    land(tmp_path / "lake", found)
    (group,) = deadletters.groups(str(tmp_path / "lake"))
    assert (group.count, group.rule, group.path) == (len(NUMBERS), "file", "/data/total")
    assert group.message == "cannot be read"
    told = list(deadletters.letters(str(tmp_path / "lake")))
    assert {one["found"] for one in told} == {
        "nan is no number of JSON",
        "inf is no number of JSON",
        "-inf is no number of JSON",
    }
    for number, one in enumerate(told):
        assert f"'data': {{'id': '{number}', 'total': " in json.loads(one["line"])["unreadable"]


def test_groups_tell_when_they_were_seen(tmp_path: Path) -> None:
    for batch in range(3):
        received = RECEIVED.replace(minute=batch)
        land_lines(tmp_path, WIDE, [b"[]"] * (batch + 1), batch=batch, received=received)
    (found,) = deadletters.groups(str(tmp_path))
    assert (found.count, found.first.minute, found.last.minute) == (6, 0, 2)


def test_the_newest_come_first(tmp_path: Path) -> None:
    for batch in range(3):
        land(tmp_path, [b"[]"] * 3, batch)
    found = list(deadletters.letters(str(tmp_path), 4, newest=True))
    assert [(one["batch"], one["position"]) for one in found] == [
        (2, "0+2"),
        (2, "0+1"),
        (2, "0+0"),
        (1, "0+2"),
    ]


def test_no_more_files_are_read_than_needed(tmp_path: Path) -> None:
    for batch in range(3):
        land(tmp_path, [b"[]"] * 3, batch)
    files = sorted((tmp_path / "_dead_letters").glob("*.parquet"))
    files[2].unlink()
    files[1].unlink()
    assert [one["batch"] for one in deadletters.letters(str(tmp_path), 3)] == [0, 0, 0]
    with pytest.raises(WarehouseError, match="is gone, though its table names it"):
        list(deadletters.letters(str(tmp_path), 4))


def test_a_letter_by_its_id(warehouse: Path) -> None:
    ids = [letter["letter"] for letter in in_order(warehouse)]
    assert len(set(ids)) == len(LINES)
    found = deadletters.find_letter(str(warehouse), ids[2][:8])
    assert (found["letter"], found["rule"], found["replays"]) == (ids[2], "type", [])
    json.dumps(found)


@pytest.mark.parametrize("start", ["abc", "zzzzzzzz"], ids=["too short", "unknown"])
def test_no_letter_by_that_id(warehouse: Path, start: str) -> None:
    with pytest.raises(UsageError, match=start):
        deadletters.find_letter(str(warehouse), start)


def test_ids_tell_jobs_sources_and_positions_apart() -> None:
    places = [("j", "s", "1"), ("j", "s1", ""), ("js", "", "1"), ("j", "s", "2"), ("k", "s", "1")]
    ids = [letter_id(*place) for place in places]
    assert len(set(ids)) == len(places)
    assert ids[0] == letter_id("j", "s", "1")
    found = letter_ids("j", pa.array(["s", "s"]), pa.array(["1", "2"]))
    assert found.to_pylist() == [ids[0], ids[3]]


# --- the terms


@pytest.mark.parametrize(
    ("terms", "count"),
    [
        (["rule=type"], 3),
        (["rule=t?pe"], 3),
        (["rule!=type"], 4),
        (["stage=decode, rule=e*"], 2),
        (["stage=decode", "rule=empty"], 1),
        ([f"definition={xid('order')}"], 2),
        (["definition=*/order"], 2),
        (["definition!=*/order"], 5),
        (["message~TYPE"], 3),
        (["message~a, b"], 0),
        (["source=fi*"], 7),
        (["source=other"], 0),
        (["position=0+3"], 1),
        (["batch>=7"], 7),
        (["batch > 7"], 0),
        (["batch<=7,batch!=8"], 7),
        (["batch<9223372036854775807, batch>=-9223372036854775808"], 7),
        (["since=2026-11-16T08:30:00Z"], 7),
        (["since=2026-11-16T09:30:00+01:00"], 7),
        (["since=2026-11-16T08:30:01"], 0),
        (["until=2026-11-16"], 0),
        (["since=2h"], 7),
        (["since=29m"], 0),
        (["path=/id"], 2),
        (["stage=de*"], 2),
        (["stage~CODE"], 2),
        (["definition=order"], 2),
        (["definition!=order"], 5),
        (["definition=ord"], 0),
        (["message~=x"], 0),
    ],
    ids=str,
)
def test_terms(warehouse: Path, terms: list[str], count: int) -> None:
    meant = partial(definition_meant, str(warehouse))
    condition = where(terms, now=RECEIVED.replace(hour=9), definition=meant)
    assert deadletters.count_letters(str(warehouse), where=condition) == count
    assert len(list(deadletters.letters(str(warehouse), where=condition))) == count
    found = deadletters.groups(str(warehouse), where=condition)
    assert sum(group.count for group in found) == count


@pytest.mark.parametrize(
    "term",
    [
        "",
        "rule",
        "rule>type",
        "colour=red",
        "batch=x",
        "batch=99999999999999999999",
        "batch<9223372036854775808",
        "batch>-9223372036854775809",
        pytest.param("batch=" + "9" * 5000, id="batch of 5000 digits"),
        "since=99999999999d",
        "until=999999999d",
        "since=999999999999999999999999w",
        pytest.param("since=" + "9" * 5000 + "s", id="age of 5000 digits"),
        "batch~1",
        "since=soon",
        "since>2h",
        "RULE=a",
        "rule==type",
        "rule!==type",
        "stage = =decode",
        "stage=validat",
        "stage!=Validate",
        "stage=handle",
        "stage=v*d",
        "stage~decoded",
    ],
)
def test_what_is_no_term(term: str) -> None:
    with pytest.raises(UsageError):
        where([term])


def test_no_terms() -> None:
    assert where([]) is None
    assert both(None, None) is None
