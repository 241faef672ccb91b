"""What a protocol's metadata may hold: one row per property of the specification's tables."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a protocol (M54, M60, M62) under the name ``protocoloptions`` uses.

    ``separator`` keeps a placeholder inside its segment; a ``collection`` holds named values as
    pairs, whose names compare without case where ``fold_case``; ``versions`` lists the versions
    of the protocol that have the property (empty: all).
    """

    name: str
    type: str
    _: KW_ONLY
    separator: str | None = None
    collection: bool = False
    fold_case: bool = False
    versions: tuple[str, ...] = ()
