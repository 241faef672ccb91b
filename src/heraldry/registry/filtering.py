"""The flag ``filter``: expressions, read with the model (FL-30..FL-35, FL-38)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from heraldry.errors import RegistryError
from heraldry.model.dotpath import Step, parse_path, text_of
from heraldry.registry.filtering_terms import Owner, resolved_term
from heraldry.store.query import Term, Test

if TYPE_CHECKING:
    from heraldry.registry.session import Session

_EXPRESSION: Final = re.compile(
    r"""(?P<path>(?>\[(?>'[^']*'|"[^"]*"|[^\]'"]*)\]|[^!<>=\[])*+)"""
    r"""(?:(?P<sign>!=|<>|<=|>=|<|>|=)(?P<value>.*))?""",
    re.DOTALL,
)
"""The groups are atomic, so that every text is read in linear time."""
_TESTS: Final[dict[str, Test]] = {
    "=": "equal",
    "!=": "unequal",
    "<>": "unequal",
    "<": "less",
    "<=": "at_most",
    ">": "more",
    ">=": "at_least",
}
_ORDERED: Final = frozenset(("less", "at_most", "more", "at_least"))
_NONE: Final = "excludeall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One expression: about which entities it is, and how it is written from there."""

    place: tuple[str, ...]
    """``()`` the registry, ``("dirs",)`` its groups ... ``("dirs", "files", "versions")``."""
    term: Term
    text: str
    """Relative to that place: ``labels.stage=dev``."""


Alternatives = tuple[tuple[Expression, ...], ...]
"""Any of these must hold (OR); of each, all expressions (AND)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What a request wants to see; no alternatives at all: nothing (``excludeall``)."""

    alternatives: Alternatives


def read_filter(session: Session, values: Sequence[Sequence[str]], owner: Owner) -> Criteria | None:
    """What a request filters by, ``None`` for nothing; ``owner``: where its paths start.

    Spaces around an expression and empty expressions do not count.
    """
    texts = [[text.strip() for text in group if text.strip()] for group in values]
    texts = [group for group in texts if group]
    if not texts:
        return None
    everything = [text for group in texts for text in group]
    if _NONE in everything:
        if len(everything) > 1:
            detail = f"{_NONE} must be the only expression"
            other = everything[1] if everything[0] == _NONE else _NONE
            raise bad_filter(session, other, detail)
        return Criteria(alternatives=())
    return Criteria(
        alternatives=tuple(
            tuple(_expression(session, text, owner) for text in group) for group in texts
        )
    )


def bad_filter(session: Session, text: str, detail: str) -> RegistryError:
    """An expression that cannot be read (FL-31)."""
    arguments = {"value": text, "error_detail": detail}
    return RegistryError("bad_filter", session.request.path, arguments)


def check_syntax(session: Session, values: Sequence[Sequence[str]]) -> None:
    """Refuse expressions that no model could give a meaning, before anything is written."""
    for group in values:
        for text in group:
            if text.strip():
                _read(session, text.strip())


def _read(session: Session, text: str) -> tuple[tuple[Step, ...], Test, str]:
    """The path, test and value of an expression."""
    read = _EXPRESSION.fullmatch(text)
    if read is None:
        detail = "it must be ATTRIBUTE alone, or with one of = != <> < <= > >= and a value"
        raise bad_filter(session, text, detail)
    try:
        path = parse_path(read["path"].strip())
    except ValueError as error:
        raise bad_filter(session, read["path"], str(error)) from None
    return (path, *_test(session, text, read["sign"], read["value"]))


def _expression(session: Session, text: str, owner: Owner) -> Expression:
    path, test, value = _read(session, text)
    place = owner
    while len(path) > 1 or (test == "present" and place.below(path[0]) is not None):
        below = place.below(path[0])
        if below is None:
            break
        place, path = below, path[1:]
        if not path:
            path = (place.id,)
            break
    meta = "meta." if place.level == "meta" else ""
    shown = meta + text_of(path) + _written(test, value)
    if test in _ORDERED:
        value = value.replace(r"\*", "*")
    term = resolved_term(session, place, _inside(session, place, path), test, value)
    return Expression(place=place.place, term=term, text=shown)


def _inside(session: Session, owner: Owner, path: tuple[Step, ...]) -> tuple[Step, ...]:
    """The path with the names of rows: what a generation calls otherwise is a version's."""
    if owner.level in ("resource", "version") and isinstance(path[0], str):
        return (session.wire.inside(path[0]), *path[1:])
    return path


def _test(session: Session, text: str, sign: str | None, value: str | None) -> tuple[Test, str]:
    """The test of an expression, and its value (FL-32, FL-34)."""
    if sign is None or value is None:
        return "present", ""
    test = _TESTS[sign]
    if test in _ORDERED:
        if value == "null" or "*" in value.replace(r"\*", ""):
            detail = f"null and the wildcard * cannot be compared with {sign}"
            raise bad_filter(session, text, detail)
        return test, value
    negative = test == "unequal"
    if value == "null":
        return ("present" if negative else "absent"), ""
    if value == "*":
        return ("absent" if negative else "present"), ""
    return test, value


def _written(test: Test, value: str) -> str:
    if test == "present":
        return ""
    if test == "absent":
        return "=null"
    return next(sign for sign, known in _TESTS.items() if known == test) + value
