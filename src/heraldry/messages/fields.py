"""What a protocol's metadata may hold: one row per property of the specification's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass

from heraldry.model.formats import fold


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a protocol (M54..M63) under the name ``protocoloptions`` uses.

    ``separator`` keeps a placeholder inside its segment; a ``collection`` holds named values as
    pairs, whose names compare without case where ``fold_case``; ``versions`` lists the versions
    of the protocol that have the property (empty: all). The names and types of a collection may
    be fixed: ``members``. Values of a ``typed`` collection keep their types on the wire, others
    travel as texts. ``values`` bounds an integer.
    """

    name: str
    type: str
    _: KW_ONLY
    separator: str | None = None
    collection: bool = False
    fold_case: bool = False
    versions: tuple[str, ...] = ()
    members: Mapping[str, str] | None = None
    typed: bool = False
    values: range | None = None

    def member(self, name: str) -> str:
        """The name of a member as messages spell it (C5)."""
        if self.members is not None and name not in self.members:
            folded = fold(name)
            return next((one for one in self.members if fold(one) == folded), name)
        return name.lower() if self.fold_case else name

    def member_type(self, name: str) -> str:
        """The type of a member whose definition names none (C48)."""
        return (self.members or {}).get(name, "string")


def names(fields: Iterable[Field], version: str = "") -> frozenset[str]:
    """The names of the properties that a protocol has, in its version."""
    return frozenset(one.name for one in fields if not one.versions or version in one.versions)
