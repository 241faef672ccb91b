"""Where the values of a template begin and end in a text.

Literals are looked for by ``str.find``, whose time is linear in the text. Where names repeat, the
question is hard in general (the patterns of Angluin), so the search has a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

Literals = tuple[str, ...]

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NEXT = "%[89ABab][0-9A-Fa-f]"
_ESCAPED_CHARACTER = re.compile(
    f"%[0-7][0-9A-Fa-f]|%[CDcd][0-9A-Fa-f]{_NEXT}"
    f"|%[Ee][0-9A-Fa-f](?:{_NEXT}){{2}}|%[Ff][0-7](?:{_NEXT}){{3}}"
)
_SEALS = range(0xF0000, 0xFFFFE)
"""Characters of private use: one stands for an escaped character while a text is cut."""

_BUDGET, _BUDGET_EACH = 50_000, 32
"""What a search may cost, in characters looked at: so much, and more for longer texts."""
_STEP = 8


def percent_decode(value: str) -> str:
    """The text behind percent-escapes; the text itself where they are malformed or no UTF-8."""
    if "%" not in value or _BROKEN_ESCAPE.search(value):
        return value
    try:
        return unquote_to_bytes(value).decode()
    except UnicodeDecodeError:
        return value


def cut(text: str, literals: Literals) -> list[str] | None:
    """The values between the literals: each ends as early as it can, the last at the suffix.

    A value does not end within an escaped character, unless nothing else fits.
    """
    if "%" not in text:
        return _cut(text, literals)
    for view in _views(text, literals):
        values = _cut(view.text, view.literals)
        if values is not None:
            return view.unsealed(values)
    return None


def is_only_cut(text: str, literals: Literals) -> bool:
    """Whether a text that fits does so in one way only: no value can end later."""
    for view in _views(text, literals):
        early = _cut(view.text, view.literals)
        if early is not None:
            mirrored = tuple(one[::-1] for one in reversed(view.literals))
            late = _cut(view.text[::-1], mirrored) or []
            return early == [one[::-1] for one in reversed(late)]
    return False


def search(
    text: str, literals: Literals, names: tuple[str, ...], separator: str | None, wanted: int
) -> list[dict[str, str]] | None:
    """Up to ``wanted`` readings where names repeat, shortest values first; None if too costly."""
    for view in _views(text, literals):
        if _cut(view.text, view.literals) is not None:
            return _Search(view, names, separator).readings(wanted)
    return []


@dataclass(slots=True)
class _View:
    """A text and its literals, perhaps with a single character for each escaped one."""

    text: str
    literals: Literals
    seals: Mapping[int, str] = field(default_factory=dict)

    def unsealed(self, values: list[str]) -> list[str]:
        return [one.translate(self.seals) for one in values] if self.seals else values


def _views(text: str, literals: Literals) -> Iterator[_View]:
    if "%" in text and len(literals) > 2 and max(text) < chr(_SEALS.start):
        seals: dict[str, str] = {}

        def seal(found: re.Match[str]) -> str:
            free = _SEALS.start + len(seals)
            return seals.setdefault(found[0], chr(free)) if free in _SEALS else found[0]

        sealed = _ESCAPED_CHARACTER.sub(seal, text)
        parts = tuple(_ESCAPED_CHARACTER.sub(seal, one) for one in literals)
        yield _View(sealed, parts, {ord(one): escaped for escaped, one in seals.items()})
    yield _View(text, literals)


def _cut(text: str, literals: Literals) -> list[str] | None:
    prefix, suffix = literals[0], literals[-1]
    position, end = len(prefix), len(text) - len(suffix)
    if end <= position or not text.startswith(prefix) or not text.endswith(suffix):
        return None
    values = []
    for literal in literals[1:-1]:
        stop = text.find(literal, position + 1, end)
        if stop < 0:
            return None
        values.append(text[position:stop])
        position = stop + len(literal)
    if position >= end:
        return None
    values.append(text[position:end])
    return values


class _Search:
    """All ways to cut a text such that one name has one value, by trying shorter values first."""

    def __init__(self, view: _View, names: tuple[str, ...], separator: str | None) -> None:
        self._view, self._names, self._separator = view, names, separator
        known: dict[str, int] = {}
        self._first = [known.setdefault(name, index) for index, name in enumerate(names)]
        self._end = len(view.text) - len(view.literals[-1])
        self._budget = _BUDGET + _BUDGET_EACH * len(view.text)

    def readings(self, wanted: int) -> list[dict[str, str]] | None:
        """The first different readings; None where the budget does not allow to tell."""
        found: list[dict[str, str]] = []
        starts: list[int] = [len(self._view.literals[0])]
        stops: list[int] = [0]
        values: list[str] = [""]
        while starts:
            index = len(starts) - 1
            stop = self._next_stop(index, starts[-1], stops[-1])
            self._budget -= _STEP + max(stop, self._end if stop < 0 else 0) - starts[-1]
            if self._budget < 0:
                return None
            value = self._value(starts[-1], stop) if stop > 0 else None
            if value is None:
                for pile in (starts, stops, values):
                    pile.pop()
                continue
            stops[-1], values[-1] = stop, value
            if values[self._first[index]] != value:
                continue
            if index + 1 < len(self._names):
                starts.append(stop + len(self._view.literals[index + 1]))
                stops.append(0)
                values.append("")
            elif (reading := dict(zip(self._names, values, strict=True))) not in found:
                found.append(reading)
                if len(found) == wanted:
                    break
        return found

    def _next_stop(self, index: int, start: int, last: int) -> int:
        """Where the value after the last one tried would end; -1 where there is none."""
        begin = max(start, last) + 1
        if begin > self._end:
            return -1
        if index == len(self._names) - 1:
            return self._end
        return self._view.text.find(self._view.literals[index + 1], begin, self._end)

    def _value(self, start: int, stop: int) -> str | None:
        """The value between two places; None where it leaves its segment, as longer ones do."""
        raw = self._view.text[start:stop]
        if self._separator is not None and self._separator in raw:
            return None
        return percent_decode(self._view.unsealed([raw])[0])
