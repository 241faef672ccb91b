"""What differs between 1.0-rc2 and 1.0-rc4 on the wire, as values (seed-to-rc4 differences).

Inside, everything has rc4's names and semantics; readers and writers ask the :class:`Wire` of the
request for the names to use. There is no other switch by generation.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One generation of 1.0 as it is spoken to a client."""

    specversion: str
    ancestor: str
    """The name of the version attribute that is ``ancestorid`` inside."""
    shortself_in_documents: bool
    """Whether the document view keeps ``shortself`` (FL-20)."""
    stickyversions: bool
    """Whether capabilities have ``stickyversions`` and models ``setdefaultversionsticky``."""
    always_available: tuple[str, ...]
    """What the capability ``available`` lists whether or not a client names it (CP-02)."""
    flags_at_once: bool
    """Whether capabilities in a write of the registry steer the flags of that reply (RG-05)."""
    map_before_count: bool
    """Whether a collection that is inlined stands before its count (RG-01)."""
    reference_types: tuple[str, str]
    """The types that the model shows for ``<RESOURCE>url`` and ``xref`` (KD-19)."""

    def inside(self, name: str) -> str:
        """The canonical name of a version attribute."""
        return "ancestorid" if name == self.ancestor else name

    def outside(self, name: str) -> str:
        """The name of a version attribute as this generation has it."""
        return self.ancestor if name == "ancestorid" else name


RC2 = Wire(
    specversion="1.0-rc2",
    ancestor="ancestor",
    shortself_in_documents=True,
    stickyversions=True,
    always_available=("entities",),
    flags_at_once=False,
    map_before_count=False,
    reference_types=("uri", "xid"),
)
RC4 = Wire(
    specversion="1.0-rc4",
    ancestor="ancestorid",
    shortself_in_documents=False,
    stickyversions=False,
    always_available=("capabilities", "entities", "model"),
    flags_at_once=True,
    map_before_count=True,
    reference_types=("url", "url"),
)
WIRES = (RC2, RC4)


def normal_specversion(text: str) -> str:
    """A version as it is compared: without its case and its patch level (FL-05).

    ``1.0.5-RC4`` is ``1.0-rc4``.
    """
    number, dash, suffix = text.strip().lower().partition("-")
    return ".".join(number.split(".")[:2]) + dash + suffix
