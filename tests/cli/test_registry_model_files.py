"""`heraldry model normalize` and `verify`: models in files, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main


def run(*arguments: str, input: str | None = None) -> Result:  # noqa: A002
    return CliRunner().invoke(main, ["model", *arguments], input=input)


@pytest.mark.covers("MD-60", "MD-62")
def test_normalize_puts_includes_in_place(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text('{"groups": {"dirs": {"singular": "dir"}}}')
    file = tmp_path / "model.json"
    file.write_text('{"$schema": "x", "groups": {"$include": "all.json#groups"}}')
    result = run("normalize", str(file))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["groups"] == {"dirs": {"singular": "dir"}}
    assert json.loads(run("normalize", input='{"groups": {}}').stdout) == {"groups": {}}


@pytest.mark.parametrize(
    "reference",
    ["../secret.json", "file:///etc/hostname", "http://127.0.0.1:9/x.json"],
    ids=["above", "elsewhere", "network"],
)
def test_includes_lead_nowhere_else(tmp_path: Path, reference: str) -> None:
    (tmp_path / "secret.json").write_text('{"groups": {}}')
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps({"$include": reference}))
    result = run("normalize", str(folder / "model.json"))
    assert result.exit_code == 1
    assert "not on the list" in result.stderr


def test_verify(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.json"
    good.write_text("groups: {dirs: {singular: dir}}\n")
    bad.write_text('{"groups": {"dirs": {"singular": "dirs"}}}')
    assert run("verify", str(good)).stdout == f"{good}: a model of dirs\n"
    shown = json.loads(run("verify", "--full", str(good)).stdout)
    assert shown["groups"]["dirs"]["attributes"]["epoch"]["type"] == "uinteger"
    result = run("verify", str(good), str(bad))
    assert result.exit_code == 1
    assert result.stdout == f"{good}: a model of dirs\n"
    assert "model error" in result.stderr


def test_verify_reads_the_version_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    files = {"singular": "file", "consistentformat": True}
    file.write_text(
        json.dumps({"groups": {"dirs": {"singular": "dir", "resources": {"files": files}}}})
    )
    assert run("verify", str(file)).exit_code == 0
    assert run("verify", str(file), "--specversion", "1.0-rc4").exit_code == 1


@pytest.mark.parametrize("text", ["[]", "groups: ["], ids=["no-object", "no-yaml"])
def test_what_is_no_model(tmp_path: Path, text: str) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(text)
    assert run("verify", str(file)).exit_code == 1
