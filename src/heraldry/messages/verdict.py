"""Decisions as values with reasons: what a message is, or why it is nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from heraldry.model.definition import Definition
from heraldry.model.problem import Problem

Stage = Literal["decode", "match", "validate", "land", "map", "handle"]


class Near(Struct, frozen=True, kw_only=True):
    """A definition that nearly fits: ``score`` is the share of its constraints that hold."""

    definition: str
    score: float
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The one definition a message fits, with the values of its placeholders (decoded)."""

    definition: Definition
    values: Mapping[str, str]
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMatch:
    """No definition fits, or several do (rule ``ambiguous``, with ``candidates``)."""

    problems: tuple[Problem, ...]
    near: tuple[Near, ...] = ()
    candidates: tuple[str, ...] = ()


class Accepted(Struct, frozen=True, kw_only=True):
    """A message that lands: ``row`` holds the payload by column name, ``envelope`` its attributes.

    A definition without a usable schema has an empty ``row``: its ``payload`` lands as it is. The
    attributes of a ``native`` message, one that is no event, are those of its definition: what is
    None there (``id``, ``source``, ``type``, ``time``) its place tells.
    """

    match: Match
    envelope: Mapping[str, Any]
    row: Mapping[str, Any]
    payload: bytes | None = None
    native: bool = False


class Rejected(Struct, frozen=True, kw_only=True):
    """A dead letter: the stage that refused, every reason, and the definition it concerns."""

    stage: Stage
    problems: tuple[Problem, ...]
    definition: str | None = None
    near: tuple[Near, ...] = ()


Verdict = Accepted | Rejected
