"""Values made ready for their columns: tuples as records, decimals without end as text."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from msgspec import structs

from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column, ColumnType, ListOf, MapOf, Scalar, Struct, is_whole
from heraldry.schemas.json_structure.shapes import (
    Plain,
    Record,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
)

Prepare = Callable[[Any], Any]


def prepared(structure: Structure, columns: tuple[Column, ...]) -> Prepare | None:
    """The function from a value to one that fits its columns; None where each does as it is."""
    kind = columns[0].type if is_whole(columns) else Struct(columns)
    return _prepare(structure, structure.root, kind)


def _prepare(structure: Structure, shape: Shape, kind: ColumnType) -> Prepare | None:
    match structure.columnar(shape), kind:
        case Row(members=members), Struct(fields=fields):
            return _row([(c.key, _prepare(structure, members[c.key], c.type)) for c in fields])
        case Record(members=members), Struct(fields=fields):
            made = ((c.key, _prepare(structure, members[c.key], c.type)) for c in fields)
            return _record({key: one for key, one in made if one is not None})
        case Sequence(item=item), ListOf(item=column):
            return _list(_prepare(structure, item, column.type))
        case Table(value=value), MapOf(value=column):
            one = _prepare(structure, value, column.type)
            return None if one is None else lambda given: _mapped(one, given)
        case Plain(kind="decimal"), Scalar(name="string"):
            return lambda given: format(given, "f") if type(given) is Decimal else given
        case _:
            return None


def _row(items: list[tuple[str, Prepare | None]]) -> Prepare:
    def prepare(given: Any) -> Any:
        if type(given) is not list or len(given) != len(items):
            return given
        return {
            key: part if one is None else one(part)
            for (key, one), part in zip(items, given, strict=True)
        }

    return prepare


def _record(members: dict[str, Prepare]) -> Prepare | None:
    if not members:
        return None

    def prepare(given: Any) -> Any:
        if type(given) is not dict:
            return given
        return given | {key: one(given[key]) for key, one in members.items() if key in given}

    return prepare


def _list(item: Prepare | None) -> Prepare | None:
    if item is None:
        return None
    return lambda given: [item(part) for part in given] if type(given) is list else given


def _mapped(one: Prepare, given: Any) -> Any:
    return {key: one(part) for key, part in given.items()} if type(given) is dict else given


def located(structure: Structure, problem: Problem) -> Problem:
    """A problem of a column whose path counts the items of tuples, as the payload does."""
    shape: Shape = structure.root
    steps: list[str] = []
    for step in problem.path.split("/")[1:]:
        shape = structure.columnar(shape)
        match shape:
            case Row(members=members) if step in members:
                steps.append(str(list(members).index(step)))
                shape = members[step]
                continue
            case Record(members=members) if step in members:
                shape = members[step]
            case Sequence(item=item):
                shape = item
            case Table(value=value):
                shape = value
            case _:
                pass
        steps.append(step)
    return structs.replace(problem, path="/" + "/".join(steps))
