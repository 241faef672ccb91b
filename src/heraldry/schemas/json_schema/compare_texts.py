"""Differences in what texts must be: patterns, formats and encodings."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any, Final

import jsonschema_rs

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.changes import Effect
from heraldry.schemas.json_schema.compare_found import Found
from heraldry.schemas.json_schema.compare_reading import ANNOTATIONS, ASSERTED_FORMATS, Node
from heraldry.schemas.json_schema.compare_scalars import kebab, types
from heraldry.schemas.json_schema.compare_walk import Pair, Walk
from heraldry.schemas.sample_pattern import matching_text

# Formats that give a column a type of its own.
_TYPED: Final = frozenset(("date", "date-time"))
_TRIES: Final = 10


def compare_texts(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Patterns, formats and encodings of texts."""
    if "string" not in types(walk.old, pair.old) & types(walk.new, pair.new):
        return
    for key in ("pattern", "format", "contentEncoding", "contentMediaType"):
        checked = [key == "pattern" or node.draft <= ASSERTED_FORMATS for node in (old, new)]
        before, after = old.asked.get(key), new.asked.get(key)
        if before == after and checked[0] == checked[1]:
            continue
        if before == after is None:
            continue
        backward: Effect = _text_effect(key, old, new) if checked[1] else "safe"
        forward: Effect = _text_effect(key, new, old) if checked[0] else "safe"
        if before == after:
            backward, forward = ("breaking" if yes else "safe" for yes in _new_check(checked))
        walk.add(pair, _text_found(pair, key, (old, new), (backward, forward)))


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> jsonschema_rs.Validator | None:
    try:
        options = jsonschema_rs.RegexOptions()
        return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=options)
    except ValueError:
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern, in linear time."""
    compiled = _pattern(pattern)
    return compiled is not None and compiled.is_valid(text)


def _text_effect(key: str, writer: Node, reader: Node) -> Effect:
    """What it means for the texts of one version that the other asks for something else."""
    before, after = writer.asked.get(key), reader.asked.get(key)
    if after is None or before == after:
        return "safe"
    if before is None:
        return "breaking"
    plain = writer.asked.keys() <= ANNOTATIONS | {"type", "pattern"}
    return "breaking" if key == "pattern" and plain and _differ(before, after) else "undecided"


def _differ(pattern: Any, other: Any) -> bool:
    """Whether some text matches a pattern and not another."""
    try:
        made = [matching_text(pattern, Random(seed)) for seed in range(_TRIES)]
    except UnsupportedPatternError:
        return False
    return any(matches(pattern, text) and not matches(other, text) for text in made)


def _new_check(checked: list[bool]) -> tuple[bool, bool]:
    """The same format in two drafts: which directions have a check that the messages had not."""
    return checked[1] and not checked[0], checked[0] and not checked[1]


def _text_found(
    pair: Pair, key: str, nodes: tuple[Node, Node], effects: tuple[Effect, Effect]
) -> Found:
    old, new = nodes
    before, after = old.asked.get(key), new.asked.get(key)
    words = {(True, False): "added", (False, True): "removed"}
    word = words.get((before is None, after is None), "changed")
    fact = f"The {key} of {pair.subject} was {word}"
    if before == after:
        fact = f"The {key} of {pair.subject} is checked in one of the drafts only"
    if key == "format" and {before, after} & _TYPED and before != after:
        fact += ", so that the type of its column changes"
    return Found(
        rule=f"{kebab(key)}-{'changed' if key == 'format' else word}",
        old=old.place(key),
        new=new.place(key),
        fact=fact,
        backward=effects[0],
        forward=effects[1],
        backward_why="old messages with a text there that does not match are refused",
        forward_why="the old version refuses new messages with a text there that does not match",
    )
