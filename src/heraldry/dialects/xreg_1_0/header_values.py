"""Attribute values as HTTP header values, both ways (HB-02, HB-10, HB-11)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_to_bytes

_MUST_ENCODE = re.compile(r"[^\x21\x23\x24\x26-\x7e]")
_NOT_IN_HEADERS = re.compile(r"[^\x20-\x7e]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def encode_value(value: Any) -> str:
    """A scalar as a header value: percent-encoded where HB-10 says so."""
    if value is True or value is False:
        return "true" if value else "false"
    text = value if isinstance(value, str) else str(value)
    if _MUST_ENCODE.search(text):
        return _MUST_ENCODE.sub(_percent, text)
    return text


def plain_value(text: str) -> str:
    """A text for an ordinary header, such as Content-Type: what no header may hold is encoded."""
    if _NOT_IN_HEADERS.search(text):
        return _NOT_IN_HEADERS.sub(_percent, text)
    return text


def decode_value(text: str) -> str:
    """The attribute value of a header: quotes are undone, then one round of percent-decoding.

    ``ValueError`` with the reason where that does not give UTF-8 text (HB-11).
    """
    if '"' in text:
        text = _QUOTED.sub(lambda found: _ESCAPED.sub(r"\1", found[1]), text)
    if "%" not in text:
        return _as_utf8(text.encode("latin-1", "surrogateescape"))
    if _BAD_PERCENT.search(text):
        raise ValueError('a "%" must be followed by two hexadecimal digits')
    return _as_utf8(unquote_to_bytes(text.encode("latin-1", "surrogateescape")))


def _as_utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("the value is not UTF-8") from None


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))
