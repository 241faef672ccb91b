"""Compatibility of schema versions: a verdict by the specification's six modes, with changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from heraldry.errors import UsageError
from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.formats import changes
from heraldry.schemas.payload_schema import PayloadSchema

Verdict = Literal["compatible", "incompatible", "undecided"]

MODES: Final = (
    "backward",
    "backward_transitive",
    "forward",
    "forward_transitive",
    "full",
    "full_transitive",
)
"""The modes of the specification (ME-06)."""

_WORST: Final = ("safe", "undecided", "breaking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The changes from one earlier version, named ``version``."""

    version: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """The verdict on a new version: ``compatible`` only where every change is known to be safe."""

    mode: str
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst effect of all changes, in the directions of the mode."""
        effects = {effect_of(change, self.mode) for _, change in self._all()}
        if "breaking" in effects:
            return "incompatible"
        return "undecided" if "undecided" in effects else "compatible"

    @property
    def reasons(self) -> tuple[tuple[str, Change], ...]:
        """The changes that are not safe, each with the version it is a change from."""
        return tuple(one for one in self._all() if effect_of(one[1], self.mode) != "safe")

    def _all(self) -> list[tuple[str, Change]]:
        return [(one.version, change) for one in self.comparisons for change in one.changes]


def compare(
    history: Sequence[tuple[str, PayloadSchema]], new: PayloadSchema, mode: str
) -> Compatibility:
    """Compare a new version with its ancestors, oldest first: with the last, or with all of them.

    A mode is one of MODES in any case; UsageError for another.
    """
    name = mode.lower()
    if name not in MODES:
        raise UsageError(f"{mode!r} is not a compatibility", f"use one of {', '.join(MODES)}")
    chosen = history if name.endswith("_transitive") else history[-1:]
    return Compatibility(
        mode=name,
        comparisons=tuple(
            Comparison(version=version, changes=changes(old, new)) for version, old in chosen
        ),
    )


def effect_of(change: Change, mode: str) -> Effect:
    """What a change means in a mode: the worse of its effects where both directions count."""
    if mode.startswith("backward"):
        return change.backward
    if mode.startswith("forward"):
        return change.forward
    return max(change.backward, change.forward, key=_WORST.index)
