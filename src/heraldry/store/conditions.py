"""The test of a filter's term as conditions on the facts of one entity (FL-32..FL-35)."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any, Final

from heraldry.store.connection import Connection
from heraldry.store.facts import BOOLEAN, HEAD, TEXT, fold, number_of, text_fact
from heraldry.store.query import Term, Test

_COMPARE: Final = {
    "equal": ("=", operator.eq),
    "less": ("<", operator.lt),
    "at_most": ("<=", operator.le),
    "more": (">", operator.gt),
    "at_least": (">=", operator.ge),
}
_OPPOSITE: Final[dict[Test, Test]] = {"absent": "present", "unequal": "equal"}
_BEYOND: Final = "\U0010ffff"
_PIECE = re.compile(r"\\\*|\*|[^*\\]+|\\")


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a statement with the values bound in it, in order."""

    sql: str
    values: tuple[Any, ...] = ()


def is_negative(term: Term) -> bool:
    """Whether a term holds where no fact fits, so also where the attribute is absent (FL-32)."""
    return term.test in _OPPOSITE


def has_wildcard(term: Term) -> bool:
    """Whether texts are compared with a pattern: an index helps little then."""
    test = _OPPOSITE.get(term.test, term.test)
    return test == "equal" and term.value != "*" and "*" in _PIECE.findall(term.value)


def alternatives(term: Term, connection: Connection) -> list[Condition]:
    """What a fact ``f`` must be for the term, or for its opposite where the term is negative.

    One of them must hold; each alone can be answered by an index. None: no fact can fit.
    """
    test = _OPPOSITE.get(term.test, term.test)
    pieces = _PIECE.findall(term.value) if test == "equal" else [term.value]
    if test == "present" or (test == "equal" and pieces == ["*"]):
        return [Condition("f.kind >= 0")]
    if test == "equal" and "*" in pieces:
        return [_like(pieces)]
    value = term.value if test != "equal" else term.value.replace(r"\*", "*")
    found = [_texts(test, value)]
    allowed = booleans(term)
    if allowed and len(allowed) < 2:
        word = "true" if True in allowed else "false"
        found.append(Condition("f.text = ? AND f.kind = ?", (word, BOOLEAN)))
    elif allowed:
        found.append(Condition("f.kind = ?", (BOOLEAN,)))
    number = number_of(value)
    if number is not None:
        sign = _COMPARE[test][0]
        found.append(Condition(f"f.number {sign} ?", (connection.exact(number),)))
    return found


def booleans(term: Term) -> frozenset[bool]:
    """The booleans that fit a term, or the opposite of a negative one; false is below true."""
    test = _OPPOSITE.get(term.test, term.test)
    if test == "present" or (test == "equal" and term.value == "*"):
        return frozenset((False, True))
    if term.value not in ("true", "false"):
        return frozenset()
    compare = _COMPARE[test][1]
    return frozenset(one for one in (False, True) if compare(one, term.value == "true"))


def _texts(test: Test, value: str) -> Condition:
    _, head, rest, _ = text_fact(value)
    sign = _COMPARE[test][0]
    if test == "equal":
        if len(head) < HEAD:  # then the index alone can tell
            return Condition("f.text = ? AND f.kind = ?", (head, TEXT))
        return Condition("f.text = ? AND f.kind = ? AND f.rest = ?", (head, TEXT, rest))
    return Condition(f"f.kind = ? AND (f.text, f.rest) {sign} (?, ?)", (TEXT, head, rest))


def _like(pieces: list[str]) -> Condition:
    """Texts that fit a value with wildcards; LIKE takes linear time in both databases (FL-34)."""
    literal = ["*" if piece == r"\*" else fold(piece) for piece in pieces]
    start = text_fact("".join(literal[: pieces.index("*")])).text
    pattern = "".join(
        "%" if piece == "*" else re.sub(r"([%_\\])", r"\\\1", text)
        for piece, text in zip(pieces, literal, strict=True)
    )
    return Condition(
        r"f.kind = ? AND f.text >= ? AND f.text < ? AND (f.text || f.rest) LIKE ? ESCAPE '\'",
        (TEXT, start, start + _BEYOND, pattern),
    )
