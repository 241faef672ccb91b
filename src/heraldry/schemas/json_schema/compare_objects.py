"""Differences in the members of objects: which there may be, which there must be, and of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from heraldry.schemas.changes import Effect
from heraldry.schemas.json_schema.compare_found import Found, worst
from heraldry.schemas.json_schema.compare_reading import Node, Part
from heraldry.schemas.json_schema.compare_scalars import types
from heraldry.schemas.json_schema.compare_texts import matches
from heraldry.schemas.json_schema.compare_walk import Pair, Walk, label
from heraldry.schemas.located import short

# What else may say of a member that it is evaluated.
_IN_PLACE: Final = frozenset(
    (
        "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if",
        "dependentSchemas", "dependencies",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Members:
    """The schemas of an object's members: by name, by pattern, and of all others."""

    named: dict[str, Part]
    patterns: dict[str, Part]
    rest: Part

    def of(self, name: str) -> list[Part]:
        """The schemas that a member of this name must meet."""
        found = [self.named[name]] if name in self.named else []
        found += [part for pattern, part in self.patterns.items() if matches(pattern, name)]
        return found or [self.rest]


def evaluates_plainly(node: Node, keyword: str) -> bool:
    """Whether an ``unevaluated…`` keyword means the same as ``additional…``, or nothing."""
    if node.asked.get(keyword, True) in (True, {}):
        return True
    beside = "additionalProperties" if keyword == "unevaluatedProperties" else "contains"
    return not node.asked.keys() & _IN_PLACE and beside not in node.asked


def compare_members(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Properties by name, by pattern, and additional ones."""
    if "object" not in types(walk.old, pair.old) & types(walk.new, pair.new):
        return
    before, after = _members(old), _members(new)
    required = new.names("required")
    for name in dict.fromkeys((*after.named, *before.named)):
        _compare_member(walk, pair, (before, after), name, required=name in required)
    for pattern in dict.fromkeys((*after.patterns, *before.patterns)):
        _compare_pattern(walk, pair, before, after, pattern)
    _compare_rest(walk, pair, before.rest, after.rest)


def compare_required(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Members that became required or optional, alone or because of another one."""
    if "object" not in types(walk.old, pair.old) & types(walk.new, pair.new):
        return
    before, after = old.names("required"), new.names("required")
    for name in dict.fromkeys((*after, *before)):
        if (name in before) != (name in after):
            places = old.place("required"), new.place("required")
            path = pair.member(name)
            walk.add(pair, _presence(path, places, "", required=name in after))
    asks, asked = old.dependent_names(), new.dependent_names()
    for name in dict.fromkeys((*asked, *asks)):
        first, then = asks.get(name, ({}, None)), asked.get(name, ({}, None))
        for other in dict.fromkeys((*then[0], *first[0])):
            if (other in first[0]) != (other in then[0]):
                where = f" where '{pair.member(name)}' is present"
                places = first[1], then[1]
                path = pair.member(other)
                walk.add(pair, _presence(path, places, where, required=other in then[0]))


def compare_dependent(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Schemas for the names of members, and those that the presence of a member asks for."""
    if "object" not in types(walk.old, pair.old) & types(walk.new, pair.new):
        return
    names = old.part("propertyNames"), new.part("propertyNames")
    if names != (Part(True, None), Part(True, None)):
        walk.walk(pair.to(*names, pair.member("(member names)")))
    asks, asked = old.dependent_schemas(), new.dependent_schemas()
    for name in dict.fromkeys((*asked, *asks)):
        none = Part(True, None)
        walk.walk(pair.to(asks.get(name, none), asked.get(name, none)))


def _members(node: Node) -> _Members:
    rest = node.part("additionalProperties")
    if "additionalProperties" not in node.asked and evaluates_plainly(
        node, "unevaluatedProperties"
    ):
        rest = node.part("unevaluatedProperties")
    return _Members(node.named("properties"), node.named("patternProperties"), rest)


def _compare_member(
    walk: Walk,
    pair: Pair,
    members: tuple[_Members, _Members],
    name: str,
    *,
    required: bool,
) -> None:
    before, after = members
    path = pair.member(name)
    if name in before.named and name in after.named:
        walk.walk(pair.to(before.named[name], after.named[name], path))
        return
    inner = pair.to(walk.together(before.of(name)), walk.together(after.of(name)), path)
    effects = walk.effects(inner)
    if name in after.named:
        walk.add(pair, _added(inner, before, after, effects, name, required=required))
    else:
        walk.add(pair, _removed(inner, before, after, effects, name))


def _added(
    inner: Pair,
    before: _Members,
    after: _Members,
    effects: tuple[Effect, Effect],
    name: str,
    *,
    required: bool,
) -> Found:
    kind = "required" if required else "optional"
    open_before = before.of(name) == [before.rest] and before.rest.schema in (True, {})
    return Found(
        rule="field-added",
        old=before.rest.at if before.of(name) == [before.rest] else inner.old.at,
        new=after.named[name].at,
        fact=f"The {kind} property {inner.subject} was added",
        backward=effects[0],
        forward=effects[1],
        backward_why=(
            f"old messages may already carry a '{label(name)}' of any shape, because the old"
            " version allows additional properties; close the objects of the old version, or accept"
            " this if nobody sent one"
        )
        if open_before
        else f"old messages may already carry a '{label(name)}' that is refused now",
        forward_why=_closed(name, "old", "new")
        if before.rest.schema is False
        else f"the old version refuses some values that a '{label(name)}' may have now",
    )


def _removed(
    inner: Pair, before: _Members, after: _Members, effects: tuple[Effect, Effect], name: str
) -> Found:
    open_after = after.of(name) == [after.rest] and after.rest.schema in (True, {})
    return Found(
        rule="field-removed",
        old=before.named[name].at,
        new=after.rest.at if after.of(name) == [after.rest] else inner.new.at,
        fact=f"The property {inner.subject} was removed",
        backward=effects[0],
        forward=effects[1],
        backward_why=_closed(name, "new", "old")
        if after.rest.schema is False
        else f"the new version refuses some values that a '{label(name)}' could have",
        forward_why=(
            f"new messages may carry a '{label(name)}' of any shape, because the new version allows"
            " additional properties, and the old version refuses all but its own; keep the"
            " property, or accept this if nobody sends one"
        )
        if open_after
        else f"new messages may carry a '{label(name)}' that the old version refuses",
    )


def _closed(name: str, reader: str, messages: str) -> str:
    return (
        f"the {reader} version allows no additional properties, so it refuses {messages} messages"
        f" with a '{label(name)}'"
    )


def _compare_pattern(
    walk: Walk, pair: Pair, before: _Members, after: _Members, pattern: str
) -> None:
    old, new = before.patterns.get(pattern), after.patterns.get(pattern)
    path = pair.member(f"/{pattern}/")
    if old is not None and new is not None:
        walk.walk(pair.to(old, new, path))
        return
    there, lacking = (after, before) if old is None else (before, after)
    part = there.patterns[pattern]
    # A name that matches is one of the others, or matches another pattern, where this is lacking.
    against = [lacking.rest, *lacking.patterns.values()]
    pairs = [pair.to(*((one, part) if old is None else (part, one)), path) for one in against]
    effects = [walk.effects(one) for one in pairs]
    backward, forward = (_overlapping([one[way] for one in effects]) for way in (0, 1))
    word = "added to" if old is None else "removed from"
    walk.add(
        pair,
        Found(
            rule="pattern-property-added" if old is None else "pattern-property-removed",
            old=_place_of(old, lacking.rest),
            new=_place_of(new, lacking.rest),
            fact=f"A schema for members that match {short(pattern)} was {word} {pair.subject}",
            backward=backward,
            forward=forward,
            backward_why="old messages may carry such members that are refused now",
            forward_why="new messages may carry such members that the old version refuses",
        ),
    )


def _place_of(part: Part | None, other: Part) -> str | None:
    """The place of a part, or of the one that stands in for it."""
    return other.at if part is None else part.at


def _overlapping(effects: list[Effect]) -> Effect:
    """The effect on the rest is certain; patterns may or may not meet in a name."""
    others = worst(effects[1:])
    return effects[0] if effects[0] != "safe" or others == "safe" else "undecided"


def _compare_rest(walk: Walk, pair: Pair, old: Part, new: Part) -> None:
    closed = (old.schema is False, new.schema is False)
    if closed[0] == closed[1]:
        walk.walk(pair.to(old, new, pair.member("*")))
        return
    told = "no longer allows" if closed[1] else "now allows"
    at = pair.old.at, pair.new.at
    subject = f"the object {pair.subject}" if pair.path else pair.subject
    walk.add(
        pair,
        Found(
            rule="object-closed" if closed[1] else "object-opened",
            old=at[0] if old.at is None else old.at,
            new=at[1] if new.at is None else new.at,
            fact=f"{subject[0].upper()}{subject[1:]} {told} additional properties",
            backward="breaking" if closed[1] else "safe",
            forward="breaking" if closed[0] else "safe",
            backward_why="old messages that carry any are refused",
            forward_why="the old version refuses new messages that carry any",
        ),
    )


def _presence(
    path: str, places: tuple[str | None, str | None], where: str, *, required: bool
) -> Found:
    rule = "became-required" if required else "became-optional"
    return Found(
        rule=rule,
        old=places[0],
        new=places[1],
        fact=f"The property '{path}' became {rule.removeprefix('became-')}{where}",
        backward="breaking" if required else "safe",
        forward="safe" if required else "breaking",
        backward_why="messages of the old version without it are refused",
        forward_why="the old version refuses new messages without it",
    )
