"""The one JSON parser of the product, and its inverse, so that every path sees the same values."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from heraldry.errors import MessageError
from heraldry.model.json_fault import json_fault
from heraldry.model.problem import Problem

# The interpreter's own limit depends on how deep the caller's stack is and on the Python version;
# a limit of ours gives one verdict everywhere, and stays below the 255 levels of jsonschema_rs.
DEPTH_LIMIT: Final = 200
"""How many arrays and objects may be nested in one another."""

EXACT: Final = 2.0**53
"""From here on a float may stand for another integer than the one that a text said."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def parse(data: bytes) -> Any:
    """The value of a JSON text: integers exact, the last duplicate key wins, UTF-8 strict."""
    try:
        value = _decode(data)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError:
        raise _not_json("is not UTF-8") from None
    except msgspec.DecodeError as error:
        fault = json_fault(data, error)
        location = None if fault.offset is None else f"byte {fault.offset}"
        raise _not_json(f"is not JSON: {fault.reason}", location) from None
    # Few brackets cannot nest deeply: only the rare text with many of them is measured.
    if data.count(b"[") + data.count(b"{") > DEPTH_LIMIT and is_deep(value):
        raise _too_deep()
    return value


def encode(value: Any) -> bytes:
    """The compact JSON text of a value, members in the order given; integers of any size."""
    return _encode(value)


def is_deep(value: Any) -> bool:
    """Whether arrays and objects are nested deeper than DEPTH_LIMIT."""
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return any(isinstance(node, (dict, list)) for node in level)


def _not_json(message: str, found: str | None = None) -> MessageError:
    return MessageError((Problem(path="/", rule="json", message=message, found=found),))


def _too_deep() -> MessageError:
    message = f"is nested deeper than {DEPTH_LIMIT} levels"
    expected = f"at most {DEPTH_LIMIT} levels"
    return MessageError((Problem(path="/", rule="depth", message=message, expected=expected),))
