"""Whether an entity satisfies a term of a filter: the same answers a store gives (FL-32..FL-35)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from heraldry.model.dotpath import ANY, EACH, Step
from heraldry.store.facts import fold, normal_number, number_of
from heraldry.store.query import Term

_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "less": operator.lt,
    "at_most": operator.le,
    "more": operator.gt,
    "at_least": operator.ge,
}


def holds(term: Term, values: Mapping[str, Any]) -> bool:
    """Whether an entity satisfies a term; ``values`` are its attributes and pseudo names."""
    found = [value for value in _values(values, term.path) if value is not None]
    if term.test == "present" or (term.test == "equal" and term.value == "*"):
        return bool(found)
    if term.test == "absent" or (term.test == "unequal" and term.value == "*"):
        return not found
    if term.test == "unequal":
        return not any(_equal(value, term.value) for value in found)
    if term.test == "equal":
        return any(_equal(value, term.value) for value in found)
    compare = _COMPARED[term.test]
    return any(_compared(compare, value, term.value) for value in found)


def _values(values: Any, path: Sequence[Step]) -> Iterator[Any]:
    if not path:
        yield values
        return
    step, rest = path[0], path[1:]
    if step == ANY:
        if isinstance(values, Mapping):
            for name, value in values.items():
                if name[:1] != "#":
                    yield from _values(value, rest)
    elif step == EACH:
        if isinstance(values, list):
            for value in values:
                yield from _values(value, rest)
    elif isinstance(step, int):
        if isinstance(values, list) and step < len(values):
            yield from _values(values[step], rest)
    elif isinstance(values, Mapping) and step in values:
        yield from _values(values[step], rest)


def _equal(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        return number_of(text) == normal_number(value)
    return isinstance(value, str) and _fits(fold(value), fold(text))


def _compared(compare: Callable[[Any, Any], bool], value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text in ("true", "false") and compare(value, text == "true")
    if isinstance(value, int | float):
        number = number_of(text)
        return number is not None and compare(normal_number(value), number)
    return isinstance(value, str) and compare(fold(value), fold(text))


def _fits(value: str, pattern: str) -> bool:
    """Whether a text fits a pattern with wildcards, in linear time (FL-34)."""
    pieces = [piece.replace(r"\*", "*") for piece in re.split(r"(?<!\\)\*", pattern)]
    if len(pieces) == 1:
        return value == pieces[0]
    first, *middle, last = pieces
    if len(value) < len(first) + len(last):
        return False
    if not (value.startswith(first) and value.endswith(last)):
        return False
    at, end = len(first), len(value) - len(last)
    for piece in middle:
        at = value.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
