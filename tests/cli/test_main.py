from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.cli.main import COMMANDS, _extra, _failed

HEAVY = ("pyspark", "pyarrow", "deltalake", "rich", "jsonschema_rs", "yaml", "heraldry.messages")


def run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "heraldry", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.parametrize("name", COMMANDS, ids=COMMANDS)
def test_help_of_every_command_has_a_sentence_and_an_example(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.output
    assert f"Example:\n    heraldry {name} " in result.output
    if name != "model":  # whose commands have it
        choices = "json|table" if name == "get" else "text|json"
        assert f"-o, --format [{choices}" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_help_is_light_and_lists_the_commands_in_order() -> None:
    code = (
        "import sys\n"
        "from heraldry.cli import main\n"
        "try:\n    main(['--help'], prog_name='heraldry')\n"
        f"finally:\n    print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"
    listed = told.stdout.partition("Commands:\n")[2].split("\n\n")[0].splitlines()
    assert tuple(line.split()[0] for line in listed) == COMMANDS


def test_help_is_quick() -> None:
    best = 10.0
    for _ in range(5):
        start = time.perf_counter()
        assert run("--help").returncode == 0
        best = min(best, time.perf_counter() - start)
    # 0.3 s on an idle machine; the tests beside this one take their share.
    assert best < 1.0


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output.startswith("heraldry 0.")


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["lnd"])
    assert result.exit_code == 2
    assert "No such command 'lnd'" in result.stderr


def test_an_error_is_one_line_without_traceback(examples: Path) -> None:
    arguments = ["build", "--catalog", str(examples / "orders"), "/messagegroups/orders/messages/x"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    line = "heraldry: the catalog has no message definition /messagegroups/orders/messages/x"
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


def test_debug_adds_the_traceback(examples: Path) -> None:
    arguments = ["--debug", "build", "--catalog", str(examples / "orders"), "x"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert "\nheraldry: the catalog has no message definition x" in result.stderr


def test_a_reader_that_goes_away_is_no_error(examples: Path, tmp_path: Path) -> None:
    messages = tmp_path / "messages.jsonl"
    messages.write_bytes(b"oops\n" * 20_000)
    match = [sys.executable, "-m", "heraldry", "match", "--catalog", str(examples), str(messages)]
    first, then = os.pipe()
    writer = subprocess.Popen(match, stdout=then, stderr=subprocess.PIPE)
    os.close(then)
    os.read(first, 10)
    os.close(first)
    told = writer.communicate()[1]
    assert (writer.returncode, told) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_an_error_of_the_system_is_one_line_and_exit_2(
    unbuffered: str, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    check = [sys.executable, "-m", "heraldry", "check", str(examples)]
    with Path("/dev/full").open("wb") as full:
        told = subprocess.run(check, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (told.returncode, told.stderr) == (2, "heraldry: No space left on device\n")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (FileNotFoundError("/a/b"), "No such file or directory: /a/b"),
        (FileNotFoundError(2, "gone", "/a/b"), "gone: /a/b"),
        (FileNotFoundError(), "No such file or directory"),
        (OSError("a sentence"), "a sentence"),
        (PermissionError(13, "denied"), "denied"),
    ],
    ids=repr,
)
def test_an_error_of_the_system_is_more_than_a_path(error: OSError, told: str) -> None:
    assert str(_failed(error)) == told


@pytest.mark.parametrize(
    ("module", "extra"),
    [("pyarrow.fs", "spark"), ("fastavro", "avro"), ("apsw", "server"), ("psycopg", "postgres")],
    ids=["spark", "avro", "server", "postgres"],
)
def test_a_library_that_is_missing_is_told_by_its_extra(module: str, extra: str) -> None:
    told = _extra(ModuleNotFoundError(name=module))
    assert str(told).endswith(f"pip install 'heraldry[{extra}]'")
    assert _extra(ModuleNotFoundError(name="heraldry.nowhere")) is None
