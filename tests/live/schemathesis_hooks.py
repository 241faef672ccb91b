"""Loaded by schemathesis: requests meet entities that exist, not only ones nobody has heard of."""

from __future__ import annotations

import re
from typing import Any

import schemathesis

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.~:@-]{0,127}")
_KNOWN = {"versionid": ("1", "v1", "v2")}
_USUAL = ("one", "two")
_CONDITIONS = ("If-Match", "If-None-Match")


@schemathesis.hook
def map_path_parameters(_context: Any, path_parameters: dict[str, Any] | None) -> Any:
    """Most of the ids that are well-formed become one of a few; what is malformed stays."""
    return path_parameters and {
        name: _mapped(name, value) for name, value in path_parameters.items()
    }


@schemathesis.hook
def map_headers(_context: Any, headers: dict[str, Any] | None) -> Any:
    """Most conditions are left out, as what fails by them goes no further."""
    if not headers:
        return headers
    return {
        name: value
        for name, value in headers.items()
        if name not in _CONDITIONS or sum(str(value).encode()) % 4 == 0
    }


def _mapped(name: str, value: Any) -> Any:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        return value
    few = (*_KNOWN.get(name, _USUAL), value)
    return few[sum(value.encode()) % len(few)]
