"""Dot notation: the path to an attribute inside an entity (FL-31).

parse_path("labels['a.b'].x[0].*")  ->  ("labels", "a.b", "x", 0, ANY)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

ANY: Final = -1
"""A step of a path that stands for every member of a map or object."""
EACH: Final = -2
"""A step of a path that stands for every item of an array."""

Step = str | int
Path = tuple[Step, ...]

_NAME = r"[A-Za-z0-9_:-]+"
_is_plain = re.compile(_NAME).fullmatch
_step = re.compile(
    rf"(?P<dot>\.)?(?P<name>{_NAME}|\*)|\[(?:(?P<index>[0-9]{{1,9}}|\*)"
    r"|'(?P<single>[^']+)'|\"(?P<double>[^\"]+)\")\]"
).match


def parse_path(text: str) -> Path:
    """Read a path; a ValueError says at which character it ends to be one.

    Names are separated by dots, a dot before the first is allowed. ``['a.b']`` and ``["a.b"]``
    are names with any characters, ``[2]`` is an item of an array, ``.*`` is ANY, ``[*]`` is EACH.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _step(text, at)
        if found is None or (found["name"] and not found["dot"] and at > 0):
            raise ValueError(f"unexpected {text[at]!r} at position {at + 1} of {text!r}")
        word = found["name"] or found["index"]
        if word == "*":
            steps.append(ANY if found["name"] else EACH)
        elif found["index"]:
            steps.append(int(word))
        else:
            steps.append(word or found["single"] or found["double"])
        at = found.end()
    if not steps:
        raise ValueError("the path is empty")
    return tuple(steps)


def text_of(path: Sequence[Step]) -> str:
    """The text of a path: :func:`parse_path` reads it again.

    Only a name with both kinds of quotes has no text that can be read.
    """
    text = ""
    for step in path:
        if step == ANY:
            text += ".*" if text else "*"
        elif isinstance(step, int):
            text += "[*]" if step == EACH else f"[{step}]"
        elif _is_plain(step):
            text += f".{step}" if text else step
        else:
            quote = '"' if "'" in step else "'"
            text += f"[{quote}{step}{quote}]"
    return text


def value_at(values: Any, path: Sequence[Step]) -> Any:
    """The value at a path without wildcards; ``None`` where there is none."""
    found = values
    for step in path:
        if isinstance(step, str):
            found = found.get(step) if isinstance(found, Mapping) else None
        else:
            found = found[step] if isinstance(found, list) and step < len(found) else None
    return found
