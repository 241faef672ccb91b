"""The registry of the demo: `heraldry serve` on a free port, with the example catalog in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heraldry.errors import UsageError

_SECONDS = 30


@contextmanager
def registry(database: Path, catalog: Path) -> Iterator[str]:
    """A registry in a file, as long as the context lasts; gives its address."""
    command = [
        *(sys.executable, "-m", "heraldry", "serve", "--db", f"sqlite:{database}"),
        *("--port", "0", "--import", str(catalog), "--format", "json"),
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            if not told:
                _, trouble = process.communicate(timeout=_SECONDS)
                reason = (trouble.strip().splitlines() or ["no reason was given"])[-1]
                raise UsageError("the registry of the demo did not start", reason)
            yield json.loads(told)["url"]
        finally:
            process.terminate()
            process.communicate(timeout=_SECONDS)
