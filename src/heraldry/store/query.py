"""Questions to a store: filters over attributes, and the order of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from heraldry.model.dotpath import ANY, EACH, Step

__all__ = [
    "ANY",
    "EACH",
    "Filter",
    "Leaves",
    "Level",
    "Order",
    "Page",
    "Step",
    "Term",
    "Test",
]

Level = Literal["group", "resource", "meta", "version"]
Test = Literal["present", "absent", "equal", "unequal", "less", "at_most", "more", "at_least"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    r"""One expression of a filter (FL-31..FL-35), about the entities of one type.

    ``path`` leads to an attribute inside an entity: names, array indexes, ``ANY``, ``EACH``.
    Pseudo names: ``("#id",)``, ``("#xid",)`` and, for versions, ``("#isdefault",)``. A
    ``resource`` term asks the default version, a ``meta`` term the resource's own attributes.
    ``value`` of ``equal`` and ``unequal`` may hold the wildcard ``*`` (``\*`` is a star); texts
    compare ignoring case, numbers as numbers, booleans exactly. ``unequal`` is true where the
    attribute is absent.
    """

    level: Level
    type: str
    path: tuple[Step, ...]
    test: Test
    value: str = ""


Filter = tuple[tuple[Term, ...], ...]
"""Any of these must hold (OR); of each, all terms (AND). See FL-30 and FL-36."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """What survives a filter: the keys of the entities that are kept, by level (FL-36).

    A leaf is a version, or a group or resource without children; parents of leaves are kept.
    """

    groups: frozenset[int]
    resources: frozenset[int]
    versions: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """By which attribute a collection is sorted (FL-70..FL-72).

    Absent values are lowest, ties are broken by id in the same direction. Without a path: by id,
    ignoring case.
    """

    path: tuple[Step, ...] = ()
    level: Level = "group"
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a collection: at most ``limit`` entities after the one with the key ``after``."""

    limit: int
    after: Any = None
    """An opaque cursor that ``Reader.page`` gave for the previous part; ``None``: the first."""
