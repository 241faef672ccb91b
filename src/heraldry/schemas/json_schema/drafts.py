"""The draft a JSON Schema is written in, by what it says or by the name of its format."""

from __future__ import annotations

import re
from typing import Any, Final

from heraldry.schemas.json_schema.scan import dialect

DEFAULT_DRAFT: Final = 7
"""The draft where nothing names one."""

_NAMED = re.compile(r"(?:draft)?[-/_ ]?(?:0?([467])|(2019)(?:-09)?|(2020)(?:-12)?)")
_ADDRESS = re.compile(r"(?:https?://)?json-schema\.org/|/schema#?$|^v(?=\d)")
_SHOWN = 200
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)


def draft_of(version: str, schema: Any, root: Any) -> tuple[int, tuple[str, ...]]:
    """The draft, and what was guessed: the dialect of the document goes before its format (C55)."""
    for place in (schema, root):
        stated = dialect(place)
        if stated is not None:
            return stated, ()
    draft, unknown = _of_format(version)
    own = root.get("$schema") if isinstance(root, dict) else None
    if own is not None:
        unknown = f"the dialect {str(own)[:_SHOWN]!r}"
    return draft, (f"{unknown} is not known: read as {_SPOKEN[draft]}",) if unknown else ()


def _of_format(version: str) -> tuple[int, str]:
    """The draft a format names, and what is not known about it."""
    if not version:
        return DEFAULT_DRAFT, ""
    named = _NAMED.fullmatch(_ADDRESS.sub("", version.lower()))
    if named is not None:
        return int(next(group for group in named.groups() if group)), ""
    return _nearest(version), f"the draft {version[:_SHOWN]!r}"


def _nearest(version: str) -> int:
    numbers = [int(text) for text in _NUMBER.findall(version)]
    if not numbers:
        return DEFAULT_DRAFT
    number = max(numbers)  # the year, where there is one
    if number < 100:
        # What was to be draft 8 became 2019-09.
        return {6: 6, 7: 7}.get(number, 4 if number < 6 else 2019)
    return 2020 if number >= 2020 else 2019 if number == 2019 else DEFAULT_DRAFT


_SPOKEN = {4: "draft 4", 6: "draft 6", 7: "draft 7", 2019: "draft 2019-09", 2020: "draft 2020-12"}
