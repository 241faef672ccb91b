"""``--allow``: every command that reads a catalog fetches base messages, if it may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.cli.main import COMMANDS
from heraldry.client.resolver import Resolver
from heraldry.dialects.dump import dump
from heraldry.dialects.load import load
from heraldry.pipeline.landing.lander import Crew
from tests.client.registries import Registry, running

READERS = ["check", "match", "build", "columns", "diff", "publish", "consume", "land", "replay"]
XID = "/messagegroups/g/messages/m"


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running() as one:
        one.message("b", envelope="CloudEvents/1.0", envelopemetadata={"type": {"value": "t"}})
        yield one


@pytest.fixture
def file(registry: Registry, tmp_path: Path) -> str:
    base = f"{registry.url}/messagegroups/g/messages/b"
    path = tmp_path / "c.xreg.json"
    path.write_text(
        json.dumps({"messagegroups": {"g": {"messages": {"m": {"basemessage": base}}}}})
    )
    return str(path)


def run(*arguments: str, **environment: str) -> str:
    event = json.dumps({"specversion": "1.0", "id": "1", "source": "/s", "type": "t"})
    result = CliRunner().invoke(main, arguments, input=event, env=environment)
    assert result.exit_code in (0, 1), result.output
    return result.stdout


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in COMMANDS])
def test_every_command_that_reads_a_catalog_has_it(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert ("allow" in {one.name for one in command.params}) == (name in READERS)


def test_match(registry: Registry, file: str) -> None:
    assert "no match" in run("match", "--catalog", file)
    assert registry.paths == []
    assert XID in run("match", "--catalog", file, "--allow", registry.url)
    assert XID in run("match", "--catalog", file, HERALDRY_ALLOW=f"https://h/ {registry.url}")
    assert len(registry.paths) == 2


def test_build_and_columns(registry: Registry, file: str) -> None:
    allow = ("--catalog", file, "--allow", registry.url, "m", "-o", "json")
    assert json.loads(run("build", *allow, "--set", "source=/s"))["type"] == "t"
    assert "ce_type" in run("columns", *allow)


def test_check(registry: Registry, file: str) -> None:
    assert "[base-external]" in run("check", file)
    assert "[base-unresolved]" in run("check", file, "--allow", "https://example.com/")
    assert registry.paths == []
    assert "base-" not in run("check", file, "--allow", registry.url)


def test_diff(registry: Registry, file: str, tmp_path: Path) -> None:
    copied = tmp_path / "copied.xreg.json"
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}}
    copied.write_text(json.dumps({"messagegroups": {"g": {"messages": {"m": message}}}}))
    assert XID in run("diff", file, str(copied))
    assert XID not in run("diff", file, str(copied), "--allow", registry.url)


def test_a_worker_of_a_landing_job_fetches_nothing(registry: Registry, file: str) -> None:
    catalog = Resolver(allow=(registry.url,)).resolve(load(file))
    crew = Crew(dump(catalog), msgspec.json.encode(catalog.external), ())
    assert crew.judge.matcher.definition(XID).definition.envelope == "CloudEvents/1.0"
    assert len(registry.paths) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("land", "--from", "files:{}", "--to", "{}/lake"), id="land"),
        pytest.param(("replay", "--warehouse", "{}/lake"), id="replay"),
        pytest.param(("publish", "--endpoint", "e", "m"), id="publish"),
        pytest.param(("consume", "--endpoint", "e"), id="consume"),
    ],
)
def test_nothing_is_judged_for_good_while_a_base_is_away(
    registry: Registry, file: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    registry.serve("/messagegroups/g/messages/b", {}, 503)
    command = [part.format(tmp_path) for part in arguments]
    result = CliRunner().invoke(main, [*command, "--catalog", file, "--allow", registry.url])
    assert result.exit_code == 2, result.output
    assert "/g/messages/b: a base message that cannot be had: its server answers 503" in (
        result.stderr
    )
    assert not (tmp_path / "lake" / "_batches").exists()


def test_an_address_that_is_none_is_a_usage_error(file: str) -> None:
    result = CliRunner().invoke(main, ["check", file, "--allow", "example.com"])
    assert result.exit_code == 2
    assert "'example.com' cannot be allowed" in result.stderr
