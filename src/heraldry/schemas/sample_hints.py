"""Hints for samples: values that belong into top-level members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.errors import MessageError
from heraldry.schemas.parse import parse


def hinted(value: Any, hints: Mapping[str, Any], is_valid: Callable[[Any], bool]) -> Any:
    """The value with each hint put in that one of its top-level members, where that is valid.

    A hint is a text mostly (the value of a placeholder): where the text itself is refused, the
    number or boolean it spells is tried.
    """
    if not isinstance(value, dict):
        return value
    for key, hint in hints.items():
        if key not in value:
            continue
        for candidate in (hint, _spelled(hint)):
            changed = {**value, key: candidate}
            if is_valid(changed):
                value = changed
                break
    return value


def _spelled(hint: Any) -> Any:
    if not isinstance(hint, str):
        return hint
    try:
        return parse(hint.encode("utf-8", "replace"))
    except MessageError:
        return hint
