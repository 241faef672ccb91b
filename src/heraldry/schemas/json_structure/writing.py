"""Native values as JSON writes them: closures for the shapes where the two differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from heraldry.model.problem import Problem
from heraldry.schemas.json_structure.reading import Place, Readers, Run, attempt, path_of
from heraldry.schemas.json_structure.scalars import writer
from heraldry.schemas.json_structure.shapes import (
    Choice,
    Plain,
    Record,
    Ref,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
    Union,
    inner,
)
from heraldry.schemas.located import short

Write = Callable[[Any, Run], Any]
"""Takes a native value and the run it belongs to; what it does not know it leaves alone."""


class Writers:
    """Makes the closures of one structure; None stands for "as it is"."""

    def __init__(self, structure: Structure, readers: Readers) -> None:
        self._readers = readers
        self._differing = _differing(structure)
        self._types: dict[str, Write] = {}
        for place in self._differing:
            made = self._make(structure.types[place])
            if made is not None:
                self._types[place] = made
        self.root = self._make(structure.root)

    def _make(self, shape: Shape) -> Write | None:
        match shape:
            case Plain():
                write = writer(shape.kind, shape.encoding)
                return None if write is None else lambda value, run: write(value)
            case Ref(target=target):
                types = self._types
                if target not in self._differing:
                    return None
                # What differs may be in a limit only, where nothing is written.
                return lambda value, run: types[target](value, run) if target in types else value
            case Union():
                return self._union(shape)
            case Record(members=members, rest=rest):
                other = self._make(rest) if isinstance(rest, Shape) else None
                return _object(self._all(members), other, members)
            case Sequence(item=item):
                return _array(self._make(item))
            case Table(value=value):
                return _object({}, self._make(value), {})
            case Row(members=members):
                return _row([self._make(part) for part in members.values()])
            case Choice(members=members, selector=selector):
                made = self._all(members)
                return _object(made, None, made) if selector is None else _inline(made, selector)
            case _:
                return None

    def _all(self, members: Mapping[str, Shape]) -> dict[str, Write]:
        made = {name: self._make(part) for name, part in members.items()}
        return {name: write for name, write in made.items() if write is not None}

    def _union(self, shape: Union) -> Write | None:
        made = [(self._make(part), self._readers.of(part)) for part in shape.parts]
        if all(write is None for write, _ in made):
            return None

        whole = self._readers.of(replace(shape, limits={}, composition=None))

        def union(value: Any, run: Run) -> Any:
            fitting: list[Any] = []
            for write, read in made:
                written = value if write is None else write(value, run)
                if not attempt(read, written, (), run)[1]:
                    native = attempt(whole, written, (), run)[0]
                    if type(native) is type(value) and native == value:
                        return written
                    fitting.append(written)
            # What JSON spells is not the value that it is read as.
            return fitting[0] if fitting else value

        return union


def _differing(structure: Structure) -> set[str]:
    """The places of the types some values of which JSON writes differently."""
    leads: dict[str, set[str]] = {}
    found: set[str] = set()
    for place, shape in structure.types.items():
        targets = leads[place] = set()
        waiting = [shape]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Plain) and writer(one.kind) is not None:
                found.add(place)
            elif isinstance(one, Ref):
                targets.add(one.target)
            waiting.extend(inner(one))
            if isinstance(one, Union):
                waiting.extend(one.parts)
            if isinstance(one, Choice) and one.selector is not None:
                waiting.extend(one.members.values())
    users: dict[str, set[str]] = {}
    for place, targets in leads.items():
        for target in targets:
            users.setdefault(target, set()).add(place)
    fresh = list(found)
    while fresh:
        more = users.get(fresh.pop(), set()) - found
        found |= more
        fresh.extend(more)
    return found


def _object(
    made: Mapping[str, Write], rest: Write | None, declared: Container[str]
) -> Write | None:
    if not made and rest is None:
        return None
    find = made.get

    def write(value: Any, run: Run) -> Any:
        if type(value) is not dict:
            return value
        written = dict(value)
        for name, part in value.items():
            one = find(name) if name in declared else rest
            if one is not None:
                written[name] = one(part, run)
        return written

    return write


def _array(item: Write | None) -> Write | None:
    if item is None:
        return None
    return lambda value, run: [item(part, run) for part in value] if type(value) is list else value


def _row(items: list[Write | None]) -> Write | None:
    if all(item is None for item in items):
        return None

    def write(value: Any, run: Run) -> Any:
        if type(value) is not list or len(value) != len(items):
            return value
        return [
            part if item is None else item(part, run)
            for item, part in zip(items, value, strict=True)
        ]

    return write


def _inline(members: Mapping[str, Write], selector: str) -> Write | None:
    if not members:
        return None

    def write(value: Any, run: Run) -> Any:
        name = value.get(selector) if type(value) is dict else None
        if type(name) is not str or name not in members:
            return value
        return members[name](value, run)

    return write


def not_json(value: Any) -> Problem | None:
    """The first part of a value that JSON cannot write."""
    waiting: list[tuple[Any, Place]] = [(value, ())]
    while waiting:
        one, at = waiting.pop()
        kind = type(one)
        if kind is dict:
            if all(type(name) is str for name in one):
                waiting.extend((part, (at, name)) for name, part in one.items())
                continue
        elif kind is list:
            waiting.extend((part, (at, number)) for number, part in enumerate(one))
            continue
        elif kind in (str, bool, type(None), int) or (kind is float and math.isfinite(one)):
            continue
        told = "is not a value of JSON"
        return Problem(path=path_of(at), rule="json", message=told, found=short(one))
    return None
