"""Content models as languages: whether one lets in every sequence of elements another does."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from heraldry.schemas.xsd.model import Particle
from heraldry.schemas.xsd.xml import local

WORK_LIMIT: Final = 20_000
"""How many steps are taken before a question counts as undecided."""

_SPREAD_LIMIT = 400

# Expressions are tuples: a set of names, a sequence, alternatives, a repetition, an interleaving.
Expression = tuple[Any, ...]
_EMPTY: Expression = ("empty",)
_NEVER: Expression = ("never",)


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether all of one model is in another: True, False with an example, or None for unknown."""

    holds: bool | None
    example: tuple[str, ...] = ()


def includes(
    old: Particle | None, new: Particle | None, names: Iterable[str]
) -> tuple[Inclusion, Inclusion]:
    """Whether ``new`` lets in all that ``old`` does, and the other way round."""
    try:
        symbols = tuple(names)
        one, other = (_expression(particle, symbols) for particle in (old, new))
    except RecursionError:
        return Inclusion(None), Inclusion(None)
    one, other = _trimmed(one, other)
    return _inclusion(one, other, symbols), _inclusion(other, one, symbols)


def _trimmed(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Two sequences without what both begin and end with, where no name of that occurs inside.

    The names being apart, what is trimmed reads the same part of a message in both.
    """
    if one[0] == other[0] == "all":
        return _trimmed_all(one, other)
    first, second = _parts(one), _parts(other)
    shorter = min(len(first), len(second))
    start = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    left = shorter - start
    end = next((at for at in range(left) if first[-1 - at] != second[-1 - at]), left)
    inside = first[start : len(first) - end], second[start : len(second) - end]
    outside = [*first[:start], *first[len(first) - end :]]
    try:
        within = frozenset[str]().union(*(_names(part) for each in inside for part in each))
        apart = within.isdisjoint(frozenset[str]().union(*map(_names, outside)))
    except RecursionError:
        return one, other
    return (_joined(inside[0]), _joined(inside[1])) if apart else (one, other)


def _trimmed_all(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Two interleavings without the members that both have, no other member having their names."""
    count = Counter(name for each in (one, other) for names, _, _ in each[1] for name in names)
    both = set(one[1]) & set(other[1])
    shared = {each for each in both if all(count[name] == 2 for name in each[0])}
    left = [("all", tuple(m for m in each[1] if m not in shared)) for each in (one, other)]
    return left[0], left[1]


def _parts(one: Expression) -> list[Expression]:
    found: list[Expression] = []
    while one[0] == "sequence":
        found.append(one[1])
        one = one[2]
    return [*found, one] if one != _EMPTY else found


def _joined(parts: list[Expression]) -> Expression:
    joined = _EMPTY
    for part in reversed(parts):
        joined = _sequence(part, joined)
    return joined


def _names(one: Expression) -> frozenset[str]:
    if one[0] == "names":
        return frozenset(one[1])
    if one[0] == "all":
        return frozenset[str]().union(*(names for names, _, _ in one[1]))
    inner = {"sequence": one[1:3], "either": one[1] if len(one) > 1 else ()}.get(one[0], one[1:2])
    return frozenset[str]().union(*map(_names, inner))


def _inclusion(part: Expression, whole: Expression, symbols: tuple[str, ...]) -> Inclusion:
    seen = {(part, whole)}
    waiting: deque[tuple[Expression, Expression, tuple[str, ...]]] = deque([(part, whole, ())])
    work = 0
    try:
        while waiting:
            one, other, path = waiting.popleft()
            if _nullable(one) and not _nullable(other):
                return Inclusion(False, path)
            for symbol in symbols:
                work += 1
                if work > WORK_LIMIT:
                    return Inclusion(None)
                after = _derived(one, symbol)
                if after == _NEVER:
                    continue
                pair = (after, _derived(other, symbol))
                if pair[0] != pair[1] and pair not in seen:
                    seen.add(pair)
                    waiting.append((*pair, (*path, symbol)))
    except RecursionError:
        return Inclusion(None)
    return Inclusion(True)


def _expression(particle: Particle | None, symbols: tuple[str, ...]) -> Expression:
    if particle is None:
        return _EMPTY
    if particle.kind in ("element", "any"):
        accepted = frozenset(name for name in symbols if matches(particle, name))
        inner: Expression = ("names", accepted) if accepted else _NEVER
    elif particle.kind == "all":
        inner = _all(particle, symbols)
    else:
        parts = [_expression(part, symbols) for part in particle.parts]
        inner = _either(parts) if particle.kind == "choice" else _joined(parts)
    return _repeated(inner, particle.low, particle.high)


def matches(particle: Particle, name: str) -> bool:
    """Whether an element of this name may stand for an element or a wildcard."""
    if particle.kind == "element":
        return str(particle.component.name) == name
    return bool(particle.component.is_matching(name, None))


def _all(particle: Particle, symbols: tuple[str, ...]) -> Expression:
    members: list[tuple[frozenset[str], int, int | None]] = []
    for part in particle.parts:
        if part.kind == "all":
            nested = _all(part, symbols)
            members += nested[1] if nested[0] == "all" else ()
        elif part.kind in ("element", "any"):
            accepted = frozenset(name for name in symbols if matches(part, name))
            members.append((accepted, part.low, part.high))
        else:
            # The choice of a substitution group.
            names = frozenset(name for name in symbols if any(matches(p, name) for p in part.parts))
            members.append((names, part.low, part.high))
    return ("all", tuple(sorted(members, key=repr)))


def _sequence(first: Expression, second: Expression) -> Expression:
    if _NEVER in (first, second):
        return _NEVER
    if first == _EMPTY:
        return second
    return first if second == _EMPTY else ("sequence", first, second)


def _either(parts: Iterable[Expression]) -> Expression:
    found: set[Expression] = set()
    for part in parts:
        found |= part[1] if part[0] == "either" else {part}
    found.discard(_NEVER)
    if len(found) > _SPREAD_LIMIT:
        raise RecursionError
    if not found:
        return _NEVER
    return next(iter(found)) if len(found) == 1 else ("either", frozenset(found))


def _repeated(inner: Expression, low: int, high: int | None) -> Expression:
    if high == 0 or inner == _EMPTY:
        return _EMPTY
    if inner == _NEVER:
        return _EMPTY if low == 0 else _NEVER
    if _nullable(inner):
        return inner if high == 1 else ("repeat", inner, 0, high)
    return inner if (low, high) == (1, 1) else ("repeat", inner, low, high)


def _nullable(one: Expression) -> bool:
    kind = one[0]
    if kind == "sequence":
        return _nullable(one[1]) and _nullable(one[2])
    if kind == "either":
        return any(map(_nullable, one[1]))
    if kind == "repeat":
        return one[2] == 0 or _nullable(one[1])
    if kind == "all":
        return all(low == 0 for _, low, _ in one[1])
    return bool(kind == "empty")


def _derived(one: Expression, symbol: str) -> Expression:
    """What may follow once ``symbol`` has been read."""
    kind = one[0]
    if kind == "names":
        return _EMPTY if symbol in one[1] else _NEVER
    if kind == "sequence":
        first = _sequence(_derived(one[1], symbol), one[2])
        return _either([first, _derived(one[2], symbol)]) if _nullable(one[1]) else first
    if kind == "either":
        return _either([_derived(part, symbol) for part in one[1]])
    if kind == "repeat":
        _, inner, low, high = one
        rest = _repeated(inner, max(low - 1, 0), None if high is None else high - 1)
        return _sequence(_derived(inner, symbol), rest)
    return _either(_interleaved(one[1], symbol)) if kind == "all" else _NEVER


def _interleaved(members: tuple[Any, ...], symbol: str) -> Iterable[Expression]:
    for at, (names, low, high) in enumerate(members):
        if symbol in names and high != 0:
            less = (names, max(low - 1, 0), None if high is None else high - 1)
            rest = (*members[:at], less, *members[at + 1 :])
            yield ("all", tuple(sorted(rest, key=repr)))


def told(example: tuple[str, ...]) -> str:
    """A sequence of elements as text."""
    if not example:
        return "no element at all"
    names = [f"<{local(name)}>" for name in example[:8]]
    return " ".join(names) + (" ..." if len(example) > 8 else "")
