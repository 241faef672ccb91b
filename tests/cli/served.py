"""`heraldry serve` as a process of its own, on a free port."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner, Result

from heraldry.cli import main


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server at work: its address, and the process."""

    url: str
    registryid: str
    process: subprocess.Popen[str]

    def run(self, *arguments: str, input: str | bytes | None = None) -> Result:  # noqa: A002
        """Run a command against it."""
        assert isinstance(main, click.Command)
        environment = {"XR_SERVER": self.url}
        return CliRunner().invoke(main, [*arguments], input=input, env=environment)

    def ok(self, *arguments: str, input: str | bytes | None = None) -> str:  # noqa: A002
        """What a command writes that must succeed."""
        result = self.run(*arguments, input=input)
        assert result.exit_code == 0, result.output
        return result.stdout

    def get(self, *arguments: str) -> dict:
        """What `get` shows, as a value."""
        return json.loads(self.ok("get", *arguments))


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "heraldry", "serve", "--port", "0", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    """A server on a database in a folder, stopped at the end."""
    process = start("--db", f"sqlite:{folder / 'registry.db'}", "--format", "json", *arguments)
    try:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said = json.loads(line)
        yield Served(url=said["url"], registryid=said["registryid"], process=process)
    finally:
        process.terminate()
        process.communicate(timeout=20)
