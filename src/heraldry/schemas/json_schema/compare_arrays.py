"""Differences in the items of arrays: by position, all others, and those that must be contained."""

from __future__ import annotations

from heraldry.schemas.json_schema.compare_found import Found
from heraldry.schemas.json_schema.compare_objects import evaluates_plainly
from heraldry.schemas.json_schema.compare_reading import Node, Part
from heraldry.schemas.json_schema.compare_scalars import types
from heraldry.schemas.json_schema.compare_walk import Pair, Walk


def compare_items(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """The first items one by one, and the schema of all others."""
    if "array" not in types(walk.old, pair.old) & types(walk.new, pair.new):
        return
    (first, rest), (firsts, others) = _items(old), _items(new)
    for at in range(max(len(first), len(firsts))):
        path = f"{pair.path}[{at}]"
        before = first[at] if at < len(first) else rest
        after = firsts[at] if at < len(firsts) else others
        inner = pair.to(before, after, path)
        if at < min(len(first), len(firsts)):
            walk.walk(inner)
        else:
            _moved(walk, pair, inner, added=at >= len(first))
    walk.walk(pair.to(rest, others, f"{pair.path}[]"))
    _unique(walk, pair, old, new)
    _contained(walk, pair, old, new)


def _items(node: Node) -> tuple[list[Part], Part]:
    first, rest = node.items()
    plain = evaluates_plainly(node, "unevaluatedItems")
    if rest.at is None and plain and "unevaluatedItems" in node.asked:
        return first, node.part("unevaluatedItems")
    return first, rest


def _moved(walk: Walk, pair: Pair, inner: Pair, *, added: bool) -> None:
    backward, forward = walk.effects(inner)
    word = "was added" if added else "was removed"
    walk.add(
        pair,
        Found(
            rule="item-added" if added else "item-removed",
            old=inner.old.at,
            new=inner.new.at,
            fact=f"A schema for the item {inner.subject} {word}",
            backward=backward,
            forward=forward,
            backward_why="old messages may have an item there that is refused now",
            forward_why="new messages may have an item there that the old version refuses",
        ),
    )


def _unique(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    before, after = (bool(node.asked.get("uniqueItems")) for node in (old, new))
    if before == after:
        return
    word = "must now" if after else "need no longer"
    walk.add(
        pair,
        Found(
            rule="unique-items-added" if after else "unique-items-removed",
            old=old.place("uniqueItems"),
            new=new.place("uniqueItems"),
            fact=f"The items of {pair.subject} {word} be unique",
            backward="breaking" if after else "safe",
            forward="breaking" if before else "safe",
            backward_why="old messages with equal items are refused",
            forward_why="the old version refuses new messages with equal items",
        ),
    )


def _contained(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    limits = [_limits(node) for node in (old, new)]
    if "contains" not in old.asked and "contains" not in new.asked:
        return
    if "contains" in old.asked and "contains" in new.asked:
        inner = pair.to(old.part("contains"), new.part("contains"), f"{pair.path}[?]")
        if any(most is not None or least == 0 for least, most in limits):
            # With an upper limit, accepting more items refuses more arrays.
            inner = pair.to(inner.old, inner.new, inner.path)
            _fragile(walk, inner)
        else:
            walk.walk(inner)
    elif limits[0] != limits[1]:
        added = "contains" in new.asked
        walk.add(pair, _counted(pair, (old, new), "contains", narrowed=added, widened=not added))
        return
    (least, most), (least_now, most_now) = limits
    unlimited = float("inf")
    before, after = (unlimited if v is None else v for v in (most, most_now))
    narrowed, widened = least_now > least or after < before, least_now < least or after > before
    if narrowed or widened:
        key = "minContains" if least != least_now else "maxContains"
        walk.add(pair, _counted(pair, (old, new), key, narrowed=narrowed, widened=widened))


def _fragile(walk: Walk, inner: Pair) -> None:
    context = inner.context.frail("backward", "forward")
    walk.walk(Pair(old=inner.old, new=inner.new, path=inner.path, context=context))


def _limits(node: Node) -> tuple[float, float | None]:
    """How many items must and may match ``contains``: the least, and the most if limited."""
    if "contains" not in node.asked:
        return 0, None
    return node.asked.get("minContains", 1), node.asked.get("maxContains")


def _counted(
    pair: Pair, nodes: tuple[Node, Node], key: str, *, narrowed: bool, widened: bool
) -> Found:
    return Found(
        rule="contains-changed",
        old=nodes[0].place(key),
        new=nodes[1].place(key),
        fact=f"How many items of {pair.subject} must match 'contains' changed",
        backward="breaking" if narrowed else "safe",
        forward="breaking" if widened else "safe",
        backward_why="old messages with another number of such items are refused",
        forward_why="the old version refuses new messages with another number of such items",
    )
