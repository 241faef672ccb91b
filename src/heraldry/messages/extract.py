"""Extracting: what a message and its definition put beside the payload in a table."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import msgspec

from heraldry.messages.constraint import shown
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.values import canonical_text
from heraldry.model.definition import Definition
from heraldry.model.formats import is_cloudevents
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column, ColumnType, Scalar
from heraldry.schemas.names import legal_names
from heraldry.schemas.timestamps import to_timestamp

_STRING = Scalar("string")
_SCALARS = {
    "timestamp": Scalar("timestamp"),
    "integer": Scalar("integer"),
    "boolean": Scalar("boolean"),
    "binary": Scalar("binary"),
}

EXTENSIONS = "*"
"""The key of the column that takes the extension attributes no definition declares."""


def envelope_columns(definition: Definition) -> tuple[Column, ...]:
    """The ``ce_*`` columns: CloudEvents' own attributes, declared ones, and all others as JSON.

    Every table has them: what is no event becomes one by its definition and its place.
    """
    types = dict(cloudevents.ATTRIBUTES)
    if is_cloudevents(definition.envelope):
        for name, declared in cloudevents.properties(definition).items():
            types.setdefault(name, declared.type or "string")
    names = legal_names([*(f"ce_{name}" for name in types), "ce_extensions"])
    kinds = [(key, _SCALARS.get(kind, _STRING)) for key, kind in types.items()]
    return tuple(
        Column(name=name, key=key, type=kind)
        for name, (key, kind) in zip(names, [*kinds, (EXTENSIONS, Scalar("json"))], strict=True)
    )


def envelope_row(
    columns: tuple[Column, ...], attributes: Mapping[str, Any]
) -> dict[str, Any] | tuple[Problem, ...]:
    """The attributes of an event by column name, or why one does not fit its column."""
    row: dict[str, Any] = {}
    problems = []
    known = 0
    for column in columns:
        value = attributes.get(column.key)
        if value is None:
            row[column.name] = None
            continue
        known += 1
        kind = column.type
        if kind is _STRING:
            row[column.name] = value if isinstance(value, str) else canonical_text(value)
            continue
        try:
            row[column.name] = _convert(kind, value)
        except ValueError:
            path = f"attributes.{column.key}"
            told = "does not fit its column"
            problems.append(Problem(path=path, rule="column", message=told, found=shown(value)))
    if columns and known < len(attributes):
        declared = {column.key for column in columns}
        others = {k: v for k, v in attributes.items() if k not in declared and v is not None}
        row[columns[-1].name] = extensions_text(others)
    return tuple(problems) if problems else row


def extensions_text(attributes: Mapping[str, Any]) -> str | None:
    """Undeclared attributes as JSON text, ordered by name; None where there are none."""
    if not attributes:
        return None
    return msgspec.json.encode(dict(sorted(attributes.items()))).decode()


def _convert(kind: ColumnType, value: Any) -> Any:
    match kind:
        case Scalar("timestamp"):
            return to_timestamp(canonical_text(value))
        case Scalar("integer"):
            number = int(canonical_text(value))
            if not -(2**63) <= number < 2**63:
                raise ValueError
            return number
        case Scalar("boolean"):
            return canonical_text(value) == "true"
        case Scalar("binary"):
            return value if isinstance(value, bytes) else b64decode(value)
    return canonical_text(value)
