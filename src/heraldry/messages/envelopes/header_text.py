"""Attributes as texts of headers that hold printable ASCII only (HTTP, NATS): percent-encoded."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from heraldry.errors import MessageError
from heraldry.model.problem import Problem

# The bindings escape space, double quote, percent and all beyond printable ASCII.
_ESCAPED = re.compile(r"[^\x21\x23\x24\x26-\x7e]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)


BREAKS = "has a line end or a null character"
"""What is wrong with a text that :func:`breaks` finds."""


def breaks(text: str) -> bool:
    """Whether a text would end the line of its header, so that its rest would be another one."""
    return "\n" in text or "\r" in text or "\0" in text


def read(name: str, text: str) -> str:
    """The attribute behind a header: quotes off, then one round of percent-decoding."""
    if "%" not in text and '"' not in text:
        return text
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        text = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        # The bindings demand that such bytes are rejected, not replaced.
        problem = Problem(
            path=f"metadata.headers.{name}", rule="encoding", message="does not hold UTF-8"
        )
        raise MessageError((problem,)) from None


def write(text: str) -> str:
    """The header of an attribute; the inverse of :func:`read`."""
    return _ESCAPED.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), text)
