"""A difference while it is being judged: what happened, and what each direction would refuse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from heraldry.schemas.changes import Change, Effect

Direction = Literal["backward", "forward"]

_WORST: Final = ("safe", "undecided", "breaking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One difference: ``fact`` is a clause, as are ``backward_why`` and ``forward_why``.

    A clause says what goes wrong in its direction; it is told only where the effect is not safe,
    so that an effect may be judged again later without touching the text.
    """

    rule: str
    old: str | None
    new: str | None
    fact: str
    backward: Effect = "safe"
    forward: Effect = "safe"
    backward_why: str = ""
    forward_why: str = ""

    def flipped(self) -> Found:
        """The same under ``not``: what was refused is accepted, and the other way round."""
        return replace(
            self,
            backward=self.forward,
            forward=self.backward,
            backward_why="the new version refuses old messages that are such",
            forward_why="the old version refuses new messages that are such",
        )

    def with_effect(self, direction: Direction, effect: Effect) -> Found:
        """The same with another effect in one direction."""
        if direction == "backward":
            return replace(self, backward=effect)
        return replace(self, forward=effect)

    def change(self) -> Change:
        """The difference as it is reported, in one sentence."""
        pairs = ((self.backward, self.backward_why), (self.forward, self.forward_why))
        reasons = [_told(effect, why) for effect, why in pairs if effect != "safe" and why]
        message = ": ".join(part for part in (self.fact, ", and ".join(reasons)) if part)
        return Change(
            rule=self.rule,
            old=self.old,
            new=self.new,
            message=f"{message}.",
            backward=self.backward,
            forward=self.forward,
        )


def worst(effects: Iterable[Effect]) -> Effect:
    """The worst of some effects; safe where there are none."""
    return max(effects, key=_WORST.index, default="safe")


def merged(found: Iterable[Found]) -> list[Found]:
    """Each difference once, with the worst of the effects it was found with."""
    known: dict[tuple[str, str | None, str | None, str], Found] = {}
    for one in found:
        key = one.rule, one.old, one.new, one.fact
        first = known.setdefault(key, one)
        if first is not one:
            known[key] = replace(
                first,
                backward=worst((first.backward, one.backward)),
                forward=worst((first.forward, one.forward)),
                backward_why=first.backward_why or one.backward_why,
                forward_why=first.forward_why or one.forward_why,
            )
    return list(known.values())


def _told(effect: Effect, why: str) -> str:
    return why if effect == "breaking" else f"it may be that {why}"
