"""`heraldry serve` as a process that may be killed, with files in directories as its model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.live.servers.server import Server

ANYTHING = {"*": {"type": "any"}}
MODEL = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": ANYTHING,
            "resources": {
                "files": {"singular": "file", "hasdocument": False, "attributes": ANYTHING}
            },
        }
    }
}


def launch(database: str, folder: Path, *, inside: Sequence[str] = ()) -> subprocess.Popen[str]:
    """A server that begins to start; a new database gets the model. ``inside``: a command first."""
    model = folder / "model.json"
    model.write_text(json.dumps(MODEL))
    command = [*inside, sys.executable, "-m", "heraldry", "serve", "--db", database, "--port", "0"]
    command += ["--model", str(model), "--specversion", "1.0-rc4", "--format", "json"]
    with (folder / f"serve.{os.urandom(4).hex()}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)


def ready(process: subprocess.Popen[str], folder: Path) -> Server:
    """Where a server can be reached, as soon as it can."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "".join(log.read_text() for log in folder.glob("serve.*.log"))
    address = json.loads(line)["url"]
    host, _, port = address.removeprefix("http://").partition(":")
    return Server(host=host, port=int(port), address=address)


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGKILL) -> None:
    """End a server, and wait until it is gone."""
    process.send_signal(how)
    process.communicate(timeout=30)


@contextmanager
def serve(database: str, folder: Path) -> Iterator[Server]:
    """A server until it is told to end, which it does in good order."""
    process = launch(database, folder)
    try:
        yield ready(process, folder)
        end(process, signal.SIGTERM)
        assert process.returncode == 0
    finally:
        end(process)
