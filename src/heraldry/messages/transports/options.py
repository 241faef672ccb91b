"""Options of endpoints, read as what they are meant to be (C47)."""

from __future__ import annotations

from typing import Any

from heraldry.errors import TransportError
from heraldry.messages.transports.transport import Connection

_FLAGS = {"true": True, "false": False}


def flag(connection: Connection, name: str) -> bool | None:
    """A boolean option, or its text; None where it is not given."""
    given = connection.endpoint.option(name)
    if given is None or isinstance(given, bool):
        return given
    found = _FLAGS.get(given.lower()) if isinstance(given, str) else None
    if found is None:
        raise _wrong(connection, name, given, "true or false")
    return found


def whole(connection: Connection, name: str, low: int, high: int) -> int | None:
    """An integer option within bounds, or its digits; None where it is not given."""
    given = connection.endpoint.option(name)
    if given is None:
        return None
    found = int(given) if isinstance(given, str) and given.isdecimal() else given
    if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
        raise _wrong(connection, name, given, f"an integer from {low} to {high}")
    return found


def text(connection: Connection, name: str) -> str | None:
    """An option that is a text; None where it is not given or empty."""
    given = connection.endpoint.option(name)
    if given is not None and not isinstance(given, str):
        raise _wrong(connection, name, given, "a text")
    return given or None


def _wrong(connection: Connection, name: str, given: Any, right: str) -> TransportError:
    told = f"the option {name} is {given!r}"
    return TransportError(str(connection.endpoint.xid), told, f"it must be {right}")
