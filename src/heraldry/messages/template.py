"""Level 1 templates: the same text fills in values and recognises them (M38..M40)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from heraldry.errors import PlaceholderError, TemplateError
from heraldry.messages.template_values import cut, is_only_cut, percent_decode, search

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_OPERATORS = frozenset("+#./;?&=,!@|")
_LONGEST_SOUGHT = 200
"""Literals that a regex looks for; it compares them whole at every place, unlike str.find."""

_Segment = tuple[tuple[str, ...], tuple[str, ...]]
"""Literals and the placeholder names between them: one literal more than names."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text with ``{name}`` placeholders (M38); a ``-`` in a name is read as ``_`` (C45).

    ``placeholders`` has one name per occurrence, in order. With a ``separator`` a placeholder
    stays inside its segment; without one it stops at the next literal, and the last one spans
    anything.
    """

    text: str
    separator: str | None
    literals: tuple[str, ...]
    placeholders: tuple[str, ...]
    _segments: tuple[_Segment, ...] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, separator: str | None = None) -> Template:
        """Read a template, or raise :class:`TemplateError` where it breaks M38."""
        literals, names = _pieces(text)
        if separator is None:
            segments: tuple[_Segment, ...] = ((literals, names),)
        else:
            # A name cannot hold a separator, so splitting the text splits only its literals.
            segments = tuple(_pieces(part) for part in text.split(separator))
        return cls(text, separator, literals, names, segments)

    @property
    def literal(self) -> bool:
        """Whether the template has no placeholder, hence matches only its own text."""
        return not self.placeholders

    def expand(self, values: Mapping[str, str], raw: bool = False) -> str:
        """The text with its values in place (M40), percent-encoded as RFC 6570 unless ``raw``.

        Raises :class:`PlaceholderError` for the first placeholder without a value or with an
        empty one, because such a text would not match again.
        """
        parts = [self.literals[0]]
        for name, literal in zip(self.placeholders, self.literals[1:], strict=True):
            value = values.get(name)
            if value is None:
                raise PlaceholderError(self.text, name, "has no value")
            if not value:
                raise PlaceholderError(self.text, name, "must not be empty")
            parts += (value if raw else quote(value, safe=""), literal)
        return "".join(parts)

    def match(self, text: str) -> dict[str, str] | None:
        """The percent-decoded values by name where the whole text fits, else None (M39, M40)."""
        if not self.placeholders:
            return {} if text == self.text else None
        split = self._split(text)
        if split is None:
            return None
        found: dict[str, str] = {}
        if all(_gather(found, names, values) for names, values in split):
            return found
        if not self._may_be_cut_elsewhere:
            return None
        readings = search(text, self.literals, self.placeholders, self.separator, wanted=1)
        return readings[0] if readings else None

    def ambiguous(self, values: Mapping[str, str], raw: bool = False) -> bool:
        """Whether the expanded text can be read in another way, or not be read back at all.

        True as well where names repeat so often that telling would take too long.
        """
        text = self.expand(values, raw)
        if self.match(text) != {name: values[name] for name in self.placeholders}:
            return True
        if not self._may_be_cut_elsewhere:
            return False
        if self._repeats:
            readings = search(text, self.literals, self.placeholders, self.separator, wanted=2)
            return readings is None or len(readings) > 1
        parts = [text] if self.separator is None else text.split(self.separator)
        return any(
            not is_only_cut(part, literals)
            for part, (literals, names) in zip(parts, self._segments, strict=True)
            if names
        )

    @property
    def _repeats(self) -> bool:
        return len(set(self.placeholders)) != len(self.placeholders)

    @property
    def _may_be_cut_elsewhere(self) -> bool:
        """Whether a segment has several placeholders, so that values might end elsewhere."""
        return any(len(names) > 1 for _, names in self._segments)

    def _split(self, text: str) -> list[tuple[tuple[str, ...], list[str]]] | None:
        """The names and values of each segment that has some; None where the text does not fit."""
        parts = [text] if self.separator is None else text.split(self.separator)
        if len(parts) != len(self._segments):
            return None
        found = []
        for part, (literals, names) in zip(parts, self._segments, strict=True):
            values = cut(part, literals) if names else None
            if values is not None:
                found.append((names, values))
            elif names or part != literals[0]:
                return None
        return found

    def regex(self) -> str | None:
        """A pattern for ``re.fullmatch`` that finds what :meth:`match` finds, but for escapes.

        It has one group per placeholder and needs no flags; a text with ``%`` is not for it. None
        where no pattern is provably equivalent and free of backtracking: a name that repeats,
        several placeholders in one segment, or a very long literal after a placeholder.
        """
        if self._repeats or any(len(one) > _LONGEST_SOUGHT for one in self.literals[1:]):
            return None
        if self.separator is None:
            return _open_pattern(self.literals)
        if any(len(names) > 1 for _, names in self._segments):
            return None
        inside = f"([^{re.escape(self.separator)}]+)"
        return re.escape(self.separator).join(
            inside.join(re.escape(literal) for literal in literals)
            for literals, _ in self._segments
        )


def _pieces(text: str) -> _Segment:
    literals: list[str] = []
    names: list[str] = []
    start = 0
    while True:
        opening = text.find("{", start)
        literal = text[start:] if opening < 0 else text[start:opening]
        if "}" in literal:
            raise TemplateError(text, "a '}' closes nothing")
        literals.append(literal)
        if opening < 0:
            return tuple(literals), tuple(names)
        closing = text.find("}", opening)
        if closing < 0:
            raise TemplateError(text, "a '{' is not closed")
        names.append(_name(text, text[opening + 1 : closing]))
        start = closing + 1


def _name(text: str, name: str) -> str:
    if not name:
        raise TemplateError(text, "a placeholder has no name")
    if name[0] in _OPERATORS:
        raise TemplateError(text, f"the operator {name[0]!r} is not part of level 1")
    if not _NAME.fullmatch(name):
        raise TemplateError(text, f"{name!r} is not made of letters, digits and underscores")
    return name.replace("-", "_")


def _gather(found: dict[str, str], names: Iterable[str], values: Iterable[str]) -> bool:
    for name, value in zip(names, values, strict=True):
        decoded = percent_decode(value)
        if found.setdefault(name, decoded) != decoded:
            return False
    return True


def _open_pattern(literals: tuple[str, ...]) -> str:
    """A pattern without a separator: every value has at least one character, of any kind."""
    if len(literals) == 1:
        return re.escape(literals[0])
    pattern = re.escape(literals[0])
    for literal in literals[1:-1]:
        # Atomic: a value ends at the first literal after its first character, for good.
        pattern += f"(?>((?s:.+?)){re.escape(literal)})" if literal else "((?s:.))"
    return pattern + "((?s:.+))" + re.escape(literals[-1])
