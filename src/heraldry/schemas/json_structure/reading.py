"""JSON values against shapes: one closure per shape, which gives the native value and problems.

A closure takes the value, where it is, and the run it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from heraldry.errors import MessageError
from heraldry.model.problem import Problem
from heraldry.schemas.json_structure.narrowing import Check, checks_of, unique_key
from heraldry.schemas.json_structure.scalars import Wrong, reader
from heraldry.schemas.json_structure.shapes import (
    Choice,
    Composition,
    Plain,
    Record,
    Ref,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
    Union,
)
from heraldry.schemas.located import PROBLEM_LIMIT, pointer, short

Place = tuple[Any, ...]
"""Where a value is: the place of what it is in, and its key there; empty for the payload."""

WORK_LIMIT: Final = 700_000
"""How often values may be tried on one of several types; a problem found counts as _PROBLEM."""

_PROBLEM = 5
_TOO_MUCH = Problem(
    path="/", rule="size", message="has too many values of several types to be checked"
)
_RESERVED = frozenset(("$schema", "$uses"))


@dataclass(slots=True)
class Run:
    """The problems found so far, and what is known of values that several shapes are asked about.

    The memory keeps each value it knows of, so that no other one can take its identity.
    """

    problems: list[Problem] = field(default_factory=list)
    budget: list[int] = field(default_factory=lambda: [WORK_LIMIT])
    memory: dict[tuple[int, int], tuple[Any, Any, list[Problem]]] = field(default_factory=dict)

    def add(self, at: Place, wrong: Wrong, value: Any) -> None:
        """Note one problem; those beyond the limit are not kept."""
        if len(self.problems) < PROBLEM_LIMIT:
            self.budget[0] -= _PROBLEM
            self.problems.append(
                Problem(
                    path=path_of(at),
                    rule=wrong.rule,
                    message=wrong.message,
                    expected=wrong.expected or None,
                    found=short(value),
                )
            )


Read = Callable[[Any, Place, Run], Any]


def path_of(at: Place) -> str:
    """The JSON pointer of a place."""
    steps: list[str | int] = []
    while at:
        at, key = at
        steps.append(key)
    return pointer(steps[::-1])


class Readers:
    """Makes the closures of one structure, each once."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._types: dict[str, Read] = {}
        self._made: dict[int, tuple[Shape, Read]] = {}
        for place, shape in structure.types.items():
            self._types[place] = self.of(shape)
        self.root = self.of(structure.root)

    def of(self, shape: Shape) -> Read:
        """The closure of a shape."""
        known = self._made.get(id(shape))
        if known is None:
            known = self._made[id(shape)] = shape, self._make(shape)
        return known[1]

    def _make(self, shape: Shape) -> Read:
        read = self._typed(shape)
        checks = checks_of(shape, self._accepts)
        if checks:
            read = _checked(read, checks)
        if shape.composition is not None:
            read = self._composed(read, shape.composition)
        return read

    def _accepts(self, shape: Shape) -> Callable[[Any, Run], bool]:
        read = self.of(shape)

        def accepts(value: Any, run: Run) -> bool:
            return not attempt(read, value, (), run)[1]

        return accepts

    def _typed(self, shape: Shape) -> Read:
        match shape:
            case Plain(kind=kind, encoding=encoding):
                return _plain(kind, encoding)
            case Ref(target=target):
                types = self._types
                return lambda value, at, run: types[target](value, at, run)
            case Union(parts=parts):
                return _union(tuple(map(self.of, parts)), _lone(parts))
            case Record():
                return self._record(shape)
            case Sequence():
                return _sequence(self.of(shape.item), shape.unique)
            case Table():
                return _table(self.of(shape.value))
            case Row():
                return _row([(name, self.of(part)) for name, part in shape.members.items()])
            case Choice():
                members = {name: self.of(part) for name, part in shape.members.items()}
                if shape.selector is None:
                    return _tagged(members)
                return _inline(members, shape.selector, self._foreign(shape))
            case _:
                return lambda value, at, run: value

    def _foreign(self, shape: Choice) -> frozenset[str]:
        """The choices that do not declare the selector themselves, and so must not see it."""
        settled = {name: self._structure.settled(part) for name, part in shape.members.items()}
        return frozenset(
            name
            for name, part in settled.items()
            if not (isinstance(part, Record) and shape.selector in part.members)
        )

    def _record(self, shape: Record) -> Read:
        members = {name: self.of(part) for name, part in shape.members.items()}
        rest = self.of(shape.rest) if isinstance(shape.rest, Shape) else None
        read = _record(members, tuple(sorted(shape.required)), rest, closed=shape.rest is False)
        return _either(read, shape.either) if shape.either else read

    def _composed(self, read: Read, composition: Composition) -> Read:
        every = tuple(map(self.of, composition.all_of))
        some = tuple(map(self.of, composition.any_of))
        one = tuple(map(self.of, composition.one_of))
        none = tuple(map(self.of, composition.none_of))
        condition = self.of(composition.condition) if composition.condition else None
        then = self.of(composition.then) if composition.then else None
        otherwise = self.of(composition.otherwise) if composition.otherwise else None

        def composed(value: Any, at: Place, run: Run) -> Any:
            native = read(value, at, run)
            for part in every:
                run.problems.extend(attempt(part, value, at, run)[1])
            if some and not any(not attempt(part, value, at, run)[1] for part in some):
                run.add(at, _NONE_FITS, value)
            if one:
                count = sum(not attempt(part, value, at, run)[1] for part in one)
                if count != 1:
                    run.add(at, _MANY_FIT if count else _NOT_ONE_FITS, value)
            if any(not attempt(part, value, at, run)[1] for part in none):
                run.add(at, _FORBIDDEN, value)
            if condition is not None:
                met = not attempt(condition, value, at, run)[1]
                branch = then if met else otherwise
                if branch is not None:
                    run.problems.extend(attempt(branch, value, at, run)[1])
            return native

        return composed


_NONE_FITS = Wrong("anyOf", "fits none of the allowed alternatives", "")
_NOT_ONE_FITS = Wrong("oneOf", "fits none of the allowed alternatives", "")
_MANY_FIT = Wrong("oneOf", "fits more than one of the alternatives", "")
_FORBIDDEN = Wrong("not", "is of a kind the schema forbids", "")
_NO_TYPE_FITS = Wrong("type", "is of none of the allowed types", "")


def attempt(read: Read, value: Any, at: Place, run: Run) -> tuple[Any, list[Problem]]:
    """What a closure says of a value that others are asked about too; asked once per value."""
    run.budget[0] -= 1
    if run.budget[0] < 0:
        raise MessageError((_TOO_MUCH,))
    if type(value) is not dict and type(value) is not list:
        inner = Run(memory=run.memory, budget=run.budget)
        return read(value, at, inner), inner.problems
    key = id(read), id(value)
    known = run.memory.get(key)
    if known is None:
        inner = Run(memory=run.memory, budget=run.budget)
        native = read(value, at, inner)
        known = run.memory[key] = value, native, inner.problems
    return known[1], known[2]


@lru_cache(maxsize=256)
def _plain(kind: str, encoding: str) -> Read:
    if kind == "any":
        return lambda value, at, run: value
    read = reader(kind, encoding)

    def plain(value: Any, at: Place, run: Run) -> Any:
        native = read(value)
        if type(native) is Wrong:
            run.add(at, native, value)
            return None
        return native

    return plain


def _checked(read: Read, checks: tuple[Check, ...]) -> Read:
    def checked(value: Any, at: Place, run: Run) -> Any:
        before = len(run.problems)
        native = read(value, at, run)
        # What is not even of the type is not measured.
        if len(run.problems) == before and before < PROBLEM_LIMIT:
            for check in checks:
                check(value, native, at, run)
        return native

    return checked


def _lone(parts: tuple[Shape, ...]) -> int | None:
    """The only alternative that is not null, whose own problems are worth telling."""
    others = [
        number
        for number, part in enumerate(parts)
        if not (isinstance(part, Plain) and part.kind == "null")
    ]
    return others[0] if len(others) == 1 else None


def _union(parts: tuple[Read, ...], lone: int | None) -> Read:
    def union(value: Any, at: Place, run: Run) -> Any:
        told: list[Problem] = []
        for number, part in enumerate(parts):
            native, problems = attempt(part, value, at, run)
            if not problems:
                return native
            if number == lone and value is not None:
                told = problems
        if lone is not None and value is not None:
            run.problems.extend(told)
        else:
            run.add(at, _NO_TYPE_FITS, value)
        return None

    return union


def _record(
    members: Mapping[str, Read], required: tuple[str, ...], rest: Read | None, *, closed: bool
) -> Read:
    no = Wrong("type", "is not of type object", "object")
    missing = {
        name: Wrong("required", f"misses the required property {name!r}", name) for name in required
    }
    too_many = Wrong("additionalProperties", "has a property the schema does not allow", "")
    find = members.get

    def record(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not dict:
            run.add(at, no, value)
            return None
        for name in required:
            if name not in value:
                run.add(at, missing[name], sorted(value, key=str))
        native: dict[str, Any] = {}
        for name, part in value.items():
            read = find(name, rest)
            if read is not None and (read is not rest or at or name not in _RESERVED):
                native[name] = read(part, (at, name), run)
                continue
            if closed and (at or name not in _RESERVED):
                run.add(at, too_many, [name])
            native[name] = part
        return native

    return record


def _either(read: Read, groups: tuple[tuple[frozenset[str], ...], ...]) -> Read:
    none = Wrong("required", "has none of the alternative sets of required properties", "")
    many = Wrong("required", "has more than one of the alternative sets of required properties", "")

    def either(value: Any, at: Place, run: Run) -> Any:
        if type(value) is dict:
            for group in groups:
                count = sum(names <= value.keys() for names in group)
                if count != 1:
                    run.add(at, many if count else none, sorted(value, key=str))
        return read(value, at, run)

    return either


def _sequence(item: Read, unique: bool) -> Read:
    no = Wrong("type", f"is not of type {'set' if unique else 'array'}", "array")
    equal = Wrong("uniqueItems", "has equal items", "")

    def sequence(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not list:
            run.add(at, no, value)
            return None
        native = [item(part, (at, number), run) for number, part in enumerate(value)]
        if unique and len({unique_key(part) for part in value}) < len(value):
            run.add(at, equal, value)
        return native

    return sequence


def _table(part: Read) -> Read:
    no = Wrong("type", "is not of type map", "object")

    def table(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not dict:
            run.add(at, no, value)
            return None
        return {name: part(one, (at, name), run) for name, one in value.items()}

    return table


def _row(members: list[tuple[str, Read]]) -> Read:
    count = len(members)
    no = Wrong("type", "is not of type tuple", "array")
    other = Wrong("tuple", f"does not have {count} items", str(count))
    parts = [part for _, part in members]

    def row(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not list:
            run.add(at, no, value)
            return None
        if len(value) != count:
            run.add(at, other, value)
            return None
        return [
            part(one, (at, number), run)
            for number, (part, one) in enumerate(zip(parts, value, strict=True))
        ]

    return row


def _tagged(members: Mapping[str, Read]) -> Read:
    no = Wrong("choices", "is not an object with the one key of a choice", "an object with one key")

    def tagged(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not dict or len(value) != 1:
            run.add(at, no, value)
            return None
        ((name, part),) = value.items()
        if name not in members:
            run.add(at, no, name)
            return None
        return {name: members[name](part, (at, name), run)}

    return tagged


def _inline(members: Mapping[str, Read], selector: str, foreign: frozenset[str]) -> Read:
    no = Wrong("type", "is not of type object", "object")
    unknown = Wrong("selector", f"names no choice in its property {selector!r}", selector)

    def inline(value: Any, at: Place, run: Run) -> Any:
        if type(value) is not dict:
            run.add(at, no, value)
            return None
        name = value.get(selector)
        if type(name) is not str or name not in members:
            run.add(at, unknown, name)
            return None
        if name not in foreign:
            return members[name](value, at, run)
        rest = {key: part for key, part in value.items() if key != selector}
        native = members[name](rest, at, run)
        return {selector: name, **native} if type(native) is dict else None

    return inline
