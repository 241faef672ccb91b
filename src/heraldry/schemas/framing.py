"""The prefixes that registries put before a payload: recognised, and left out.

Plain bytes come first: a prefix is looked for only where the payload as it is cannot be read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final, TypeVar

from heraldry.errors import MessageError
from heraldry.model.problem import Problem

INFLATED_LIMIT: Final = 16 * 1024 * 1024
"""How many bytes a compressed payload may become."""

CONFLUENT: Final = 5
"""Magic byte 0 and the schema's id, four bytes."""

GLUE: Final = 18
"""Version byte 3, a byte for the compression, and the UUID of the schema's version."""

T = TypeVar("T")


def unframed(payload: bytes, read: Callable[[bytes], T], *, ambiguous: bool = False) -> T:
    """What ``read`` makes of a payload, or else of the part behind a registry's prefix.

    Where neither can be read, the reasons are those of the part behind the prefix; in a format
    whose own payloads may begin so (``ambiguous``), those of the payload as it is.
    """
    try:
        return read(payload)
    except MessageError as plain:
        try:
            body = _body(payload)
            if body is not None:
                return read(body)
        except MessageError:
            if not ambiguous:
                raise
        raise plain from None


def _body(payload: bytes) -> bytes | None:
    if len(payload) > CONFLUENT and payload[0] == 0:
        return payload[CONFLUENT:]
    if len(payload) >= GLUE and payload[0] == 3 and payload[1] in (0, 5):
        body = payload[GLUE:]
        return inflate(body) if payload[1] == 5 else body
    return None


def inflate(data: bytes) -> bytes:
    """The content of a zlib stream; MessageError where it is none, or larger than allowed."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(data, INFLATED_LIMIT)
    except zlib.error:
        raise _refused("compression", "is not a zlib stream") from None
    if reader.unconsumed_tail:
        told = f"becomes more than {INFLATED_LIMIT} bytes when inflated"
        raise _refused("size", told)
    if not reader.eof:
        raise _refused("compression", "ends before the zlib stream does")
    return content


def _refused(rule: str, message: str) -> MessageError:
    return MessageError((Problem(path="/", rule=rule, message=message),))
