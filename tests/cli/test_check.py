from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main

GOOD = {
    "messagegroups": {
        "orders": {
            "messagegroupid": "orders",
            "envelope": "CloudEvents/1.0",
            "messages": {
                "placed": {
                    "messageid": "placed",
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {
                        "type": {"value": "com.example.placed"},
                        "source": {"type": "uritemplate", "value": "/shops/{shop}"},
                    },
                }
            },
        }
    }
}


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(**changes: Any) -> str:
    """The good catalog with some members of its one message changed."""
    text: dict[str, Any] = json.loads(json.dumps(GOOD))
    text["messagegroups"]["orders"]["messages"]["placed"] |= changes
    return json.dumps(text)


def test_the_examples_are_clean(examples: Path) -> None:
    result = check("--strict", str(examples / "airport"), str(examples / "orders"))
    assert (result.exit_code, result.output) == (0, "0 errors, 0 warnings in 2 files\n")


def test_findings_as_text(here: Path) -> None:
    (here / "a.json").write_text(
        document(envelopemetadata={"source": {"type": "uritemplate", "value": "/shops/{shop"}})
    )
    result = check("a.json")
    assert result.exit_code == 1
    assert (
        result.output
        == """\
a.json
  error    /messagegroups/orders/messages/placed/envelopemetadata/source/value  [M38]
           a brace has no partner
           write placeholders as {name}, with letters, digits and underscores
  error    /messagegroups/orders/messages/placed  [template-invalid]
           '/shops/{shop' is not a template: a '{' is not closed; no message
           will ever match this definition
           placeholders are names in braces, such as {deviceid}

2 errors, 0 warnings in 1 file
"""
    )


def test_findings_as_json(here: Path) -> None:
    (here / "a.json").write_text(
        document(dataschemaformat="Oops/1", dataschemaxid="/schemagroups/x")
    )
    found = json.loads(check("a.json", "-o", "json").stdout)
    assert found
    for finding in found:
        assert set(finding) == {"file", "location", "rule", "severity", "message", "advice"}
        assert finding["file"] == "a.json"


def test_no_findings_are_an_empty_array(here: Path) -> None:
    (here / "a.json").write_text(document())
    result = check("a.json", "--format", "json")
    assert (result.exit_code, result.output) == (0, "[]\n")


def test_strict_makes_warnings_count(here: Path) -> None:
    (here / "a.json").write_text(
        document(dataschemaformat="JSONSchema/draft-07", dataschemaxid="/schemagroups/x/schemas/y")
    )
    loose, strict = check("a.json"), check("--strict", "a.json")
    assert (loose.exit_code, strict.exit_code) == (0, 1)
    assert loose.output == strict.output
    assert loose.output.endswith("0 errors, 1 warning in 1 file\n")


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_checked(here: Path) -> None:
    (here / "broken.json").write_text('{"messagegroups": {')
    (here / "good.json").write_text(document())
    result = check(".", "-o", "json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)
    assert (finding["file"], finding["rule"], finding["severity"]) == (
        "broken.json",
        "document",
        "error",
    )
    assert check(".").output.endswith("1 error, 0 warnings in 2 files\n")


def test_an_older_generation_is_named(reference: Path) -> None:
    result = check(str(reference / "catalogs/xregistry-samples/contoso-crm.cereg"), "-o", "json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)
    assert finding["rule"] == "document"
    assert "CloudEvents Registry (.cereg, 2023)" in finding["message"]


def test_the_same_group_in_two_files_is_a_finding(here: Path) -> None:
    (here / "a.json").write_text(document())
    (here / "b.json").write_text(document())
    result = check("a.json", "b.json", "-o", "json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)
    assert (finding["file"], finding["location"]) == ("b.json", "/messagegroups/orders")
    assert "is already in a.json" in finding["message"]


def test_references_between_files_are_followed(here: Path) -> None:
    xid = "/schemagroups/s/schemas/placed"
    (here / "a.json").write_text(
        document(dataschemaformat="JSONSchema/draft-07", dataschemaxid=xid)
    )
    schema = {
        "format": "JSONSchema/draft-07",
        "versions": {"1": {"format": "JSONSchema/draft-07", "schema": {"type": "object"}}},
    }
    (here / "b.yaml").write_text(
        json.dumps({"schemagroups": {"s": {"schemas": {"placed": schema}}}})
    )
    result = check("--strict", ".")
    assert (result.exit_code, result.output) == (0, "0 errors, 0 warnings in 2 files\n")


def test_a_path_that_is_not_there_is_a_usage_error() -> None:
    result = check("nowhere.json")
    assert result.exit_code == 2
    assert "'nowhere.json' does not exist" in result.stderr


def test_a_folder_without_a_catalog_is_a_usage_error(here: Path) -> None:
    (here / "notes.json").write_text("{}")
    result = check(".")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "heraldry: .: no catalog here: name a document or a folder\n"


def test_a_message_that_two_definitions_accept_is_folded_and_stays_json(here: Path) -> None:
    first = {"topic_name": "{a}/z", "user_properties": [{"name": "b", "value": 'say "a, b", go'}]}
    every = {
        "first": {"protocol": "MQTT/5.0", "protocoloptions": first},
        "second": {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "q/{b}"}},
    }
    (here / "a.json").write_text(json.dumps({"messagegroups": {"g": {"messages": every}}}))
    result = check("a.json")
    text = result.output.partition("dead letter:\n")[2].partition("let a constant")[0]
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(text.splitlines()) > 2
    assert json.loads(text)["metadata"] == {
        "topic_name": "q/z",
        "user_properties": [{"name": "b", "value": 'say "a, b", go'}],
    }
