"""Near misses: which failing definitions are worth naming, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from heraldry.messages.fit import Judgement
from heraldry.messages.likeness import likeness
from heraldry.model.problem import Problem

ALIKE = 0.5
"""A value that has more than this share of what the definition has is alike."""


def ranked(judged: Iterable[Judgement]) -> list[Judgement]:
    """The near misses, nearest first: by the share of rules that hold, then by what is wrong.

    A definition of which no rule holds is near where a value is alike: a topic with a typing
    error may be all that a definition asks for.
    """
    alike = [(max(map(_likeness, one.problems)), one) for one in judged if one.problems]
    near = [(like, one) for like, one in alike if one.score > 0 or like > ALIKE]
    near.sort(key=lambda two: (-two[1].score, len(two[1].problems), -two[0], two[1].compiled.xid))
    return [one for _, one in near]


def _likeness(problem: Problem) -> float:
    if problem.rule not in ("constant", "template") or not problem.found or not problem.expected:
        return 0.0
    alike = _known if problem.rule == "constant" else likeness
    return alike(problem.expected, problem.found)


_known = lru_cache(maxsize=4096)(likeness)  # streams repeat what is wrong, but for ids in templates
