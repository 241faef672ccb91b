from __future__ import annotations

import os
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.cli.main import options_by_command
from heraldry.cli.setting import CATALOG, HOURS, SECONDS, FiniteRange
from heraldry.cli.setting_table import PROCESS, SETTINGS
from heraldry.cli.settings import find_config, read_config
from heraldry.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def known() -> dict[str, dict[str, click.Option]]:
    assert isinstance(main, click.Group)
    return options_by_command(main, click.Context(main))


def test_every_setting_is_an_option_of_some_command() -> None:
    used = {name for flags in known().values() for name in flags}
    assert {setting.name for setting in SETTINGS} <= used
    own = {flag.removeprefix("--") for parameter in main.params for flag in parameter.opts}
    assert {setting.name for setting in PROCESS} <= own


def test_the_example_in_the_reference_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert example
    path = tmp_path / "heraldry.toml"
    path.write_text(example.group(1), encoding="utf-8")
    found = read_config(path, known())
    assert found["land"] == {
        "catalog": ["catalog/"],
        "source": "files:inbox",
        "to": "lake",
        "max_per_batch": 100000,
    }
    assert found["check"] == {"strict": True}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("[match]\ncatalog = 'one/'\n", {"match": {"catalog": ["one/"]}}, id="catalog"),
        pytest.param(
            "[status]\ncheckpoint = 'one'\n[land]\ncheckpoint = 'one'\n",
            {"status": {"checkpoint": ["one"]}, "land": {"checkpoint": "one"}},
            id="repeatable-in-one-command-only",
        ),
    ],
)
def test_one_of_several_may_be_a_text(text: str, values: object, tmp_path: Path) -> None:
    path = tmp_path / "heraldry.toml"
    path.write_text(text)
    assert read_config(path, known()) == values


@pytest.mark.parametrize("name", ["maintain", "status"])
def test_a_variable_names_one_checkpoint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERALDRY_CHECKPOINT", "/a folder:with/all")
    assert isinstance(main, click.Group)
    command = main.get_command(click.Context(main), name)
    assert command is not None
    found = command.make_context(name, ["--warehouse", "lake"])
    assert found.params["checkpoint"] == ("/a folder:with/all",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("[land]\nmasters = 1\n", "sets 'masters' in [land]", id="unknown-key"),
        pytest.param("[lnd]\nmaster = 'x'\n", "has 'lnd', which is no command", id="unknown-table"),
        pytest.param("master = 'x'\n", "has 'master', which is no command", id="outside-a-table"),
        pytest.param("[land\n", "cannot be read as TOML", id="not-toml"),
    ],
)
def test_a_wrong_file_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "heraldry.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_config(path, known())
    assert told in str(refused.value)


def test_a_file_is_looked_for_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_config(None) is None
    Path("heraldry.toml").touch()
    assert find_config(None) == Path("heraldry.toml")
    assert find_config("other.toml") == Path("other.toml")


@pytest.mark.parametrize(
    ("arguments", "environment", "file", "json"),
    [
        pytest.param(["-o", "text"], "json", "json", False, id="flag-first"),
        pytest.param([], "text", "json", False, id="environment-second"),
        pytest.param([], None, "json", True, id="file-third"),
        pytest.param([], None, None, False, id="default-last"),
    ],
)
def test_the_order_of_settings(
    arguments: list[str],
    environment: str | None,
    file: str | None,
    json: bool,
    examples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HERALDRY_FORMAT", raising=False)
    if file:
        Path("heraldry.toml").write_text(f'[check]\nformat = "{file}"\n')
    result = CliRunner(env={"HERALDRY_FORMAT": environment}).invoke(
        main, ["check", str(examples / "orders"), *arguments]
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("[") is json


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("a:b/c", ["a", "b/c"], id="paths"),
        pytest.param("http://h:8080/r:a", ["http://h:8080/r", "a"], id="address-first"),
        pytest.param(
            "a:https://h:http://[::1]:80", ["a", "https://h", "http://[::1]:80"], id="both"
        ),
    ],
)
@pytest.mark.skipif(os.pathsep != ":", reason="paths are separated otherwise here")
def test_a_variable_holds_paths_and_addresses(text: str, places: list[str]) -> None:
    assert [*CATALOG.split_envvar_value(text)] == places


def test_a_table_of_a_command_with_commands_is_for_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("heraldry.toml").write_text("[model]\nserver = 'http://127.0.0.1:9'\n")
    refused = CliRunner().invoke(main, ["model", "get"])
    assert refused.exit_code == 2
    assert "http://127.0.0.1:9" in refused.stderr


def test_our_variable_comes_before_that_of_another_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, port in (("XR_SERVER", 7), ("HERALDRY_SERVER", 9)):
        monkeypatch.setenv(name, f"127.0.0.1:{port}")
        assert f"http://127.0.0.1:{port}" in CliRunner().invoke(main, ["get"]).stderr


FINITE = ("maintain --retention", "land --interval", "land --catalog-grace", "consume --seconds")


@pytest.mark.parametrize("text", ["nan", "-nan", "inf", "-inf", "1e300", "-1", "x", "99999999999"])
@pytest.mark.parametrize("option", FINITE)
def test_a_time_is_a_finite_number(option: str, text: str) -> None:
    command, flag = option.split()
    result = CliRunner().invoke(main, [command, flag, text])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: Invalid value for '{flag}': " in result.stderr


def test_every_number_with_a_fraction_is_finite() -> None:
    kinds = {
        (command, flag): type(option.type)
        for command, options in known().items()
        for flag, option in options.items()
        if isinstance(option.type, click.FloatRange | type(click.FLOAT))
    }
    assert {f"{command} --{flag}" for command, flag in kinds} >= set(FINITE)
    assert set(kinds.values()) == {FiniteRange}


def test_a_hundred_years_are_long_enough() -> None:
    for text, most in (("876000", HOURS), ("3153600000", SECONDS)):
        assert FiniteRange(0, most).convert(text, None, None) == most
        with pytest.raises(click.BadParameter, match=f"is not a number up to {most:,}"):
            FiniteRange(0, most).convert(str(most + 1), None, None)
    assert FiniteRange(0, 1).convert("0", None, None) == 0
    with pytest.raises(click.BadParameter):
        FiniteRange(0, 1, min_open=True).convert("0", None, None)


def test_a_time_in_a_file_is_a_finite_number(tmp_path: Path) -> None:
    path = tmp_path / "heraldry.toml"
    path.write_text("[maintain]\nretention = nan\n")
    result = CliRunner().invoke(
        main, ["--config", str(path), "maintain", "--warehouse", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "nan is not a number up to 876,000." in result.stderr
