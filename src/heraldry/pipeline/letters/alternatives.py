"""What letters there are, for those who asked for letters that there are none of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heraldry.errors import UnknownDefinitionError
from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.letters.deadletters import groups, letter_batches


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """How many letters there are, and what they have in some columns, the most frequent first."""

    letters: int
    values: Mapping[str, tuple[str, ...]]


def alternatives(warehouse: str, columns: Sequence[str], *, closed: bool = False) -> Alternatives:
    """All letters, with what they have as their stage, rule or definition."""
    found: dict[str, Counter[str]] = {name: Counter() for name in columns}
    letters = 0
    for group in groups(warehouse, closed=closed):
        letters += group.count
        for name, counts in found.items():
            if (value := getattr(group, name)) is not None:
                counts[value] += group.count
    values = {name: tuple(one for one, _ in found[name].most_common()) for name in columns}
    return Alternatives(letters=letters, values=values)


def definition_meant(warehouse: str, text: str) -> str:
    """The definition of letters that a bare id is the only one of; any other text as it is.

    UnknownDefinitionError where there are several, as for a catalog.
    """
    if "/" in text:
        return text
    known: set[str] = set()
    for batch in letter_batches(open_warehouse(warehouse), ["definition"], closed=True):
        known.update(batch["definition"].drop_null().unique().to_pylist())
    named = sorted(one for one in known if one.rpartition("/")[2] == text)
    if len(named) > 1:
        raise UnknownDefinitionError(text, tuple(named), "the warehouse")
    return named[0] if named else text
