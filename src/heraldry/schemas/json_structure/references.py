"""The other documents that a JSON Structure document imports."""

from __future__ import annotations

from typing import Any

from heraldry.errors import MessageError
from heraldry.schemas.json_structure.document import IMPORTS, SIZE_LIMIT
from heraldry.schemas.parse import parse


def references(content: bytes) -> tuple[str, ...]:
    """The addresses in ``$import`` and ``$importdefs``, as written, without fragments."""
    if len(content) > SIZE_LIMIT:
        return ()
    try:
        root = parse(content)
    except MessageError:
        return ()
    found: dict[str, None] = {}
    if isinstance(root, dict):
        _note(root, found)
        waiting = [root.get("definitions")]
        while waiting:
            space = waiting.pop()
            if isinstance(space, dict) and "type" not in space:
                _note(space, found)
                waiting.extend(space.values())
    return tuple(found)


def _note(space: dict[str, Any], found: dict[str, None]) -> None:
    for key in IMPORTS:
        name = space.get(key)
        if isinstance(name, str) and name.partition("#")[0]:
            found[name.partition("#")[0]] = None
