"""What a replay did, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from heraldry.pipeline.landing.relanding import Outcome, Place


@dataclass(slots=True, kw_only=True)
class ReplayReport:
    """What a replay did: ``selected`` is all that its counts add up to.

    ``repeated`` letters did not land, for their message had landed meanwhile. ``tables`` counts
    what landed by table, ``rules`` what was refused by rule.
    """

    landed: int = 0
    refused: int = 0
    masked: int = 0
    skipped: int = 0
    repeated: int = 0
    left_out: int = 0
    """Open letters that only a selection of definitions (``--only``) made: not among the others."""
    finished: int = 0
    """Replays that were killed before, and finished by this one first."""
    seconds: float = 0.0
    tables: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def selected(self) -> int:
        """All letters that were meant."""
        return self.landed + self.refused + self.masked + self.skipped + self.repeated

    def add(self, outcomes: Mapping[Place, Outcome]) -> None:
        """Count letters that were judged."""
        for one in outcomes.values():
            if one.table is not None:
                self.landed += 1
                self.tables[one.table] += 1
            elif one.repeated:
                self.repeated += 1
            else:
                self.refused += 1
                self.rules[one.rule or ""] += 1
