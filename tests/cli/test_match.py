from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main

LOADED = {
    "specversion": "1.0",
    "type": "org.example.airport.luggage.loaded",
    "source": "/airports/MUC/belts/7",
    "id": "1",
    "subject": "BAG-0220731",
    "time": "2026-06-01T04:00:00Z",
    "data": {
        "tag": "0220731000",
        "flight": {"carrier": "LH", "number": 454, "date": "2026-06-01"},
        "position": {"hold": 1},
        "loadedat": "2026-06-01T04:00:00Z",
    },
}
XID = "/messagegroups/luggage/messages/loaded"


@pytest.fixture
def catalog(examples: Path) -> str:
    return str(examples / "airport")


def match(catalog: str, text: str | bytes, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["match", "--catalog", catalog, *arguments], input=text)


def test_a_message_that_fits(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"1  {XID}\n   airport = MUC\n   belt = 7\n   tag = 0220731\n"


def test_a_message_that_fits_as_json(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED), "-o", "json")
    assert json.loads(result.stdout) == {
        "definition": XID,
        "values": {"airport": "MUC", "belt": "7", "tag": "0220731"},
        "candidates": [XID],
        "problems": [],
        "near": [],
    }


def test_reasons_and_near_misses(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED | {"subject": "TAG-1"}))
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
1  no match
   near /messagegroups/luggage/messages/loaded (75% of its rules hold)
     attributes.subject: does not fit 'BAG-{tag}' [template]
       found TAG-1
   near /messagegroups/luggage-mqtt/messages/loaded (50% of its rules hold)
     attributes.source: does not fit '/airports/{airport}/scanners/{scanner}'
     [template]
       found /airports/MUC/belts/7
     attributes.subject: does not fit 'BAG-{tag}' [template]
       found TAG-1
"""
    )


def test_reasons_and_near_misses_as_json(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED | {"subject": "TAG-1"}), "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    problem = {
        "definition": XID,
        "path": "attributes.subject",
        "rule": "template",
        "message": "does not fit 'BAG-{tag}'",
        "expected": "BAG-{tag}",
        "found": "TAG-1",
    }
    assert (found["definition"], found["values"], found["candidates"]) == (None, {}, [])
    assert found["problems"] == [problem]
    assert found["near"][0] == {"definition": XID, "score": 0.75, "problems": [problem]}


def test_explain_shows_every_property_of_the_nearest(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED | {"subject": "TAG-1"}), "--explain")
    assert result.exit_code == 1
    assert result.stdout.endswith("""\
   /messagegroups/luggage/messages/loaded
     ok  envelope                CloudEvents/1.0
     ok  attributes.id           1
                                 expected string
     ok  attributes.source       /airports/MUC/belts/7
                                 expected /airports/{airport}/belts/{belt}
     ok  attributes.type         org.example.airport.luggage.loaded
     ok  attributes.specversion  1.0
     !!  attributes.subject      TAG-1
                                 expected BAG-{tag} [template]
     ok  attributes.time         2026-06-01T04:00:00Z
                                 expected timestamp
     ok  content_type            application/json
""")


def test_explain_as_json(catalog: str) -> None:
    found = json.loads(match(catalog, json.dumps(LOADED), "--explain", "-o", "json").stdout)
    (explained,) = found["explain"]
    assert explained["definition"] == XID
    assert {"path": "attributes.specversion", "expected": "1.0"}.items() <= next(
        one for one in explained["properties"] if one["path"] == "attributes.specversion"
    ).items()


def test_a_payload_that_breaks_its_schema_has_a_definition_and_problems(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED | {"data": {}}), "-o", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["definition"] == XID
    assert {problem["rule"] for problem in found["problems"]} == {"required"}
    assert {problem["definition"] for problem in found["problems"]} == {XID}


def test_lines_that_are_no_messages(catalog: str) -> None:
    result = match(
        catalog, b"oops\n\n[]\n" + json.dumps(LOADED).encode() + b"\n\xff\n", "-o", "json"
    )
    assert result.exit_code == 1
    rules = [
        [p["rule"] for p in json.loads(line)["problems"]] for line in result.stdout.splitlines()
    ]
    assert rules == [["json"], ["empty"], ["not-a-message"], [], ["encoding"]]


def test_several_lines_end_with_a_count_on_stderr(catalog: str) -> None:
    result = match(catalog, json.dumps(LOADED) + "\noops\n")
    assert result.exit_code == 1
    assert result.stderr == "2 messages: 1 matched, 1 not\n"


@pytest.mark.parametrize(
    "indent", [pytest.param(None, id="one-line"), pytest.param(2, id="pretty-printed")]
)
def test_a_single_document(indent: int | None, catalog: str, tmp_path: Path) -> None:
    file = tmp_path / "message.json"
    file.write_text(json.dumps(LOADED, indent=indent) + "\n")
    result = match(catalog, "", str(file))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"1  {XID}\n")


def test_nothing_to_match(catalog: str) -> None:
    result = match(catalog, "")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 messages: 0 matched, 0 not\n"


def test_without_a_catalog_it_is_a_usage_error() -> None:
    result = CliRunner(env={"HERALDRY_CATALOG": None}).invoke(main, ["match"])
    assert result.exit_code == 2
    assert "Missing option '--catalog'" in result.stderr


def test_a_catalog_that_cannot_be_parsed_is_exit_1(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"messagegroups": ')
    result = match(str(path), "")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"heraldry: {path}: ")
