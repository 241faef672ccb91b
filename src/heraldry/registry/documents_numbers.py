"""The format ``numbers``: a whole number or nothing on each line, compared by their sums.

It needs no schema language, so it shows the rules of formats and of compatibility by themselves
(VA-01, VA-04): a version goes with an older one where its sum is not smaller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from heraldry.schemas.verdicts import CompatibilityVerdict, FormatVerdict

NUMBERS: Final = "numbers"

# More digits than that are no number that anybody counts with, and slow to read.
_whole = re.compile(r"[+-]?[0-9]{1,18}").fullmatch


def is_numbers(format: str) -> bool:  # noqa: A002
    """Whether a format, in any case, is this one."""
    return format.lower() == NUMBERS


def check_numbers(format: str, content: bytes) -> FormatVerdict:  # noqa: A002
    """Each line is blank or a whole number, and the document is not empty (VA-01, VA-03)."""
    told, location = "", ""
    if not content:
        told = f"The document is empty, which is not valid {format}."
    for place, line in enumerate(_lines(content), 1):
        if line and _whole(line) is None:
            told, location = f"Line {place} is not a whole number.", f"line {place}"
            break
    if not told:
        return FormatVerdict(format=format, outcome="validated")
    return FormatVerdict(
        format=NUMBERS,
        outcome="violated",
        reason=told,
        error="format_violation",
        location=location,
    )


def compare_numbers(mode: str, lineage: Sequence[tuple[str, bytes]]) -> CompatibilityVerdict:
    """The verdict on a version, the first, and its ancestors, newest first (VA-04, ME-06)."""
    (newest, content), *ancestors = lineage
    own, rule = _sum(content), mode.lower()
    for version, older in ancestors:
        earlier = _sum(older)
        smaller = own < earlier and not rule.startswith("forward")
        greater = own > earlier and not rule.startswith("backward")
        if smaller or greater:
            told = f"Version {newest} (sum {own}) is not {rule} compatible"
            return CompatibilityVerdict(
                mode=rule,
                outcome="violated",
                reason=f"{told} with version {version} (sum {earlier}).",
                error="compatibility_violation",
                versionids=(version, newest),
            )
    return CompatibilityVerdict(mode=rule, outcome="validated")


def _lines(content: bytes) -> list[str]:
    return [line.strip() for line in content.decode("utf-8", "replace").split("\n")]


def _sum(content: bytes) -> int:
    return sum(int(line) for line in _lines(content) if line)
