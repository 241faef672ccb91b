"""The names of request flags in a query, and older spellings of them (FL-01, FL-40, FL-44)."""

from __future__ import annotations

from typing import Final

BOOLEAN: Final = ("binary", "collections", "doc")
SINGLE: Final = ("epoch", "limit", "setdefaultversionid", "sort", "specversion")
LISTS: Final = ("filter", "ignore", "inline")

IGNORED_BY_NAME: Final = {
    f"{prefix}{what}": what
    for prefix in ("no", "ignore")
    for what in ("epoch", "defaultversionid", "defaultversionsticky", "readonly")
}
"""Older flags of their own for what is a value of ``ignore`` now: ``noepoch``, ``ignoreepoch``."""

CONFIRM: Final = "confirm"
"""Our parameter that says a second time what could not be taken back."""

CURSOR: Final = "after"
"""Our parameter in the address of a next page; opaque to clients (PG-03)."""
