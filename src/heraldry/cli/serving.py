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


def read_limits(given: Iterable[str]) -> Limits:
    """The limits of a server, some of them given as ``NAME=NUMBER``."""
    from heraldry.registry.limits import Limits

    defaults = {one.name: one.default for one in fields(Limits)}
    values: dict[str, Any] = {}
    for text in given:
        found = _LIMIT.fullmatch(text)
        if found is None or found[1] not in defaults:
            known = ", ".join(defaults)
            raise UsageError(
                f"--server-limit {text!r} is none", f"write NAME=NUMBER; there are {known}"
            )
        name, number = found[1], float(found[2])
        whole = isinstance(defaults[name], int)
        if whole and not number.is_integer():
            raise UsageError(f"--server-limit {text!r} is none", f"{name} is a whole number")
        values[name] = int(number) if whole else number
    return Limits(**values)
