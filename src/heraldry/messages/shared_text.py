"""Shared texts: a text that several templates match, found without trying texts (M38..M40).

A template is read as an automaton over literals and wildcards; a walk through the product of
the automata finds the shortest shared text, or shows that there is none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from heraldry.messages.template import Template
from heraldry.messages.template_values import percent_decode

STATES: Final = 5_000
"""So many combinations of positions are looked at before a search is given up."""

_ANY: Final = "\0any"
_MORE: Final = "\0more"
_FILL: Final = "\0fill"
"""Stands for any character: the caller says what is written there."""
_WILD: Final = (_ANY, _MORE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A template as steps: a character, any one character, or any further ones.

    A wildcard never takes the ``separator``.
    """

    steps: tuple[str, ...]
    separator: str | None = None

    @classmethod
    def of(cls, template: Template, bound: Mapping[str, str]) -> Pattern:
        """The pattern of a template, some of whose placeholders have their values already."""
        steps: list[str] = [*template.literals[0]]
        for name, literal in zip(template.placeholders, template.literals[1:], strict=True):
            value = bound.get(name)
            steps += _WILD if value is None else _written(value, template.separator)
            steps += literal
        return cls(tuple(steps), template.separator)

    def after(self, place: int, symbol: str, marks: bool) -> Iterator[int]:
        """The places where one more character may lead; wildcards take ``marks`` only if so."""
        takes = symbol != self.separator and (marks or symbol == _FILL or symbol.isalnum())
        while place < len(self.steps):
            step = self.steps[place]
            if step == symbol or (takes and step in _WILD):
                yield place if step == _MORE else place + 1
            if step != _MORE:
                return
            place += 1

    def wanted(self, place: int) -> Iterator[str]:
        """The characters that may come next, and whether any may."""
        while place < len(self.steps):
            step = self.steps[place]
            yield _FILL if step in _WILD else step
            if step != _MORE:
                return
            place += 1

    def ends(self, place: int) -> bool:
        """Whether a text may end here."""
        return place == len(self.steps) or (
            place == len(self.steps) - 1 and self.steps[place] == _MORE
        )

    @property
    def tail(self) -> str:
        """The literal end."""
        literal: list[str] = []
        for step in reversed(self.steps):
            if step == _MORE:
                break
            literal.append(step)
        return "".join(reversed(literal))


def shared_text(patterns: Sequence[Pattern], fill: str) -> str | None:
    """The shortest text that all patterns match, ``fill`` where any character may stand.

    None where there is no such text, or where finding it would take too long. Values without
    marks such as ``/`` come first: a reader would expect them.
    """
    tails = sorted((pattern.tail for pattern in patterns), key=len)
    if any(not tails[-1].endswith(tail) for tail in tails):
        return None
    plain = _search(patterns, marks=False)
    symbols = plain if plain is not None else _search(patterns, marks=True)
    if symbols is None:
        return None
    return "".join(fill if symbol == _FILL else symbol for symbol in symbols)


def _search(patterns: Sequence[Pattern], marks: bool) -> list[str] | None:
    start = (0,) * len(patterns)
    came: dict[tuple[int, ...], tuple[tuple[int, ...], str] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) <= STATES:
        places = queue.popleft()
        if all(one.ends(place) for one, place in zip(patterns, places, strict=True)):
            return _spelt(came, places)
        for symbol, following in _moves(patterns, places, marks):
            if following not in came:
                came[following] = (places, symbol)
                queue.append(following)
    return None


def _moves(
    patterns: Sequence[Pattern], places: tuple[int, ...], marks: bool
) -> Iterator[tuple[str, tuple[int, ...]]]:
    wanted = dict.fromkeys(
        symbol for one, place in zip(patterns, places, strict=True) for symbol in one.wanted(place)
    )
    # any character first: a literal may mean another reading of the text
    for symbol in sorted(wanted, key=lambda symbol: symbol != _FILL):
        reached: list[tuple[int, ...]] = [()]
        for one, place in zip(patterns, places, strict=True):
            reached = [
                (*before, to) for before in reached for to in one.after(place, symbol, marks)
            ]
        # together past a literal first: the likeliest reading of all
        yield from ((symbol, following) for following in sorted(reached, reverse=True))


def _spelt(
    came: Mapping[tuple[int, ...], tuple[tuple[int, ...], str] | None], places: tuple[int, ...]
) -> list[str]:
    symbols = []
    step = came[places]
    while step is not None:
        symbols.append(step[1])
        step = came[step[0]]
    return symbols[::-1]


def _written(value: str, separator: str | None) -> str:
    """A value as a message may write it: as it is, or escaped where it would read otherwise."""
    plain = percent_decode(value) == value and (separator is None or separator not in value)
    return value if plain else quote(value, safe="")
