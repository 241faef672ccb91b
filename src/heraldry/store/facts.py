"""The filter index: an entity's attributes as facts, one for every value at every path.

A path is written as its *mark*: the steps as JSON, each with a comma behind it, so that the mark
of ``labels`` is the beginning of the mark of ``labels.stage``. Texts are folded, as filters ignore
case (FL-33); their first part is what the index sorts by.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from heraldry.errors import RegistryError
from heraldry.store.query import ANY, EACH, Step
from heraldry.store.rows import Row

COMPOUND, BOOLEAN, NUMBER, TEXT = range(4)
"""The kind of a fact; sorting goes by it first, so an absent value is below all of them."""

HEAD: Final = 200
"""So many characters of a text are in the index; the rest is beside it."""
MOST: Final = 100_000
"""So many values one entity may have; the index would otherwise grow without bound."""
LONGEST: Final = 2000
"""So many characters the path of a value may have, which every value below it repeats."""
_LONGEST_MARK: Final = 400
_STEPS: Final[dict[Step, str]] = {ANY: r'"[^"\\]*+(?:\\.[^"\\]*+)*+",', EACH: r"\d+,"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Fact(NamedTuple):
    """One value: a compound one is only present."""

    kind: int
    text: str
    rest: str
    number: int | float | None


_PRESENT = Fact(COMPOUND, "", "", None)
_FALSE, _TRUE = Fact(BOOLEAN, "false", "", None), Fact(BOOLEAN, "true", "", None)


def fold(text: str) -> str:
    """A text as it is compared: without case, and without what no database keeps."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = text.casefold().encode("utf-8", "replace").decode("utf-8")
    # PostgreSQL has no NUL in texts.
    return folded.replace("\0", "\ufffd") if "\0" in folded else folded


def number_of(text: str) -> int | float | None:
    """The number a text says in the notation of JSON, if it says one."""
    return normal_number(text) if _NUMBER.fullmatch(text) and text.isascii() else None


def normal_number(number: float | str) -> int | float:
    """A number as all databases compare it: 64 bits, or a float."""
    try:
        whole = int(number) if not isinstance(number, float) else None
    except ValueError:  # a fraction, or more digits than Python reads
        whole = None
    if whole is not None and _SMALLEST <= whole <= _LARGEST:
        return whole
    try:
        return min(max(float(number), -sys.float_info.max), sys.float_info.max)
    except OverflowError:
        return math.copysign(sys.float_info.max, 1 if int(number) > 0 else -1)


@lru_cache(maxsize=8192)
def _step_mark(step: Step) -> str:
    return msgspec.json.encode(step).decode() + ","


def mark_of(path: Iterable[Step]) -> str:
    """The mark of a path; ``ANY`` and ``EACH`` are no steps of a mark."""
    return "".join(map(_step_mark.__wrapped__, path))  # what is asked for is not remembered


def short_mark(mark: str) -> str:
    """A mark as it is indexed: a very long one is known by its digest."""
    return mark if len(mark) <= _LONGEST_MARK else "#" + sha256(mark.encode()).hexdigest()


def fits(mark: str, path: tuple[Step, ...]) -> bool:
    """Whether a mark is one that a path with ``ANY`` or ``EACH`` stands for."""
    return _pattern(path).fullmatch(mark) is not None


@lru_cache(maxsize=64)
def _pattern(path: tuple[Step, ...]) -> re.Pattern[str]:
    return re.compile("".join(_STEPS.get(step) or re.escape(mark_of([step])) for step in path))


def facts(row: Row) -> dict[str, Fact]:
    """Every value of an entity by its mark, with ``#id`` and ``#xid``; internal names are left out.

    An attribute that is ``None`` is absent (A-03).
    """
    found = {'"#id",': text_fact(row.id), '"#xid",': text_fact(row.xid)}
    _check_number(len(row.attributes), row.xid)
    for name, value in row.attributes.items():
        if name[:1] != "#":
            _add(found, _step_mark(name), value, row.xid)
    return found


def _add(found: dict[str, Fact], mark: str, value: Any, xid: str) -> None:
    if value is None:
        return
    if isinstance(value, str):
        found[mark] = text_fact(value)
    elif isinstance(value, bool):
        found[mark] = _TRUE if value else _FALSE
    elif isinstance(value, int | float):
        found[mark] = Fact(NUMBER, "", "", normal_number(value))
    else:
        found[mark] = _PRESENT
        _check_number(len(found) + len(value), xid)
        if not isinstance(value, Mapping):
            for at, member in enumerate(value):
                _add(found, mark + _step_mark(at), member, xid)
            return
        for name, member in value.items():
            if len(mark) + len(name) > LONGEST:
                _refuse(xid, f"the path of a value is longer than {LONGEST} characters")
            _add(found, mark + _step_mark(name), member, xid)


def _check_number(values: int, xid: str) -> None:
    if values > MOST:
        _refuse(xid, f"more than {MOST} values in one entity; a document would hold them")


def _refuse(xid: str, reason: str) -> NoReturn:
    raise RegistryError("bad_request", xid, {"error_detail": reason})


def text_fact(text: str) -> Fact:
    """A text as a fact."""
    folded = fold(text)
    return Fact(TEXT, folded[:HEAD], folded[HEAD:], None)
