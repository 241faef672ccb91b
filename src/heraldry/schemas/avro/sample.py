"""Values made up for an Avro schema: the same for the same random numbers, and of bounded size."""

from __future__ import annotations

import struct
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

from heraldry.schemas.avro.logical import reader_of
from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    FixedBytes,
    Map,
    Primitive,
    Record,
    Resolved,
    Schema,
    Type,
    Union,
)
from heraldry.schemas.avro.shape import Shape

PARTS: Final = 500
"""About how many parts a sample may have beyond those it must have."""

_DEEP: Final = 6
_MOST_ITEMS: Final = 3
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron")
# The first second of 2020, and about ten years.
_START, _YEARS = 1_577_836_800, 315_000_000
_UNITS = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}


class Sampler:
    """Makes values of the types of one schema."""

    def __init__(self, schema: Schema, shape: Shape, random: Random) -> None:
        self._schema = schema
        self._shape = shape
        self._random = random
        self._left = PARTS
        self._depth = 0

    def value(self, type_: Type) -> Any:
        """A value of a type that has one."""
        node = self._schema.resolve(type_)
        self._left -= 1
        if isinstance(node, Union):
            return self.value(self._branch(node))
        if isinstance(node, (Record, Array, Map)):
            self._depth += 1
            made = self._container(node)
            self._depth -= 1
            return made
        if isinstance(node, Enum):
            return self._random.choice(node.symbols)
        return self._logical(node) if node.logical is not None else self._plain(node)

    def _fits(self, type_: Type) -> bool:
        return self._depth < _DEEP and self._shape.least(type_) <= self._left

    def _branch(self, node: Union) -> Type:
        fitting = [branch for branch in node.branches if self._fits(branch)]
        if not fitting:
            return min(node.branches, key=self._shape.least)
        full = [one for one in fitting if self._schema.resolve(one).kind != "null"]
        return self._random.choice(full if full and self._random.random() < 0.8 else fitting)

    def _container(self, node: Record | Array | Map) -> Any:
        if isinstance(node, Record):
            return {field.name: self.value(field.type) for field in node.fields}
        inner = node.items if isinstance(node, Array) else node.values
        made = []
        for _ in range(self._random.randint(0, _MOST_ITEMS)):
            if self._fits(inner):
                made.append(self.value(inner))  # noqa: PERF401
        if isinstance(node, Array):
            return made
        return {f"{_WORDS[index]}": value for index, value in enumerate(made)}

    def _plain(self, node: Resolved) -> Any:
        random = self._random
        if isinstance(node, FixedBytes):
            return random.randbytes(node.size)
        made: dict[str, Any] = {
            "null": None,
            "boolean": random.random() < 0.5,
            "int": random.randint(0, 1_000),
            "long": random.randint(0, 1_000_000),
            "float": random.randint(0, 8_000) / 16,
            "double": random.randint(0, 1_000_000) / 1_000,
            "bytes": random.randbytes(8),
            "string": f"{random.choice(_WORDS)}-{random.randint(0, 999)}",
        }
        return made[node.kind]

    def _logical(self, node: Primitive | FixedBytes) -> Any:
        logical, random = node.logical, self._random
        assert logical is not None
        if logical.name == "decimal":
            digits = random.randint(1, min(logical.precision, 12))
            return Decimal(random.randint(0, 10**digits - 1)).scaleb(-logical.scale)
        if logical.name == "uuid":
            return UUID(int=random.getrandbits(128), version=4)
        convert = reader_of(logical, node.kind)
        if logical.name == "duration":
            days, millis = random.randint(0, 30), random.randint(0, 86_400_000)
            return convert(struct.pack("<III", random.randint(0, 12), days, millis))
        if logical.name == "date":
            return convert((_START + random.randint(0, _YEARS)) // 86_400)
        kind, _, unit = logical.name.rpartition("-")
        second = random.randint(0, 86_399) if kind == "time" else _START + random.randint(0, _YEARS)
        return convert(second * _UNITS[unit] + random.randrange(_UNITS[unit]))
