"""Where a job that reads a stream began, kept in its checkpoint beside what it was told.

begin = StreamBegin(checkpoint)
begin.keep("latest", {"sequence": 10, "seen": ""})
"""

from __future__ import annotations

import json
from typing import Any

from heraldry.pipeline.sources.remembered import Remembered

BEGIN = "stream_begin"
"""What a job remembers the offset as that it began with."""


class StreamBegin:
    """Where a job began, and by which ``starting``; earlier versions did not keep that."""

    def __init__(self, checkpoint: str) -> None:
        self._kept = Remembered.of(checkpoint, BEGIN)

    def starting(self) -> str | None:
        """What it was told; None where that was not kept."""
        found: str | None = json.loads(self._kept.find() or "{}").get("starting")
        return found

    def offset(self) -> dict[str, Any]:
        """The offset; empty where there is none yet."""
        found: dict[str, Any] = json.loads(self._kept.find() or "{}")
        found.pop("starting", None)
        return found

    def keep(self, starting: str, offset: dict[str, Any]) -> dict[str, Any]:
        """Begin with an offset."""
        self._kept.keep(json.dumps({**offset, "starting": starting}))
        return offset

    def forget(self) -> None:
        """Begin elsewhere: no batch was planned."""
        self._kept.forget()

    def is_planned(self) -> bool:
        """Whether Spark has planned a batch from there, done or not."""
        return any(name.isdecimal() for name in self._kept.storage.names("offsets"))
