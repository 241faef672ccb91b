"""Files of JSON: one event or message, several one after the other, or an array of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder

from heraldry.errors import MessageError
from heraldry.model.problem import Problem

LIMIT = 512 * 1024 * 1024
"""The bytes of the largest file: unlike lines, an array is held as a whole."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_BREAKS = str.maketrans("\r\n", "  ")
# Brackets in a row, and strings whole, so that those in them do not count.
_BRACKETS = re.compile(r'[\[{]++|[\]}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
# Only told where a value ends: its numbers need not be made.
_end_of = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


def read_values(data: bytes) -> Iterator[bytes]:
    """Every value as one line; MessageError where the text breaks, after all that came before."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _broken(f"is not UTF-8 at byte {error.start}") from error
    at = _after_space(text, 0)
    inside = text[at : at + 1] == "["
    at = _after_space(text, at + 1) if inside else at
    while at < len(text) and not (inside and text[at] == "]"):
        try:
            end = _end_of(text, at)[1]
        except JSONDecodeError as error:
            raise _broken(f"is not JSON at character {at}") from error
        except RecursionError:
            end = _end_of_deep(text, at)
        # In JSON line ends stand between values only.
        yield text[at:end].translate(_BREAKS).encode()
        at = _after_space(text, end)
        if inside and text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
        elif inside and text[at : at + 1] != "]":
            raise _broken("is an array that does not end")
    if inside and at == len(text):
        raise _broken("is an array that does not end")
    if inside and _after_space(text, at + 1) != len(text):
        raise _broken("goes on behind the array")


def _end_of_deep(text: str, at: int) -> int:
    """Where a value ends that is nested too deep to be parsed; the judge refuses that one alone."""
    depth = 0
    for found in _BRACKETS.finditer(text, at):
        first, length = text[found.start()], found.end() - found.start()
        if first in "[{":
            depth += length
        elif first != '"':
            if length >= depth:
                return found.start() + depth
            depth -= length
    raise _broken(f"is not JSON at character {at}")


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _broken(told: str) -> MessageError:
    return MessageError((Problem(path="/", rule="json", message=told),))
