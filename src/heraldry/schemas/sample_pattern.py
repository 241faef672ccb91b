"""Texts that match a regular expression, for the simple expressions that schemas hold."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from typing import Any

from heraldry.errors import UnsupportedPatternError

# The only parser of regular expressions at hand; nothing outside this module knows of it.
_parser: Any = import_module("re._parser")
_DIGITS = string.digits
_WORD = string.ascii_letters + string.digits + "_"
_PRINTABLE = _WORD + " -.:/#+"
_CLASSES = {
    "CATEGORY_DIGIT": _DIGITS,
    "CATEGORY_WORD": _WORD,
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
    "CATEGORY_NOT_WORD": " -.",
    "CATEGORY_NOT_SPACE": _WORD,
}
# An open-ended repeat is made this much longer than it must be, at most.
_MORE = 6
_RANGE_LIMIT = 256


def matching_text(pattern: str, random: Random) -> str:
    """A text that matches a pattern; UnsupportedPatternError where it is not a simple one."""
    try:
        tree = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        raise UnsupportedPatternError from None
    return _sequence(tree, random)


def _sequence(tree: Any, random: Random) -> str:
    return "".join(_one(str(op), argument, random) for op, argument in tree)


def _one(op: str, argument: Any, random: Random) -> str:
    maker = _MAKERS.get(op)
    if maker is None:
        raise UnsupportedPatternError
    return maker(argument, random)


def _repeat(argument: Any, random: Random) -> str:
    low, high, tree = argument
    count = random.randint(int(low), min(int(high), int(low) + _MORE))
    if count > 10_000:
        raise UnsupportedPatternError
    return "".join(_sequence(tree, random) for _ in range(count))


def _group(argument: Any, random: Random) -> str:
    return _sequence(argument[-1], random)


def _branch(argument: Any, random: Random) -> str:
    return _sequence(random.choice(argument[1]), random)


def _set(argument: Sequence[tuple[Any, Any]], random: Random) -> str:
    negated = str(argument[0][0]) == "NEGATE"
    letters = "".join(_letters(str(op), value) for op, value in argument if str(op) != "NEGATE")
    if negated:
        letters = "".join(letter for letter in _PRINTABLE if letter not in letters)
    if not letters:
        raise UnsupportedPatternError
    return random.choice(letters)


def _letters(op: str, value: Any) -> str:
    if op == "LITERAL":
        return chr(value)
    if op == "RANGE":
        return "".join(map(chr, range(value[0], min(value[1], value[0] + _RANGE_LIMIT) + 1)))
    return _CLASSES.get(str(value), "")


def _other_than(value: int, random: Random) -> str:
    return random.choice([letter for letter in _WORD if ord(letter) != value])


_MAKERS: dict[str, Callable[[Any, Random], str]] = {
    "LITERAL": lambda value, _random: chr(value),
    "NOT_LITERAL": _other_than,
    "ANY": lambda _none, random: random.choice(_WORD),
    "IN": _set,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "SUBPATTERN": _group,
    "BRANCH": _branch,
    "AT": lambda _place, _random: "",
}
