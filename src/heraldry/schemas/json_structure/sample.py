"""Values made up from shapes; the caller verifies them, since no making-up is complete."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

from heraldry.schemas.json_structure.scalars import INTEGERS, WIDE
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
    is_null,
)
from heraldry.schemas.sample_scalars import made_integer, made_number, made_string

NONE: Final = object()
"""What stands for no value at all."""

# Below the first only what is required is made, below the second nothing.
_DEEP, _DEEPEST = 6, 40
_MORE = 2
# A wide and deep structure must not make a value without end.
_VALUE_LIMIT = 5_000
_SPAN = 1000
_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_WORDS = (("minItems", "maxItems"), ("minEntries", "maxEntries"))


class Sampler:
    """Makes native values of one structure."""

    def __init__(self, structure: Structure, random: Random) -> None:
        self._structure, self._random = structure, random
        self._left = 0

    def value(self) -> Any:
        """A value that is probably valid."""
        self._left = _VALUE_LIMIT
        return self._make(self._structure.root, 0)

    def _make(self, shape: Shape, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return NONE
        made = self._typed(shape, depth)
        return self._composed(made, shape, depth) if shape.composition is not None else made

    def _composed(self, made: Any, shape: Shape, depth: int) -> Any:
        parts = shape.composition
        assert parts is not None
        wanted = list(parts.all_of)
        wanted += [self._random.choice(some) for some in (parts.any_of, parts.one_of) if some]
        if parts.condition is not None:
            then = [one for one in (parts.condition, parts.then) if one is not None]
            otherwise = [] if parts.otherwise is None else [parts.otherwise]
            wanted += self._random.choice([then, otherwise])
        for part in wanted:
            other = self._make(part, depth + 1)
            if isinstance(made, dict) and isinstance(other, dict):
                made = made | other
            elif other is not NONE and not isinstance(made, dict):
                made = other
        return made

    def _typed(self, shape: Shape, depth: int) -> Any:
        match shape:
            case Ref(target=target):
                other = self._structure.types[target]
                limits = {**other.limits, **shape.limits}
                return self._make(replace(other, limits=limits) if shape.limits else other, depth)
            case Union(parts=parts):
                usable = [part for part in parts if not is_null(part)] or list(parts)
                if depth >= _DEEP and len(usable) < len(parts):
                    return None
                return self._make(self._random.choice(usable), depth + 1)
            case Plain():
                return self._plain(shape)
            case Record():
                return self._record(shape, depth)
            case Sequence(item=item):
                return self._sequence(item, shape, depth)
            case Table(value=value):
                return self._table(value, shape, depth)
            case Row(members=members):
                items = [self._make(part, depth + 1) for part in members.values()]
                return NONE if any(item is NONE for item in items) else items
            case Choice():
                return self._choice(shape, depth)
            case _:
                return self._word() if shape.composition is None else NONE

    def _record(self, shape: Record, depth: int) -> Any:
        needed = set(shape.required)
        barred: set[str] = set()
        for group in shape.either:
            chosen = self._random.choice(group)
            needed |= chosen
            barred |= frozenset().union(*group) - chosen
        made: dict[str, Any] = {}
        for name, part in shape.members.items():
            if (name in barred and name not in needed) or (depth >= _DEEP and name not in needed):
                continue
            value = self._make(part, depth + 1)
            if value is not NONE:
                made[name] = value
            elif name in needed:
                return NONE
        most = shape.limits.get("maxProperties", len(made))
        for name in [name for name in made if name not in needed]:
            if len(made) > most:
                del made[name]
        return made

    def _counts(self, limits: Mapping[str, Any], depth: int) -> int:
        low, high = 0, None
        for least, most in _WORDS:
            low, high = limits.get(least, low), limits.get(most, high)
        count = low + (0 if depth >= _DEEP else self._random.randint(0, _MORE))
        return min(count, _VALUE_LIMIT, count if high is None else high)

    def _sequence(self, item: Shape, shape: Sequence, depth: int) -> Any:
        made: list[Any] = []
        if isinstance(shape.limits.get("contains"), Shape):
            needed = range(min(shape.limits.get("minContains", 1), _VALUE_LIMIT))
            made.extend(self._make(shape.limits["contains"], depth + 1) for _ in needed)
        wanted = self._counts(shape.limits, depth)
        for _ in range(wanted * 3 + 3):
            if len(made) >= wanted:
                break
            value = self._make(item, depth + 1)
            if value is NONE:
                break
            if not shape.unique or value not in made:
                made.append(value)
        short = len(made) < shape.limits.get("minItems", 0)
        return NONE if short or any(value is NONE for value in made) else made

    def _table(self, value: Shape, shape: Table, depth: int) -> Any:
        made: dict[str, Any] = {}
        names = shape.limits.get("keyNames")
        wanted = self._counts(shape.limits, depth)
        for _ in range(wanted * 3 + 3):
            if len(made) >= wanted:
                break
            key = self._make(names, depth + 1) if isinstance(names, Shape) else self._word()
            part = self._make(value, depth + 1)
            if part is NONE or not isinstance(key, str):
                break
            made[key] = part
        return NONE if len(made) < shape.limits.get("minEntries", 0) else made

    def _choice(self, shape: Choice, depth: int) -> Any:
        name = self._random.choice(list(shape.members))
        value = self._make(shape.members[name], depth + 1)
        if value is NONE:
            return NONE
        if shape.selector is None:
            return {name: value}
        return {**value, shape.selector: name} if isinstance(value, dict) else NONE

    def _word(self) -> str:
        return "".join(self._random.choices(string.ascii_lowercase, k=8))

    def _plain(self, shape: Plain) -> Any:
        if shape.limits.get("enum"):
            return self._random.choice(shape.limits["enum"])
        kind, random, limits = shape.kind, self._random, shape.limits
        if kind in INTEGERS or kind in WIDE:
            return self._integer(kind, limits)
        if kind == "decimal":
            return self._decimal(shape)
        if kind in ("number", "float", "double", "float8"):
            return made_number(limits, random)
        if kind == "string":
            return made_string(limits, random)
        if kind == "boolean":
            return bool(random.getrandbits(1))
        if kind == "binary":
            return random.randbytes(8)
        return None if kind == "null" else self._text(kind)

    def _integer(self, kind: str, limits: Mapping[str, Any]) -> int:
        low, high = (INTEGERS | WIDE)[kind]
        bounds = dict(limits)
        span = max(_SPAN, 10 * bounds.get("multipleOf", 1))
        most = min(bounds.get("maximum", high), bounds.get("exclusiveMaximum", high))
        if "exclusiveMinimum" not in bounds:
            # Small numbers, as far as the bounds allow.
            bounds.setdefault("minimum", 0 if most > 0 else max(low, most - span))
        least = max(bounds.get("minimum", low), bounds.get("exclusiveMinimum", low))
        if "exclusiveMaximum" not in bounds:
            bounds["maximum"] = min(bounds.get("maximum", high), max(least + span, 0), high)
        numbers = {word: _exact(value) for word, value in bounds.items()}
        return made_integer(numbers, self._random)

    def _decimal(self, shape: Plain) -> Decimal:
        scale = 2 if shape.scale is None else min(shape.scale, 6)
        whole = 1000
        if shape.precision is not None:
            whole = 10 ** min(3, max(0, shape.precision - (shape.scale or 0)))
        if not shape.limits.keys().isdisjoint(_BOUNDS):
            bounds = {word: _exact(value) for word, value in shape.limits.items()}
            return Decimal(str(made_number(bounds, self._random)))
        return Decimal(self._random.randrange(max(1, whole * 10**scale))).scaleb(-scale)

    def _text(self, kind: str) -> str:
        instant = _EPOCH + timedelta(milliseconds=self._random.randrange(365 * 86_400_000))
        if kind == "datetime":
            return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if kind == "date":
            return instant.date().isoformat()
        if kind == "time":
            return instant.strftime("%H:%M:%SZ")
        if kind == "duration":
            return f"PT{self._random.randint(1, 59)}M"
        if kind == "uuid":
            return str(UUID(int=self._random.getrandbits(128), version=4))
        if kind == "uri":
            return f"https://{self._word()}.example.com/{self._word()}"
        return f"/{self._word()}" if kind == "jsonpointer" else self._word()


def _exact(value: Any) -> Any:
    """A bound as the makers of numbers take it."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() else float(value)
