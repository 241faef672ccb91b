"""How problems say where and what: JSON pointers, and values in short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from heraldry.schemas.parse import encode

TEXT_LIMIT: Final = 80
"""How many characters of a value or of an expectation a problem shows."""

PROBLEM_LIMIT: Final = 20
"""How many problems one check reports."""


def pointer(path: Sequence[str | int]) -> str:
    """The JSON pointer of a path; the payload as a whole is ``/``."""
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return "/" + "/".join(parts)


def short(value: Any) -> str:
    """The JSON text of a value, cut to TEXT_LIMIT characters."""
    try:
        text = encode(value).decode()
    except (RecursionError, TypeError, ValueError):
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
