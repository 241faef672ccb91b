"""What commands that answer HTTP have in common: their limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.registry.limits import Limits

_LIMIT = re.compile(r"([a-z_]+)=([0-9]+(?:\.[0-9]+)?)")


def read_limits(settings: Iterable[str]) -> Limits:
    """The limits of a server; ``settings`` change some of them, each as ``NAME=NUMBER``."""
    from heraldry.registry.limits import Limits

    defaults = {limit.name: limit.default for limit in fields(Limits)}
    values: dict[str, Any] = {}
    for text in settings:
        match = _LIMIT.fullmatch(text)
        if match is None or match[1] not in defaults:
            names = ", ".join(defaults)
            raise _not_a_limit(text, f"write NAME=NUMBER, where NAME is one of {names}")
        name, number = match[1], float(match[2])
        is_whole = isinstance(defaults[name], int)
        if is_whole and not number.is_integer():
            raise _not_a_limit(text, f"{name} is a whole number")
        values[name] = int(number) if is_whole else number
    return Limits(**values)


def _not_a_limit(text: str, advice: str) -> UsageError:
    return UsageError(f"--server-limit {text!r} is not a limit", advice)
