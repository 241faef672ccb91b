"""Differences in combined schemas: alternatives, conjunctions, negations, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heraldry.schemas.changes import Effect
from heraldry.schemas.json_schema.compare_found import Found
from heraldry.schemas.json_schema.compare_objects import evaluates_plainly
from heraldry.schemas.json_schema.compare_reading import Node, Part, Version
from heraldry.schemas.json_schema.compare_scalars import types
from heraldry.schemas.json_schema.compare_walk import Pair, Walk
from heraldry.schemas.json_schema.containment import disjoint

_Matched = list[tuple[Part | None, Part | None]]
_NONE = Part(True, None)


def compare_alternatives(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """``anyOf`` and ``oneOf``, also where one became the other."""
    kinds = [[key for key in ("anyOf", "oneOf") if key in node.asked] for node in (old, new)]
    if all(len(kind) == 1 for kind in kinds):
        _compare_branches(walk, pair, (old, kinds[0][0]), (new, kinds[1][0]))
        return
    for key in ("anyOf", "oneOf"):
        if key in old.asked and key in new.asked:
            _compare_branches(walk, pair, (old, key), (new, key))
        elif key in old.asked or key in new.asked:
            added = key in new.asked
            walk.add(pair, _limited(pair, old, new, key, added=added))


def compare_all(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """``allOf``, and the reference beside other keywords, which is one more part of it."""
    before, after = _all_of(old), _all_of(new)
    for one, other in _matched(walk, before, after):
        if one is not None and other is not None:
            walk.walk(pair.to(one, other))
        else:
            there = one or other or _NONE
            if not _asks(walk.old if one else walk.new, there):
                continue
            backward: Effect = "breaking" if one is None else "safe"
            forward: Effect = "safe" if one is None else "breaking"
            word = "added to" if one is None else "removed from"
            walk.add(
                pair,
                Found(
                    rule="condition-added" if one is None else "condition-removed",
                    old=one.at if one else old.place("allOf"),
                    new=other.at if other else new.place("allOf"),
                    fact=f"A further condition was {word} {pair.subject} ('allOf')",
                    backward=backward,
                    forward=forward,
                    backward_why="old messages that do not meet it are refused",
                    forward_why="the old version refuses new messages that do not meet it",
                ),
            )


def compare_negations(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """``not``: what it refuses more is accepted less."""
    if "not" in old.asked and "not" in new.asked:
        inner = pair.to(old.part("not"), new.part("not"))
        walk.walk(replace(inner, context=pair.context.flip()))
    elif "not" in old.asked or "not" in new.asked:
        added = "not" in new.asked
        walk.add(
            pair,
            Found(
                rule="negation-added" if added else "negation-removed",
                old=old.place("not"),
                new=new.place("not"),
                fact=f"Something that {pair.subject} must not be was {_added(added)} ('not')",
                backward="breaking" if added else "safe",
                forward="safe" if added else "breaking",
                backward_why="old messages that are such are refused",
                forward_why="the old version refuses new messages that are such",
            ),
        )


def compare_conditions(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """``if``, ``then`` and ``else``."""
    asks = [node for node in (old, new) if "if" in node.asked and _conditional(node)]
    if not asks:
        return
    one, other = old.part("if"), new.part("if")
    if len(asks) == 2 and walk.effects(pair.to(one, other)) == ("safe", "safe"):
        for key in ("then", "else"):
            walk.walk(pair.to(old.part(key), new.part(key)))
        return
    effects: tuple[Effect, Effect] = ("undecided", "undecided")
    if len(asks) == 1:
        effects = ("breaking", "safe") if asks[0] is new else ("safe", "breaking")
    walk.add(
        pair,
        Found(
            rule="condition-changed",
            old=old.place("if"),
            new=new.place("if"),
            fact=f"The condition on {pair.subject} ('if') changed",
            backward=effects[0],
            forward=effects[1],
            backward_why="old messages that do not meet the new one are refused",
            forward_why="the old version refuses new messages that do not meet the old one",
        ),
    )


def compare_entangled(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """``unevaluated…`` keywords that depend on all else that applies, and dynamic references."""
    if not (is_entangled(old) or is_entangled(new)):
        return
    # Even a keyword that accepts everything may evaluate a member, so that only equal will do.
    texts = repr(pair.old.schema), repr(pair.new.schema)
    if texts[0] == texts[1] and "Ref'" not in texts[0] and "'$ref'" not in texts[0]:
        return
    walk.add(
        pair,
        Found(
            rule="unevaluated-changed",
            old=pair.old.at,
            new=pair.new.at,
            fact=f"The schema of {pair.subject} changed where its parts work together",
            backward="undecided",
            forward="undecided",
            backward_why="old messages with further members or items are refused",
            forward_why="the old version refuses new messages with further members or items",
        ),
    )


def is_entangled(node: Node) -> bool:
    """Whether what a node accepts depends on more than each of its keywords alone."""
    if "$dynamicRef" in node.asked or "$recursiveRef" in node.asked:
        return True
    keys = ("unevaluatedProperties", "unevaluatedItems")
    return not all(evaluates_plainly(node, key) for key in keys)


def _compare_branches(
    walk: Walk, pair: Pair, before: tuple[Node, str], after: tuple[Node, str]
) -> None:
    (old, old_key), (new, new_key) = before, after
    old_parts, new_parts = old.parts(old_key), new.parts(new_key)
    matched = _matched(walk, old_parts, new_parts)
    alone = [
        key == "anyOf" or disjoint(version.document, [part.schema for part in parts])
        for version, key, parts in (
            (walk.old, old_key, old_parts),
            (walk.new, new_key, new_parts),
        )
    ]
    frail = pair.context.frail(*_frail(alone, flipped=pair.context.flipped))
    if old_key != new_key:
        walk.add(pair, _rekeyed(pair, before, after, alone))
    for one, other in matched:
        if one is not None and other is not None:
            walk.walk(replace(pair.to(one, other), context=frail))
        else:
            walk.add(replace(pair, context=frail), _branch(pair, before, after, one, other))


def _frail(alone: list[bool], *, flipped: bool) -> list[str]:
    """The directions in which a value might match two alternatives of the reader."""
    names = ("forward", "backward")
    told = [name for name, fine in zip(names, alone, strict=True) if not fine]
    swap = {"forward": "backward", "backward": "forward"}
    return [swap[name] for name in told] if flipped else told


def _branch(
    pair: Pair,
    before: tuple[Node, str],
    after: tuple[Node, str],
    one: Part | None,
    other: Part | None,
) -> Found:
    added = one is None
    word = "added to" if added else "removed from"
    return Found(
        rule="alternative-added" if added else "alternative-removed",
        old=one.at if one else before[0].place(before[1]),
        new=other.at if other else after[0].place(after[1]),
        fact=f"An alternative was {word} {pair.subject} ('{after[1] if added else before[1]}')",
        backward="safe" if added else "breaking",
        forward="breaking" if added else "safe",
        backward_why="old messages of that alternative are refused",
        forward_why="the old version refuses new messages of that alternative",
    )


def _rekeyed(
    pair: Pair, before: tuple[Node, str], after: tuple[Node, str], alone: list[bool]
) -> Found:
    stricter = after[1] == "oneOf"
    return Found(
        rule="alternatives-changed",
        old=before[0].place(before[1]),
        new=after[0].place(after[1]),
        fact=f"The alternatives of {pair.subject} changed from '{before[1]}' to '{after[1]}'",
        backward="undecided" if stricter and not alone[1] else "safe",
        forward="undecided" if not stricter and not alone[0] else "safe",
        backward_why="old messages that match several alternatives are refused",
        forward_why="the old version refuses new messages that match several alternatives",
    )


def _limited(pair: Pair, old: Node, new: Node, key: str, *, added: bool) -> Found:
    return Found(
        rule="alternatives-added" if added else "alternatives-removed",
        old=old.place(key),
        new=new.place(key),
        fact=f"{pair.subject.capitalize() if not pair.path else pair.subject} "
        f"{'must now' if added else 'need no longer'} match one of several alternatives ('{key}')",
        backward="breaking" if added else "safe",
        forward="safe" if added else "breaking",
        backward_why="old messages that match none are refused",
        forward_why="the old version refuses new messages that match none",
    )


def _added(added: bool) -> str:
    return "added" if added else "removed"


def _conditional(node: Node) -> bool:
    return "then" in node.asked or "else" in node.asked


def _all_of(node: Node) -> list[Part]:
    parts = node.parts("allOf")
    if "$ref" in node.asked:
        parts.append(Part({"$ref": node.asked["$ref"]}, node.place("$ref")))
    return parts


def _asks(version: Version, part: Part) -> bool:
    """Whether a part refuses anything, as far as can be seen."""
    schema = part.schema
    return not isinstance(schema, Mapping) or "$ref" in schema or not version.node(part).free


def _matched(walk: Walk, old: list[Part], new: list[Part]) -> _Matched:
    """Parts of both versions that belong together: equal, of one name, of one type, in order."""
    left, right = list(old), list(new)
    found: _Matched = []
    for sign in (_text, _label, lambda version, part: types(version, part)):
        waiting: dict[Any, list[Part]] = {}
        for part in right:
            waiting.setdefault(sign(walk.new, part), []).append(part)
        pairs = [(one, waiting.get(sign(walk.old, one))) for one in left]
        for one, others in pairs:
            if others and sign(walk.old, one) is not None:
                found.append((one, others.pop(0)))
        taken = {id(part) for pair in found for part in pair}
        left = [part for part in left if id(part) not in taken]
        right = [part for part in right if id(part) not in taken]
    if len(left) == len(right):
        return [*found, *zip(left, right, strict=True)]
    return [*found, *((None, part) for part in right), *((part, None) for part in left)]


def _text(_version: Version, part: Part) -> Any:
    return repr(part.schema)


def _label(_version: Version, part: Part) -> Any:
    """A name that authors give an alternative: a title, a reference, or a constant in it."""
    schema = part.schema
    if not isinstance(schema, Mapping):
        return None
    members = schema.get("properties")
    members = members if isinstance(members, Mapping) else {}
    constants = [
        (name, repr(member["const"]))
        for name, member in members.items()
        if isinstance(member, Mapping) and "const" in member
    ]
    named = schema.get("$ref", schema.get("title"))
    return repr(named) if named is not None else (tuple(constants) or None)
