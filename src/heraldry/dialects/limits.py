"""Limits of what a document may be: nothing from a document is trusted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large, deep and populous a document may be; a document beyond is refused.

    ``expanded`` bounds the values of a YAML document after its aliases are replaced.
    """

    size: int = 64 * 1024 * 1024
    depth: int = 100
    entities: int = 1_000_000
    expanded: int = 5_000_000


DEFAULT = Limits()
"""The limits that hold where nobody set others."""
