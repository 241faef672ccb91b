"""What a JSON Structure document says of a value: frozen shapes, with references by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""No members, no limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The conditions of one shape that other shapes make: allOf, anyOf, oneOf, not, if."""

    all_of: tuple[Shape, ...] = ()
    any_of: tuple[Shape, ...] = ()
    one_of: tuple[Shape, ...] = ()
    none_of: tuple[Shape, ...] = ()
    condition: Shape | None = None
    then: Shape | None = None
    otherwise: Shape | None = None

    def parts(self) -> Iterator[Shape]:
        """Every shape that is asked about the same value."""
        yield from (*self.all_of, *self.any_of, *self.one_of, *self.none_of)
        yield from (one for one in (self.condition, self.then, self.otherwise) if one is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A value: ``where`` is its place in the document, ``limits`` are the keywords in force.

    A shape of this class itself has no type: only its conditions count.
    """

    where: str
    limits: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    composition: Composition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain(Shape):
    """A primitive type, or ``any``; a ``binary`` has its encoding, a ``decimal`` its digits."""

    kind: str
    encoding: str = "base64"
    precision: int | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref(Shape):
    """The type that stands at another place of the document."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Union(Shape):
    """One of several types; the first that fits is the one meant."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Shape):
    """An object; ``either`` lists groups of sets of members: of each group one set must be there.

    ``rest`` is the shape of other members, or whether there may be any.
    """

    members: Mapping[str, Shape]
    required: frozenset[str] = frozenset()
    either: tuple[tuple[frozenset[str], ...], ...] = ()
    rest: Shape | bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence(Shape):
    """An array, or a set, whose items are unique."""

    item: Shape
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Shape):
    """A map from text to values."""

    value: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Shape):
    """A tuple: an array with one item per member, in their order."""

    members: Mapping[str, Shape]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Shape):
    """One of the members: named by the only key, or inline by the value of ``selector``."""

    members: Mapping[str, Shape]
    selector: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A document that was read: its types by place, and the shape of a payload.

    ``offers`` are the names a payload may list in ``$uses``, with the places of their types.
    """

    types: Mapping[str, Shape]
    root: Shape
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NOTHING)

    def settled(self, shape: Shape) -> Shape:
        """The shape that references without limits of their own lead to."""
        while isinstance(shape, Ref) and not shape.limits and shape.composition is None:
            shape = self.types[shape.target]
        return shape

    def columnar(self, shape: Shape) -> Shape:
        """The shape that columns are made from: where a reference or a union with null leads."""
        while isinstance(shape, (Ref, Union)):
            if isinstance(shape, Ref):
                shape = self.types[shape.target]
                continue
            others = [part for part in shape.parts if not is_null(part)]
            if len(others) != 1:
                break
            shape = others[0]
        return shape


def is_null(shape: Shape) -> bool:
    """Whether only null has this shape."""
    return isinstance(shape, Plain) and shape.kind == "null"


def inner(shape: Shape) -> Iterator[Shape]:
    """The shapes of the parts of a value, and of the limits on them."""
    if isinstance(shape, Plain) and not shape.limits:
        return
    match shape:
        case Record(members=members, rest=rest):
            yield from members.values()
            if isinstance(rest, Shape):
                yield rest
        case Row(members=members):
            yield from members.values()
        case Choice(members=members, selector=None):
            yield from members.values()
        case Sequence(item=item):
            yield item
        case Table(value=value):
            yield value
        case _:
            pass
    for limit in shape.limits.values():
        if isinstance(limit, Shape):
            yield limit
        elif isinstance(limit, Mapping):
            yield from (one for one in limit.values() if isinstance(one, Shape))


def same_value(shape: Shape, types: Mapping[str, Shape]) -> Iterator[Shape]:
    """The shapes that are asked about the value of this one as a whole."""
    match shape:
        case Ref(target=target):
            yield types[target]
        case Union(parts=parts):
            yield from parts
        case Choice(members=members, selector=str()):
            yield from members.values()
        case _:
            pass
    if shape.composition is not None:
        yield from shape.composition.parts()
