"""What changed between two versions of a JSON Schema, and whom that breaks.

A version is compatible with another where every value that the one accepts is accepted by the
other. Three things are asked: the keywords side by side explain every change; where the sets of
values can be decided, that decision counts; and no direction counts as safe for which a message
was found that is refused.
"""

from __future__ import annotations

from typing import Any, Final

from heraldry.schemas.changes import Change
from heraldry.schemas.json_schema.compare_alternatives import (
    compare_all,
    compare_alternatives,
    compare_conditions,
    compare_entangled,
    compare_negations,
    is_entangled,
)
from heraldry.schemas.json_schema.compare_arrays import compare_items
from heraldry.schemas.json_schema.compare_examples import counter_example
from heraldry.schemas.json_schema.compare_found import Direction, Found, merged
from heraldry.schemas.json_schema.compare_objects import (
    compare_dependent,
    compare_members,
    compare_required,
)
from heraldry.schemas.json_schema.compare_reading import Version, bare
from heraldry.schemas.json_schema.compare_scalars import (
    compare_defaults,
    compare_limits,
    compare_types,
    compare_values,
)
from heraldry.schemas.json_schema.compare_texts import compare_texts
from heraldry.schemas.json_schema.compare_walk import Pair, Walk
from heraldry.schemas.json_schema.containment import covers
from heraldry.schemas.json_schema.document import nodes, types_of
from heraldry.schemas.json_schema.sample import NOTHING
from heraldry.schemas.json_schema.schema import JsonSchema
from heraldry.schemas.located import short

_UNITS: Final = (
    compare_types,
    compare_values,
    compare_limits,
    compare_texts,
    compare_members,
    compare_required,
    compare_dependent,
    compare_items,
    compare_all,
    compare_alternatives,
    compare_negations,
    compare_conditions,
    compare_entangled,
    compare_defaults,
)


def changes(old: JsonSchema, new: JsonSchema) -> tuple[Change, ...]:
    """Every difference that matters to messages, with its effect on readers of either version."""
    if _same(old, new):
        return ()
    before, after = Version(old), Version(new)
    found = merged([*_drafts(before, after), *_side_by_side(before, after)])
    directions: tuple[Direction, Direction] = ("backward", "forward")
    for direction in directions:
        found = _judged(found, before, after, direction)
    return tuple(one.change() for one in found)


def _same(old: JsonSchema, new: JsonSchema) -> bool:
    if old.source.references != new.source.references or old.draft != new.draft:
        return False
    return repr((bare(old.schema), bare(old.root))) == repr((bare(new.schema), bare(new.root)))


def _side_by_side(old: Version, new: Version) -> list[Found]:
    walk = Walk(old, new, _UNITS, is_entangled)
    try:
        walk.walk(Pair(old=old.root, new=new.root))
    except RecursionError:
        return [_undecided("too-large", "The versions are too deep to be compared")]
    if old.is_mixed or new.is_mixed:
        fact = "A version is written in several drafts at once"
        return [*walk.found, _undecided("draft-mixed", fact)]
    return walk.found


def _undecided(rule: str, fact: str) -> Found:
    return Found(
        rule=rule,
        old="",
        new="",
        fact=fact,
        backward="undecided",
        forward="undecided",
        backward_why="the new version refuses old messages",
        forward_why="the old version refuses new messages",
    )


def _drafts(old: Version, new: Version) -> list[Found]:
    if old.draft == new.draft:
        return []
    # Draft 4 alone says that 1.0 is no integer.
    strict = [version.draft == 4 and _has_integers(version) for version in (old, new)]
    told = f"The draft changed from {_draft(old)} to {_draft(new)}"
    return [
        Found(
            rule="draft-changed",
            old=_place(old),
            new=_place(new),
            fact=told,
            backward="breaking" if strict[1] else "safe",
            forward="breaking" if strict[0] else "safe",
            backward_why="old messages with an integer written as 1.0 are refused",
            forward_why="the old version refuses new messages with an integer written as 1.0",
        )
    ]


def _has_integers(version: Version) -> bool:
    return any("integer" in (types_of(node) or ()) for node in nodes(version.schema.root))


def _draft(version: Version) -> str:
    return {2019: "2019-09", 2020: "2020-12"}.get(version.draft, str(version.draft))


def _place(version: Version) -> str:
    root = version.schema.root
    return "/$schema" if isinstance(root, dict) and "$schema" in root else ""


def _judged(
    found: list[Found], before: Version, after: Version, direction: Direction
) -> list[Found]:
    """The changes with the effects in one direction that the sets of values, and examples, show."""
    writer, reader = (before, after) if direction == "backward" else (after, before)
    answer = covers(reader.document, reader.root.schema, writer.document, writer.root.schema)
    if writer.is_mixed or reader.is_mixed:
        answer = "unknown"
    effects = [getattr(one, direction) for one in found]
    if "breaking" in effects and answer == "no":
        return found
    example = counter_example(writer, reader)
    if example is not NOTHING:
        answer = "no"
    if answer == "yes":
        return [one.with_effect(direction, "safe") for one in found]
    if answer == "unknown" or "breaking" in effects:
        return found
    if effects.count("undecided") == 1:
        at = effects.index("undecided")
        return [*found[:at], found[at].with_effect(direction, "breaking"), *found[at + 1 :]]
    return [*found, _refused(direction, example)]


def _refused(direction: Direction, example: Any) -> Found:
    shown = "" if example is NOTHING else f", such as {short(example)}"
    if direction == "backward":
        fact = f"The new version refuses some messages of the old one{shown}"
    else:
        fact = f"The old version refuses some messages of the new one{shown}"
    found = Found(rule="values-refused", old="", new="", fact=fact)
    return found.with_effect(direction, "breaking")
