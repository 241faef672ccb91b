"""What the two Avro libraries of Python say about a schema: each refuses some that others take."""

from __future__ import annotations

from typing import Any

import avro.errors
import avro.schema
from fastavro.schema import SchemaParseException, parse_schema

from heraldry.errors import SchemaError
from heraldry.schemas.avro.canonical import Canonical
from heraldry.schemas.avro.nodes import Enum, Named, Record, Schema

_FAILURES = (
    avro.errors.AvroException,
    SchemaParseException,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def check_by_libraries(format: str, schema: Schema) -> None:  # noqa: A002
    """SchemaError if fastavro or avro refuses the schema; logical types are not their affair."""
    written = _Written(schema)
    form = written.write(schema.top)
    if not written.faithful:
        return
    try:
        parse_schema(form)
        avro.schema.make_avsc_object(form)
    except _FAILURES as error:
        raise SchemaError(format, "", str(error).partition("\n")[0][:200]) from None


class _Written(Canonical):
    """Writes a schema with its defaults and aliases.

    It is not ``faithful`` where a type without a namespace is used inside one that has one: the
    name would then mean another type.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._space = ""
        self.faithful = True

    def name(self, node: Named) -> str:
        if self._space and "." not in node.name:
            self.faithful = False
        return node.name

    def definition(self, node: Named) -> dict[str, Any]:
        outer = self._space
        name = self.name(node)
        self._space = node.name.rpartition(".")[0]
        made = super().definition(node)
        self._space = outer
        made["name"] = name
        if node.aliases:
            made["aliases"] = sorted(node.aliases)
        if isinstance(node, Enum) and node.default is not None:
            made["default"] = node.default
        if isinstance(node, Record):
            for field, written in zip(node.fields, made["fields"], strict=True):
                if field.has_default:
                    written["default"] = field.default
                if field.aliases:
                    written["aliases"] = list(field.aliases)
        return made
