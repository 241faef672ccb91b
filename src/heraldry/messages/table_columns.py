"""The columns of a definition's table, and what each of them is read from.

The columns of the envelope, of placeholders and of the system keep their names; a payload field
that would take one of them gets ``_2``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.extract import EXTENSIONS
from heraldry.schemas.columns import Column, Scalar
from heraldry.schemas.located import pointer

SYSTEM: Final = ("_definition", "_version", "_batch", "_source", "_position", "_received")
"""Columns that every table has; they say where a row came from and never change."""

RAW: Final = Column(name="_payload", key="the payload as it came", type=Scalar("binary"))
"""The column that takes payloads for which there is no schema to use."""


_PLACE: Final = {
    "id": "source#position",
    "source": "the source",
    "type": "the definition",
    "time": "the broker's time",
    "datacontenttype": "the content type",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNames:
    """The names in a table of the columns of the payload and of the placeholders, in order."""

    payload: tuple[str, ...]
    placeholders: tuple[str, ...]


def table_names(compiled: CompiledDefinition) -> TableNames:
    """Names that are unique in the table ignoring case; placeholders choose before the payload."""
    taken = {name.lower() for name in (*SYSTEM, RAW.name)}
    taken |= {column.name.lower() for column in compiled.envelope_columns}
    placeholders = tuple(_claim(f"ctx_{name}", taken) for name in compiled.placeholders)
    columns = compiled.schema.columns if compiled.schema else ()
    payload = tuple(_claim(column.name, taken) for column in columns)
    return TableNames(payload=payload, placeholders=placeholders)


def table_columns(compiled: CompiledDefinition) -> tuple[Column, ...]:
    """Payload, envelope and placeholders in the order of the table, without the system's own.

    The key of each says in words what it is read from: ``/weight`` in the payload,
    ``attributes.type``, ``{airport}``.
    """
    names = table_names(compiled)
    payload = payload_columns(compiled.schema.columns) if compiled.schema else (RAW,)
    named = zip(payload, names.payload or (RAW.name,), strict=True)
    placeholders = [
        Column(name=column, key=f"{{{name}}}", type=Scalar("string"))
        for name, column in zip(compiled.placeholders, names.placeholders, strict=True)
    ]
    fields = [replace(column, name=name) for column, name in named]
    envelope = [*_envelope(compiled), *placeholders]
    return (*fields, *envelope) if compiled.schema else (*envelope, *fields)


def payload_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a payload alone, each with the place in the payload it is read from."""
    return tuple(
        replace(column, key=pointer([column.key]) if column.key else "/") for column in columns
    )


def _envelope(compiled: CompiledDefinition) -> Iterator[Column]:
    """Attributes; where messages need not be events, their place tells some of them."""
    always = compiled.cloudevents and compiled.definition.protocol is None
    for column in compiled.envelope_columns:
        told = "all other attributes" if column.key == EXTENSIONS else f"attributes.{column.key}"
        place = None if always else _PLACE.get(column.key)
        yield replace(column, key=f"{told}, else {place}" if place else told)


def _claim(name: str, taken: set[str]) -> str:
    """The name itself, or with ``_2``, ``_3`` ... where it is taken ignoring case."""
    free, count = name, 1
    while free.lower() in taken:
        count += 1
        free = f"{name}_{count}"
    taken.add(free.lower())
    return free
