"""Catalog documents in JSON: strict, with the place of whatever is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from heraldry.dialects.limits import Limits
from heraldry.errors import DocumentError
from heraldry.model.json_fault import json_fault

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)


class _DuplicateError(Exception):
    """Some object has a member twice; where is found by a slower look at the text."""


def read_json(data: bytes, file: str, limits: Limits) -> Any:
    """The value of a JSON text; duplicate members, NaN and bad UTF-8 are refused."""
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        fault = json_fault(data, error)
        line = fault.line(data)
        location = f"line {line}" if line else ""
        raise DocumentError(file, location, f"not JSON: {fault.reason}") from None
    except UnicodeDecodeError:
        raise DocumentError(file, _bad_line(data), "not JSON: the text is not UTF-8") from None
    except RecursionError:
        raise _too_deep(file, limits) from None
    check_depth(value, file, limits)
    try:
        # msgspec keeps the last of two equal members without a word; this parser tells.
        json.loads(data, object_pairs_hook=_distinct)
    except _DuplicateError:
        raise _duplicate(data, file) from None
    return value


def check_depth(value: Any, file: str, limits: Limits) -> None:
    """Refuse values that nest deeper than the limit."""
    level = [value] if type(value) in (dict, list) else []
    depth = 0
    while level:
        depth += 1
        if depth > limits.depth:
            raise _too_deep(file, limits)
        below: list[Any] = []
        for one in level:
            inner = one.values() if type(one) is dict else one
            below += [v for v in inner if type(v) is dict or type(v) is list]
        level = below


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len({name for name, _ in pairs}) != len(pairs):
        raise _DuplicateError


def _too_deep(file: str, limits: Limits) -> DocumentError:
    return DocumentError(file, "", f"nested deeper than {limits.depth} levels, which is the limit")


def _bad_line(data: bytes) -> str:
    """The line of the first byte that is not UTF-8; msgspec counts from within a string."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"line {line}"
    return ""


def _duplicate(data: bytes, file: str) -> DocumentError:
    text = data.decode()
    pointer, line = next(_duplicates(text))
    reason = f"the member is given twice (again in line {line}); keep one of them"
    return DocumentError(file, pointer, reason)


def _duplicates(text: str) -> Iterator[tuple[str, int]]:
    """The pointer and line of each member that its object already has."""
    path: list[str | int] = []
    names: list[set[str] | None] = []
    waiting = ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            names.append(set() if mark == "{" else None)
            path.append("" if mark == "{" else 0)
        elif mark in "}]":
            names.pop()
            path.pop()
        elif mark == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else ""
        elif mark == ":":
            path[-1] = waiting
            seen = names[-1] or set()
            if waiting in seen:
                yield _pointer(path), text.count("\n", 0, token.start()) + 1
            seen.add(waiting)
            names[-1] = seen
        else:
            waiting = json.loads(mark)


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
