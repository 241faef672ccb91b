"""What changed between two versions of a schema, and what that means for their messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["safe", "breaking", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference, located in the old and in the new document (None where it is not there).

    ``backward`` is what it does to readers of the new version given messages of the old one,
    ``forward`` what it does to readers of the old version given messages of the new one.
    ``message`` is one sentence that a developer of a producer understands.
    """

    rule: str
    old: str | None
    new: str | None
    message: str
    backward: Effect
    forward: Effect
