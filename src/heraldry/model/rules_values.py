"""Values of property types: which value a type allows, and what a template may look like."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

TEXTUAL = frozenset(("string", "symbol", "uri", "urireference", "uritemplate"))
"""Types whose values are texts of some form; one may stand for the other in a table."""

ALIASES = {"var": "any", "datetime": "timestamp", "stringified integer": "integer"}
"""Names of types in older texts and in prose (C18, C19)."""

_LONGEST = 1000
"""No honest number or media type is longer, and longer ones would cost time."""

_NOW = ("0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SYMBOL = re.compile(r"[A-Za-z0-9_]+")
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:(\d\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
)
_DURATION = re.compile(
    r"P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)", re.IGNORECASE
)
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=\u00a0-\U0010ffff]|%[0-9A-Fa-f]{2})*"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_USER, _QUERY = re.compile(r"//[^/?#]*@"), re.compile(r"\?[^#]+")
_MEDIA_TYPE = re.compile(
    r"\s*[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+\s*"
    r"(;\s*([\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|\"(?:[^\"\\]|\\.)*\"))?\s*)*",
    re.ASCII,
)


def template_fault(text: str) -> str | None:
    """What is wrong with a level 1 template: braces or names that are no symbols (M38)."""
    for name in _PLACEHOLDER.findall(text):
        if not name:
            return "a placeholder has no name"
        if not _SYMBOL.fullmatch(name):
            return f"the placeholder {{{name}}} is not a symbol"
    if "{" in (rest := _PLACEHOLDER.sub("", text)) or "}" in rest:
        return "a brace has no partner"
    return None


def has_placeholders(value: Any) -> bool:
    """Whether a value is a text with well-formed placeholders."""
    return isinstance(value, str) and "{" in value and template_fault(value) is None


def is_reference(text: Any) -> bool:
    """Whether a text can be a URI reference (RFC 3986, characters beyond ASCII accepted)."""
    return isinstance(text, str) and text != "" and _REFERENCE.fullmatch(text) is not None


def is_absolute(text: Any) -> bool:
    """Whether a text is a URI with a scheme."""
    return is_reference(text) and _SCHEME.match(text) is not None


def shown(uri: object) -> str:
    """A URI as it may be told: without user, password and query, which may hold a secret."""
    return _QUERY.sub("?...", _USER.sub("//", str(uri)))


def is_media_type(text: Any) -> bool:
    """Whether a text has the form of RFC 2046: type, subtype and parameters (M32)."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    return _MEDIA_TYPE.fullmatch(text) is not None


def media_type(text: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """A media type for comparison: names in lower case, parameters in any order (M31)."""
    name, *parameters = text.split(";")
    pairs = (p.strip().partition("=") for p in parameters if p.strip())
    return name.strip().lower(), frozenset((n.lower(), v.strip('"')) for n, _, v in pairs)


def _is_binary(value: Any) -> bool:
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or value in ("true", "false")


def _is_integer(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST and _INTEGER.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def whole_number(value: Any) -> int | None:
    """The whole number of a value or of its text; None where it is none."""
    return int(value) if _is_integer(value) else None


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_timestamp(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if value in _NOW:
        return True
    if (found := _TIMESTAMP.fullmatch(value)) is None:
        return False
    # A leap second is legal but no datetime of Python's.
    plain = value[:17] + "59" + value[19:] if found[1] == "60" else value
    try:
        datetime.fromisoformat(plain.upper())
    except ValueError:
        return False
    return True


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "any": (lambda _: True, "any value"),
    "binary": (_is_binary, "base64 text"),
    "boolean": (_is_boolean, "true or false"),
    "duration": (
        lambda v: isinstance(v, str) and _DURATION.fullmatch(v) is not None,
        "a duration such as PT15M",
    ),
    "integer": (_is_integer, "a whole number"),
    "number": (_is_number, "a number"),
    "string": (lambda v: isinstance(v, str), "a text"),
    "symbol": (
        lambda v: isinstance(v, str) and _SYMBOL.fullmatch(v) is not None,
        "letters, digits and underscores only",
    ),
    "timestamp": (_is_timestamp, "a timestamp such as 2024-01-31T12:00:00Z"),
    "uri": (is_absolute, "a URI with a scheme, such as https://example.com/x"),
    "urireference": (is_reference, "a URI reference"),
    "uritemplate": (lambda v: isinstance(v, str), "a text with {placeholders}"),
    "ulong": (
        lambda v: _is_integer(v) and 0 <= int(v) < 2**64,
        "a whole number of at most 64 bits, not negative",
    ),
    "uuid": (lambda v: isinstance(v, str) and _UUID.fullmatch(v) is not None, "a UUID"),
}


def value_fault(type_name: str, value: Any) -> str | None:
    """What a value of a type has to be, where the value is not that (M36)."""
    known = _CHECKS.get(ALIASES.get(type_name, type_name))
    if known is None or known[0](value):
        return None
    return known[1]
