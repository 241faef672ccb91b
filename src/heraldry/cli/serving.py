"""What commands that answer HTTP have in common: their limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.registry.limits import Limits

_MAY_BE_ZERO = ("page", "proxied", "rate", "waiting", "write_entities", "write_seconds")
OF_CONNECTIONS = ("bodies", "patience", "rate", "connections", "header_size", "query")
"""The limits of a server that takes messages in."""
_LIMIT = re.compile(r"([a-z_]+)=([0-9]+(?:\.[0-9]+)?)")


def read_limits(settings: Iterable[str], names: Iterable[str] = ()) -> Limits:
    """The limits of a server; ``settings`` change some of them, each as ``NAME=NUMBER``.

    ``names`` are those that the server has; all of them unless some are named.
    """
    from heraldry.registry.limits import Limits

    limits = {limit.name: limit.default for limit in fields(Limits)}
    defaults = {name: limits[name] for name in names or limits}
    values: dict[str, Any] = {}
    for text in settings:
        match = _LIMIT.fullmatch(text)
        if match is None or match[1] not in defaults:
            listed = ", ".join(defaults)
            raise _not_a_limit(text, f"write NAME=NUMBER, where NAME is one of {listed}")
        name, number = match[1], float(match[2])
        is_whole = isinstance(defaults[name], int)
        if is_whole and not number.is_integer():
            raise _not_a_limit(text, f"{name} is a whole number")
        if not number and name not in _MAY_BE_ZERO:
            raise _not_a_limit(text, f"{name} must be more than 0")
        values[name] = int(number) if is_whole else number
    return Limits(**values)


def _not_a_limit(text: str, advice: str) -> UsageError:
    return UsageError(f"--server-limit {text!r} is not a limit", advice)
