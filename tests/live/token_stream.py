"""A stream of messages that each carry a token, and where the tokens are found after landing."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.letters import deadletters
from tests.suites.streams import WIDE, event, line

TOKEN = re.compile(r"m-[0-9]+")


@dataclass(frozen=True, slots=True)
class TokenStream:
    """A catalog, an inbox and a lake in one folder."""

    folder: Path

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def manifests(self) -> Path:
        return self.lake / "_checkpoint" / "heraldry" / "batches"

    def write(self, files: int, each: int, first: int = 0, width: int = 0) -> Counter[str]:
        """Write files of messages of at least so many bytes, a tenth flawed; the tokens."""
        self.inbox.mkdir(exist_ok=True)
        (self.folder / "catalog.json").write_bytes(WIDE)
        tokens = [f"m-{first + number}" for number in range(files * each)]
        for number in range(files):
            part = tokens[number * each : (number + 1) * each]
            text = b"".join(_message(token).ljust(width) + b"\n" for token in part)
            (self.inbox / f"{first:09d}-{number:04d}.jsonl").write_bytes(text)
        return Counter(tokens)

    def arguments(self, *more: str) -> list[str]:
        """The arguments of the command that lands the inbox."""
        where = ("--from", f"files:{self.inbox}", "--to", str(self.lake), "--format", "json")
        return ["land", "--catalog", str(self.folder / "catalog.json"), *where, *more]

    def found(self) -> Counter[str]:
        """How often each token stands in a table or a dead letter."""
        seen: Counter[str] = Counter()
        for info in tables(str(self.lake)):
            rows = DeltaTable(info.path).to_pyarrow_table(columns=["ce_id"])
            seen.update(rows["ce_id"].to_pylist())
        for letter in deadletters.letters(str(self.lake)):
            seen.update(set(TOKEN.findall(letter["line"])))
        return seen

    def written(self) -> set[Path]:
        """Every data file in the folders of tables, whether it belongs to one or not."""
        return {path for path in self.lake.rglob("part-*.parquet") if "_batches" not in path.parts}


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What a landing command printed; an AssertionError with its words where it failed."""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _message(token: str) -> bytes:
    match int(token[-1]):
        case 0:
            return line(event("scan", {"tag": token, "weight": "heavy"}, id=token))
        case 1 | 2 | 3:
            return line(event("scan", {"tag": token, "weight": 2.5}, id=token))
    return line(event("order", {"id": token, "total": 1.5, "tags": ["a"]}, id=token))
