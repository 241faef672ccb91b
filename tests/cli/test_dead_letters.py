"""``heraldry dead-letters``: groups, letters, one letter, and exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli.dead_letters import command
from heraldry.cli.main import main
from heraldry.dialects.load import load_bytes
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.landing.without_spark import RECEIVED
from tests.pipeline.letters.lettering import land_lines, mask_letters
from tests.pipeline.test_replay import FIRST, SECOND, message
from tests.pipeline.watching.warehouses import Warehouse
from tests.suites.streams import WIDE, event, line, xid

LINES = (
    b"no message",
    line(event("order", {"id": 1, "total": 1})),
    line({**event("raw", 1), "type": "shop.rew"}),
    b"\xff",
)

RULES = "rules there are: encoding, json, constant, type"
DEFINITIONS = f"definitions there are: {xid('raw')}, {xid('order')}"
STAGES = "stages there are: decode, match, validate"


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
    assert text.endswith("3 of 8 open dead letters\n")
    assert told(lake, "--rows", "8").endswith("\n8 dead letters\n")
    assert told(lake, "--rows", "0") == "0 of 8 open dead letters\n"
    assert told(lake, "--rows", "1", "--all").endswith("\n1 of 8 dead letters\n")
    fitting = told(lake, "--rows", "1", "--rule", "type")
    assert fitting.endswith("\n1 of 2 open dead letters that fit\n")
    found = json.loads(told(lake, "--rows", "-o", "json"))
    assert len({one["letter"] for one in found}) == 8


@pytest.mark.parametrize("rows", [(), ("--rows",), ("--rows", "1"), ("--rows", "0")], ids=str)
@pytest.mark.parametrize(
    ("options", "there"),
    [
        (("--rule", "tpye"), f"; {RULES}"),
        (("--definition", "ordr"), f"; {DEFINITIONS}"),
        (("--where", "rule=tpye"), f"; {RULES}"),
        (("--where", "definition=*/ordr"), f"; {DEFINITIONS}"),
        (("--where", "stage=map"), f"; {STAGES}"),
        (("--where", "source=other"), ""),
        (("--rule", "tpye", "--where", "stage=map, batch=0"), f"; {RULES}; {STAGES}"),
    ],
    ids=str,
)
def test_terms_that_fit_nothing(
    lake: str, options: tuple[str, ...], there: str, rows: tuple[str, ...]
) -> None:
    text = told(lake, *rows, *options)
    assert " ".join(text.split()) == f"0 of 8 open dead letters fit{there}"
    assert told(lake, *rows, *options, "-o", "json") == "[]\n"


def test_what_there_is_is_told_of_letters_that_count(tmp_path: Path) -> None:
    lake = str(tmp_path)
    (tmp_path / "_checkpoint").mkdir()
    assert told(lake, "--rule", "x") == f"0 dead letters with 0 reasons in {lake}\n"
    land_lines(tmp_path, FIRST, [message(number, number % 5) for number in range(10)])
    replay(load_bytes(SECOND, "catalog"), ReplaySettings(warehouse=lake))
    assert told(lake, "--rule", "x").startswith("0 of 4 open dead letters fit; rules there are: ")
    assert told(lake, "--rule", "x", "--all").startswith("0 of 10 dead letters fit; rules")
    assert told(lake, "--rows", "1").endswith("\n1 of 4 open dead letters\n")
    assert told(lake, "--rows", "1", "--all").endswith("\n1 of 10 dead letters\n")


def test_an_export_of_nothing_says_why(lake: str) -> None:
    options = ["--warehouse", lake, "--export", "-", "--where", "stage=map"]
    result = CliRunner().invoke(command, options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"0 of 8 open dead letters fit; {STAGES}\n0 messages exported\n"


@pytest.mark.parametrize(
    "options", [("--definition", "order"), ("--where", "definition=order")], ids=str
)
def test_a_definition_by_its_bare_id(lake: str, options: tuple[str, str]) -> None:
    assert told(lake, *options) == told(lake, "--definition", xid("order"))


def test_a_bare_id_of_several_definitions(tmp_path: Path) -> None:
    xids = [f"/messagegroups/{group}/messages/placed" for group in "ab"]
    Warehouse(tmp_path).letters(["type", "type"], xids)
    hint = f"did you mean {xids[0]} or {xids[1]}?"
    for options in (["--definition", "placed"], ["--where", "definition!=placed"]):
        text = refused(str(tmp_path / "lake"), *options)
        assert text == f"heraldry: the warehouse has no message definition placed; {hint}"
    assert "1 dead letter with" in told(str(tmp_path / "lake"), "--definition", xids[1])


def test_ten_values_are_named(tmp_path: Path) -> None:
    lake = Warehouse(tmp_path)
    lake.letters([f"rule-{number:02}" for number in range(13)])
    text = " ".join(told(lake.path, "--rule", "x").split())
    assert text.endswith("rule-08, rule-09 and 3 more")


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


@pytest.mark.parametrize("way", ["groups", "rows", "letter"])
def test_a_terminal_obeys_no_message(tmp_path: Path, way: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\n\u202e\x9b"
    schema = {"type": "object", "additionalProperties": {"type": "number"}}
    one = {
        "envelope": "CloudEvents/1.0",
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschema": schema,
    }
    group = {"messagegroupid": "g", "messages": {"m": one}}
    catalog = json.dumps({"messagegroups": {"g": group}}).encode()
    land_lines(tmp_path, catalog, [line(event("raw", {evil: evil}))])
    lake = str(tmp_path)
    found = json.loads(told(lake, "--rows", "-o", "json"))
    assert found[0]["path"] == f"/{evil}"
    more = {"groups": [], "rows": ["--rows"], "letter": ["--letter", found[0]["letter"]]}
    text = told(lake, *more[way])
    assert "/\\x1b]0;owned\\x07\\x1b[2J\\n\\u202e\\x9b: is not of type number" in text
    assert text.replace("\n", "").isprintable()


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


def refused(lake: str, *more: str, config: str = "") -> str:
    """The one line of a command that could not be carried out."""
    before = ["--config", config] if config else []
    result = CliRunner().invoke(main, [*before, "dead-letters", "--warehouse", lake, *more])
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    (told,) = result.stderr.splitlines()
    return told


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--rows 1 --export -", "--rows and --export do not go together: give one of them"),
        ("--rows 1 --letter abcdef", "--rows and --letter do not go together: give one of them"),
        ("--newest", "--newest is for --rows: add --rows, or leave it out"),
        ("--as connect", "--as is for --export: add --export, or leave it out"),
        ("--rows 1 --as lines", "--rows and --as do not go together: leave out --as"),
        ("--letter abcdef --rule type", "--letter and --rule do not go together"),
        ("--letter abcdef --definition /x", "--letter and --definition do not go together"),
        ("--letter abcdef --where rule=type", "--letter and --where do not go together"),
        ("--letter abcdef --all", "--letter and --all do not go together"),
        ("--letter abcdef --newest", "--letter and --newest do not go together"),
        ("--letter abcdef --as connect", "--letter and --as do not go together"),
        ("--export - --newest", "--export and --newest do not go together"),
        ("--export - -o json", "--export and --format do not go together: leave out --format"),
        ("--where batch=99999999999999999999", "is not the number of a batch"),
        ("--where stage=validat", "'validat' is no stage: there are decode, match, validate,"),
        ("--where rule==type", "'rule==type' has one = too many: rule=type"),
        ("--where since=99999999999d", "is longer ago than time can be told"),
    ],
    ids=str,
)
def test_what_has_no_effect_is_refused(lake: str, options: str, reason: str) -> None:
    assert reason in refused(lake, *options.split())


def test_settings_are_for_the_way_that_has_a_use_for_them(lake: str, tmp_path: Path) -> None:
    config = tmp_path / "heraldry.toml"
    config.write_text(
        '[dead-letters]\nrows = 2\nnewest = true\nas = "connect"\nwhere = "batch=1"\nall = true\n'
    )
    start = ["--config", str(config), "dead-letters", "--warehouse", lake]
    run = CliRunner(env={"HERALDRY_FORMAT": "json"}).invoke
    found = run(main, start)
    assert found.exit_code == 0
    letters = json.loads(found.stdout)
    assert [one["batch"] for one in letters] == [1, 1]
    exported = run(main, [*start, "--export", "-"])
    assert [json.loads(one)["protocol"] for one in exported.stdout.splitlines()] == ["KAFKA"] * 4
    one = run(main, [*start, "--letter", letters[0]["letter"]])
    assert json.loads(one.stdout)["letter"] == letters[0]["letter"]
    assert "--rows and --as do not" in refused(lake, "--as", "connect", config=str(config))


@pytest.mark.parametrize("place", ["no/such/folder/file", "."], ids=["nowhere", "folder"])
def test_an_export_that_cannot_be_written(lake: str, tmp_path: Path, place: str) -> None:
    target = str(tmp_path / place)
    told = refused(lake, "--export", target)
    assert told.startswith(f"heraldry: {target} cannot be written: ")
