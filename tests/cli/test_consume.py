"""`heraldry consume`: a live tail over HTTP, where the command is the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import heraldry
from heraldry.cli import main
from tests.messages.transports.loopback import PLACED, events, free_address, post

EVENT = "application/cloudevents+json"


def arguments(examples: Path, address: str) -> list[str]:
    shop = str(examples / "shop")
    return ["consume", "--catalog", shop, "--endpoint", "shop-http", "--address", address]


@contextmanager
def listening(examples: Path, address: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The command, once it says that it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "heraldry", *arguments(examples, address), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    with process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "listening to /endpoints/shop-http\n"
            yield process
        finally:
            process.kill()


def send(address: str, *bodies: Any, content_type: str = EVENT) -> list[int]:
    async def every() -> list[int]:
        return [await post(address, body, content_type) for body in bodies]

    return asyncio.run(every())


def test_each_message_is_shown_with_what_it_is(examples: Path) -> None:
    address = free_address()
    with listening(examples, address, "--count", "3") as process:
        bodies = (*events("a"), *events("b", type="x"), *events("c", data={"total": -1}))
        assert send(address, *bodies) == [204, 422, 422]
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    data = '{"order":"4711","customer":"Inês","total":12.5}'
    assert out.startswith(
        f"1  {PLACED}\n   shop = lisbon\n   order = 4711\n   {data}\n2  no match\n"
    )
    assert f"\n3  {PLACED}\n" in out
    assert err == "3 messages: 1 recognised, 2 not\n"


def test_json_is_one_object_a_line(examples: Path) -> None:
    address = free_address()
    with listening(examples, address, "--count", "2", "-o", "json", "--explain") as process:
        send(address, *events("a"), *events("b", type="x"))
        out, _ = process.communicate(timeout=20)
    good, bad = (json.loads(line) for line in out.splitlines())
    assert (good["definition"], good["problems"], good["position"]) == (PLACED, [], "")
    assert good["data"]["customer"] == "Inês"
    assert good["explain"][0]["definition"] == PLACED
    assert (bad["definition"], bad["data"]) == (None, None)
    assert bad["near"]
    again = heraldry.open(examples / "shop").match(bad["message"])
    assert not isinstance(again, heraldry.Match)
    assert [one.message for one in again.problems] == [one["message"] for one in bad["problems"]]


def test_what_a_terminal_would_obey_is_shown_escaped(examples: Path) -> None:
    address = free_address()
    with listening(examples, address, "--count", "1") as process:
        send(address, *events("a", subject="x\x1b[2J\n9  fake", source="/shops/\u009b31m"))
        out, _ = process.communicate(timeout=20)
    assert r"order = x\x1b[2J\n9  fake" in out
    assert not {"\x1b", "\u009b"} & set(out)


def test_an_interrupt_is_the_usual_end(examples: Path) -> None:
    address = free_address()
    with listening(examples, address) as process:
        send(address, *events("a"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "1 message: 1 recognised, 0 not\n")
    assert PLACED in out


def test_a_reader_that_goes_away_ends_it(examples: Path) -> None:
    address = free_address()
    with listening(examples, address) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert send(address, *events("a")) == [503], "the sender is to come again"
        assert process.wait(20) == 141


def test_time_is_limited(examples: Path) -> None:
    result = CliRunner().invoke(main, [*arguments(examples, free_address()), "--seconds", "0.2"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith("0 messages: 0 recognised, 0 not\n")


def test_time_that_is_up_while_connecting_is_no_success(examples: Path) -> None:
    """A short --seconds does not hide that there is no server."""
    pytest.importorskip("nats")
    where = ["--endpoint", "shop-nats", "--address", "nats://127.0.0.1:1", "--seconds", "0.001"]
    result = CliRunner().invoke(main, ["consume", "--catalog", str(examples / "shop"), *where])
    assert result.exit_code == 2
    assert "is the server running?" in result.stderr


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param(["--count", "0"], "--count", id="count"),
        pytest.param(["--seconds", "0"], "--seconds", id="seconds"),
        pytest.param(["--endpoint", "shop-htp"], "did you mean", id="endpoint"),
        pytest.param(["--address", "http://u:hunter2@h"], "HERALDRY_PASSWORD", id="password"),
        pytest.param(["--address", "http://192.0.2.1:80"], "cannot listen", id="not ours"),
    ],
)
def test_what_cannot_be_done_is_told(more: list[str], told: str, examples: Path) -> None:
    result = CliRunner().invoke(main, [*arguments(examples, free_address()), *more])
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert "hunter2" not in result.stderr
