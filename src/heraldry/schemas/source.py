"""What a payload schema is compiled from: its text, the part meant, and what it refers to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A document of the catalog that another one names; ``name`` is the text it is named by."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One schema to compile; hashable and picklable, so that equal sources compile once.

    ``format`` is the catalog's own spelling, ``version`` its normal form (``draft-07``, ``1.11``;
    empty where none is given), ``link`` the deep link into the document (C43), ``name`` the id of
    the schema in the catalog (empty for an inline one), and ``references`` all the documents
    that this one needs, directly or through others.
    """

    format: str
    version: str
    content: bytes
    link: str = ""
    name: str = ""
    references: tuple[Reference, ...] = ()
