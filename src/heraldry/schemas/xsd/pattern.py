"""Patterns of XML Schema in linear time: written anew for the engine that guarantees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import jsonschema_rs
from elementpath.regex import RegexError, translate_pattern

# The only parser of regular expressions at hand; nothing outside this module knows of it.
_parser: Any = import_module("re._parser")

PATTERN_LIMIT: Final = 2_000
"""How many characters a pattern may have."""

REPEAT_LIMIT: Final = 10_000
"""How many copies of a part nested repeats may ask for."""

_SIZE_LIMIT = 8 * 1024 * 1024
# What stands inside brackets for the classes of the standard.
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\p{Nd}",
    "CATEGORY_NOT_DIGIT": r"\P{Nd}",
    "CATEGORY_WORD": r"\p{L}\p{M}\p{N}\p{S}",
    "CATEGORY_NOT_WORD": r"\p{P}\p{Z}\p{C}",
    "CATEGORY_SPACE": r"\u{20}\u{9}\u{a}\u{d}",
    "CATEGORY_NOT_SPACE": (r"\u{0}-\u{8}\u{b}\u{c}\u{e}-\u{1f}\u{21}-\u{d7ff}\u{e000}-\u{10ffff}"),
}
_ATOM = r"(?:\[[A-Za-z0-9_ .,:/#-]+\]|\\[dDsSwW.\-+]|[A-Za-z0-9_ :/#,-]|\.)"
# Only these run in libxml2, which backtracks: single characters, the last one alone unbounded.
_HARMLESS = re.compile(rf"(?:{_ATOM}(?:\{{\d{{1,2}}\}})?)*(?:{_ATOM}[*+?])?")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Whether a text as a whole matches; it stands in for ``re.Pattern`` in the validator."""

    validator: jsonschema_rs.Validator

    def match(self, text: str) -> bool | None:
        """True, or None as ``re`` has it."""
        return True if self.validator.is_valid(text) else None


@lru_cache(maxsize=1024)
def matcher(pattern: str, xsd_version: str) -> Matcher:
    """The linear-time form of a pattern; ValueError where it is none, or too large."""
    if len(pattern) > PATTERN_LIMIT:
        raise ValueError(f"the pattern is longer than {PATTERN_LIMIT} characters")
    try:
        written = _sequence(_parser.parse(python_pattern(pattern, xsd_version)), 1)
    except (RegexError, re.error, RecursionError, IndexError, OverflowError):
        raise ValueError("the pattern is not one of XML Schema") from None
    options = jsonschema_rs.RegexOptions(size_limit=_SIZE_LIMIT)
    try:
        validator = jsonschema_rs.Draft7Validator(
            {"pattern": f"^(?:{written})$"}, pattern_options=options
        )
    except (jsonschema_rs.ValidationError, ValueError):
        raise ValueError("the pattern is too large") from None
    return Matcher(validator)


def is_harmless(pattern: str) -> bool:
    """Whether even an engine that backtracks needs no more than one pass for the pattern."""
    return _HARMLESS.fullmatch(pattern) is not None


def python_pattern(pattern: str, xsd_version: str) -> str:
    """The pattern in the syntax of Python: to take apart, never to match with."""
    translated: str = translate_pattern(
        pattern,
        xsd_version=xsd_version,
        back_references=False,
        lazy_quantifiers=False,
        anchors=False,
    )
    return translated.removeprefix("^").removesuffix(r"$(?!\n\Z)")


def _sequence(tree: Any, copies: int) -> str:
    return "".join(_one(str(op), argument, copies) for op, argument in tree)


def _one(op: str, argument: Any, copies: int) -> str:
    if op == "LITERAL":
        return _letter(argument)
    if op == "NOT_LITERAL":
        return f"[^{_letter(argument)}]"
    if op == "IN":
        return _set(argument)
    if op == "MAX_REPEAT":
        return _repeat(argument, copies)
    if op == "SUBPATTERN":
        return f"(?:{_sequence(argument[-1], copies)})"
    if op == "BRANCH":
        return "(?:" + "|".join(_sequence(part, copies) for part in argument[1]) + ")"
    raise ValueError("the pattern is not one of XML Schema")


def _repeat(argument: Any, copies: int) -> str:
    low, high, tree = argument
    unbounded = high is _parser.MAXREPEAT
    copies *= max(int(low) if unbounded else int(high), 1)
    if copies > REPEAT_LIMIT:
        raise ValueError("the pattern repeats its parts too often")
    bounds = f"{{{low},}}" if unbounded else f"{{{low},{high}}}"
    return f"(?:{_sequence(tree, copies)}){bounds}"


def _set(parts: Iterable[tuple[Any, Any]]) -> str:
    negated, written = "", []
    for op, value in parts:
        kind = str(op)
        if kind == "NEGATE":
            negated = "^"
        elif kind == "LITERAL":
            written.append(_letter(value))
        elif kind == "RANGE":
            written.append(_range(*value))
        else:
            written.append(_CATEGORIES[str(value)])
    return f"[{negated}{''.join(written)}]"


def _range(low: int, high: int) -> str:
    # Surrogates are no characters: a range goes around them.
    if low < 0xD800 and high > 0xDFFF:
        return _range(low, 0xD7FF) + _range(0xE000, high)
    low = max(low, 0xE000) if 0xD800 <= low <= 0xDFFF else low
    high = min(high, 0xD7FF) if 0xD800 <= high <= 0xDFFF else high
    return f"{_letter(low)}-{_letter(high)}" if low <= high else ""


def _letter(code: int) -> str:
    return rf"\u{{{code:x}}}"
