"""Requirements that no test covers, each with its reason."""

from __future__ import annotations

UNCOVERED: dict[str, str] = {
    "GN-11": "a permission that is not used: all users get the same answers",
}
