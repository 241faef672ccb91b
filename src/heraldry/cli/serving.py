"""What commands that answer HTTP have in common: their limits, and their access log."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.registry.limits import Limits
    from heraldry.server.access_log import Application

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
            raise UsageError(f"--limit {text!r} is none", f"write NAME=NUMBER; there are {known}")
        name, number = found[1], float(found[2])
        whole = isinstance(defaults[name], int)
        if whole and not number.is_integer():
            raise UsageError(f"--limit {text!r} is none", f"{name} is a whole number")
        values[name] = int(number) if whole else number
    return Limits(**values)


@contextmanager
def access_logged(app: Application, target: str | None) -> Iterator[Application]:
    """The application with an access log: in a file, or on standard error where it is ``-``."""
    from heraldry.server.access_log import AccessLog

    if target is None:
        yield app
    elif target == "-":
        yield AccessLog(app, sys.stderr)
    else:
        try:
            stream = Path(target).open("a", encoding="utf-8")  # noqa: SIM115 - closed below
        except OSError as error:
            raise UsageError(f"{target} cannot be written", error.strerror or "") from None
        with stream:
            yield AccessLog(app, stream)
