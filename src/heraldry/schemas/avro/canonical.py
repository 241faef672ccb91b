"""A schema as an Avro document again: in canonical form, and as fastavro is to decode by it."""

from __future__ import annotations

from typing import Any

from fastavro.schema import fingerprint as fastavro_fingerprint

from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    FixedBytes,
    Map,
    Named,
    Primitive,
    Record,
    Resolved,
    Schema,
    Type,
    Union,
)
from heraldry.schemas.parse import encode


def canonical_form(schema: Schema) -> bytes:
    """The parsing canonical form: what decoding needs, each named type at its first use."""
    return encode(Canonical(schema).write(schema.top))


def fingerprint(schema: Schema) -> bytes:
    """The CRC-64-AVRO fingerprint of the canonical form, in the byte order of messages."""
    return bytes.fromhex(fastavro_fingerprint(canonical_form(schema).decode(), "CRC-64-AVRO"))


class Canonical:
    """Writes a schema with full names and nothing but what decoding needs."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._seen: set[str] = set()

    def write(self, type_: Type) -> Any:
        """A type as JSON: a named one in full at its first use, then by its name."""
        node = self._schema.resolve(type_)
        if isinstance(node, Primitive):
            return self.primitive(node)
        if isinstance(node, Union):
            return [self.write(branch) for branch in node.branches]
        if isinstance(node, Array):
            return {"type": "array", "items": self.write(node.items)}
        if isinstance(node, Map):
            return {"type": "map", "values": self.write(node.values)}
        if node.name in self._seen:
            return self.name(node)
        self._seen.add(node.name)
        return self.definition(node)

    def primitive(self, node: Primitive) -> Any:
        """A primitive type as JSON."""
        return node.kind

    def name(self, node: Named) -> str:
        """The name by which a type is written."""
        return node.name

    def definition(self, node: Named) -> dict[str, Any]:
        """A named type in full."""
        made: dict[str, Any] = {"name": self.name(node), "type": node.kind}
        if isinstance(node, Record):
            made["fields"] = [{"name": f.name, "type": self.write(f.type)} for f in node.fields]
        elif isinstance(node, Enum):
            made["symbols"] = list(node.symbols)
        else:
            made["size"] = node.size
        return made


class _Decoding(Canonical):
    """The same with logical types, and with names that need no namespace."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._names: dict[str, str] = {}

    def primitive(self, node: Primitive) -> Any:
        return {"type": node.kind, **_logical(node)} if node.logical is not None else node.kind

    def name(self, node: Named) -> str:
        return self._names.setdefault(node.name, f"T{len(self._names)}")

    def definition(self, node: Named) -> dict[str, Any]:
        return {**super().definition(node), **_logical(node)}


# The logical types that fastavro reads exactly, or refuses; the others are read by functions of
# ours, under these names (see fast.py).
_EXACT = frozenset(
    f"{place}timestamp-{unit}" for place in ("", "local-") for unit in ("millis", "micros")
) | {"date", "uuid"}
OWN = "heraldry-"


def _logical(node: Resolved) -> dict[str, Any]:
    logical = node.logical
    if logical is None or logical.name.endswith("-nanos"):
        return {}
    own = logical.name not in _EXACT or isinstance(node, FixedBytes)
    made: dict[str, Any] = {"logicalType": f"{OWN}{logical.name}" if own else logical.name}
    if logical.name == "decimal":
        # What the reader would otherwise compute for every value.
        made |= {"limit": 10**logical.precision, "exponent": -logical.scale}
    return made


def decoding_form(schema: Schema) -> Any:
    """The document that fastavro decodes by."""
    return _Decoding(schema).write(schema.top)
