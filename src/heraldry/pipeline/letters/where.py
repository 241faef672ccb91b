"""Which letters are meant: a small language of terms, all of which must hold.

rule=type, definition=/messagegroups/orders/*, since=2h, message~required
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pyarrow.compute as pc

from heraldry.errors import UsageError
from heraldry.messages.verdict import Stage

TEXTS = ("letter", "stage", "rule", "definition", "path", "message", "source", "position")
"""Columns that a term compares with a pattern (``=``, ``!=``) or seeks a text in (``~``)."""
STAGES = tuple(stage for stage in get_args(Stage) if stage != "handle")
"""The stages that letters have; what no handler takes is no letter."""
NAMEABLE = ("rule", "definition", "stage")

GRAMMAR = (
    f"{', '.join(TEXTS)} with = or != and a pattern, or ~ and a text; batch with =, <, <=, >, >=;"
    " since= and until= with a time or an age such as 90s, 15m, 2h, 7d"
)

_TERM = re.compile(r"\s*([a-z]+)\s*(!=|<=|>=|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
_BETWEEN = re.compile(rf",\s*(?=(?:{'|'.join(TEXTS)}|batch|since|until)\s*(?:!=|<=|>=|=|<|>|~))")
_AGE = re.compile(r"([0-9]+)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_BATCHES = range(-(2**63), 2**63)
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def where(
    texts: Iterable[str],
    now: datetime | None = None,
    definition: Callable[[str], str] = str,
) -> pc.Expression | None:
    """The condition of some texts of terms, or None for none; UsageError for what is no term.

    ``definition`` gives the xid that is meant by what stands for one, where it is no pattern.
    """
    now = now or datetime.now(UTC)
    parts = [part for text in texts for part in _BETWEEN.split(text)]
    return both(*(_term(part, now, definition) for part in parts))


def named_columns(texts: Iterable[str]) -> tuple[str, ...]:
    """The columns that some terms are about, of those whose few values can be named."""
    found = (_TERM.fullmatch(part) for text in texts for part in _BETWEEN.split(text))
    names = {parts[1] for parts in found if parts}
    return tuple(name for name in NAMEABLE if name in names)


def asks(texts: Iterable[str], name: str) -> bool:
    """Whether a term says what a column is, by ``=`` or ``~``; one with ``!=`` does not."""
    found = (_TERM.fullmatch(part) for text in texts for part in _BETWEEN.split(text))
    return any(parts and parts[1] == name and parts[2] != "!=" for parts in found)


def both(*conditions: pc.Expression | None) -> pc.Expression | None:
    """All conditions in one; None is no condition."""
    whole: pc.Expression | None = None
    for one in conditions:
        if one is not None:
            whole = one if whole is None else whole & one
    return whole


def equals(name: str, value: str | None) -> pc.Expression | None:
    """A column that is exactly a value; no condition for None."""
    return None if value is None else pc.field(name) == value


def _term(text: str, now: datetime, definition: Callable[[str], str]) -> pc.Expression:
    parts = _TERM.fullmatch(text)
    if parts is None:
        raise UsageError(f"{text!r} is not a term like rule=type", GRAMMAR)
    name, sign, value = parts.groups()
    if name in TEXTS and sign in ("=", "!=", "~"):
        if sign != "~" and value.startswith("="):
            raise UsageError(f"{text!r} has one = too many", f"{name}{sign}{value.lstrip('= ')}")
        if name == "stage":
            _check_stage(sign, value)
        elif name == "definition" and sign != "~" and not _is_pattern(value):
            value = definition(value)
        return _text(name, sign, value)
    if name == "batch" and sign in _COMPARE:
        return _COMPARE[sign](pc.field("batch"), _batch(value))
    if name in ("since", "until") and sign == "=":
        return _COMPARE[">=" if name == "since" else "<="](pc.field("received"), _time(value, now))
    raise UsageError(f"{text!r} compares what cannot be compared so", GRAMMAR)


def _batch(text: str) -> int:
    """The number of a batch, as the column holds it: 64 bits."""
    number = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else _BATCHES.stop
    if number not in _BATCHES:
        raise UsageError(f"{text!r} is not the number of a batch", GRAMMAR)
    return number


def _check_stage(sign: str, value: str) -> None:
    """Letters have one of a few stages: what fits none of them is mistyped."""
    fits = re.compile(_regex(value)).fullmatch
    if not any(value.lower() in one if sign == "~" else fits(one) for one in STAGES):
        raise UsageError(f"{value!r} is no stage", f"there are {', '.join(STAGES)}")


def _is_pattern(value: str) -> bool:
    return any(char in value for char in "*?")


def _regex(pattern: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "".join(parts.get(char) or re.escape(char) for char in pattern)


def _text(name: str, sign: str, value: str) -> pc.Expression:
    column = pc.field(name)
    if sign == "~":
        return pc.match_substring(column, value, ignore_case=True)
    if _is_pattern(value):
        same = pc.match_substring_regex(column, f"(?s)^{_regex(value)}$")
    else:
        same = column == value
    # A letter without a definition is one that is not of this definition.
    return same if sign == "=" else ~pc.coalesce(same, pc.scalar(False))


def _time(text: str, now: datetime) -> datetime:
    """A time of ISO 8601, in UTC where it names no zone, or an age before now."""
    if age := _AGE.fullmatch(text):
        try:
            return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
        except (OverflowError, ValueError):
            told = f"{text!r} is longer ago than time can be told"
            raise UsageError(told, "an age such as 90s, 15m, 2h, 7d") from None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is neither a time nor an age", GRAMMAR) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
