"""What is sent to a registry, as it is written on the command line: --data, --set and --del."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from heraldry.errors import UsageError
from heraldry.model.dotpath import parse_path
from heraldry.model.json_fault import json_fault

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_WORDS: Mapping[str, Any] = {"null": None, "true": True, "false": False}
_JSON = ('"', "{", "[")
_UNKNOWN = object()


def read_data(text: str) -> bytes:
    """The bytes of ``--data``: a text, the content of ``@FILE``, or standard input for ``@-``."""
    if text == "@-":
        return sys.stdin.buffer.read()
    if not text.startswith("@"):
        return text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise UsageError(f"--data {text} cannot be read", error.strerror or str(error)) from None


def read_object(content: bytes, name: str = "--data") -> dict[str, Any]:
    """The object of a JSON text."""
    try:
        value = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{name} is not JSON", json_fault(content, error).described(content)
        ) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON", str(error)) from None
    if not isinstance(value, dict):
        raise UsageError(f"{name} is no object", 'write JSON such as {"name": "value"}')
    return value


def read_value(text: str) -> Any:
    """The value of ``--set NAME=VALUE``: a number, true, false, null, JSON, else a string."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return msgspec.json.decode(text)
    if text.startswith(_JSON):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            fault = json_fault(text.encode(), error)
            raise UsageError(f"--set {text} cannot be read as JSON", fault.reason) from None
    return text


def changed(
    data: Mapping[str, Any], old: Mapping[str, Any], dropped: Sequence[str], given: Sequence[str]
) -> dict[str, Any]:
    """The attributes to patch: the data, without what is dropped, then with what is given.

    A part of an attribute (``labels.stage``) changes the attribute as the registry has it, since
    a patch replaces attributes whole (WR-02).
    """
    found = dict(data)
    for name in dropped:
        if "=" in name:
            raise UsageError(f"--del {name} cannot be read", "write --del NAME")
        _put(found, old, name, _UNKNOWN)
    for text in given:
        name, equals, said = text.partition("=")
        value = read_value(said) if equals else None
        if isinstance(value, int | float) and name.startswith(("labels.", "labels[")):
            value = said  # labels are texts (CA-12)
        _put(found, old, name, value)
    return found


def _put(found: dict[str, Any], old: Mapping[str, Any], name: str, value: Any) -> None:
    try:
        top, *inner = parse_path(name)
    except ValueError as error:
        raise UsageError(f"{name!r} names no attribute", str(error)) from None
    if not inner:
        found[str(top)] = None if value is _UNKNOWN else value
        return
    if top not in found:
        found[str(top)] = copy.deepcopy(old.get(str(top)))
    place: Any = found
    for step, following in zip([top, *inner], inner, strict=False):
        place = _inside(place, step, following, name)
    _set(place, inner[-1], value, name)


def _inside(place: Any, step: str | int, following: str | int, name: str) -> Any:
    """The value at a step; an empty one is made where there is none."""
    _fits(place, step, name)
    empty: Any = {} if isinstance(following, str) else []
    if isinstance(place, dict):
        if place.get(str(step)) is None:
            place[str(step)] = empty
        return place[str(step)]
    if step == len(place):
        place.append(empty)
    return place[_index(place, step, name)]


def _set(place: Any, step: str | int, value: Any, name: str) -> None:
    _fits(place, step, name)
    if isinstance(place, dict):
        if value is _UNKNOWN or value is None:
            place.pop(str(step), None)
        else:
            place[str(step)] = value
    elif value is _UNKNOWN or value is None:
        del place[_index(place, step, name)]
    elif step == len(place):
        place.append(value)
    else:
        place[_index(place, step, name)] = value


def _fits(place: Any, step: str | int, name: str) -> None:
    if not isinstance(place, dict if isinstance(step, str) else list):
        what = "no object" if isinstance(step, str) else "no array"
        raise UsageError(f"{name} does not lead anywhere", f"there is {what} before {step!r}")


def _index(place: list[Any], step: str | int, name: str) -> int:
    if not isinstance(step, int) or not -1 < step < len(place):
        raise UsageError(f"{name} does not lead anywhere", f"the array has {len(place)} items")
    return step
