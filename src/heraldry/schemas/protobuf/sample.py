"""Values made up from a message type; all its fields are there, down to a depth."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor

from heraldry.schemas.protobuf.fields import (
    DURATION,
    FIELD_MASK,
    INT32,
    INT64,
    NESTING_LIMIT,
    TIMESTAMP,
    UINT64,
    WRAPPERS,
    F,
    choices,
    entry,
    is_map,
    special,
)

_WORDS = ("amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heron")
# Below this only what is required is made.
_DEEP = 4
# A wide message must not make a value without end.
_VALUE_LIMIT = 5_000
_START = datetime(2024, 1, 1, tzinfo=UTC)


class Sampler:
    """Makes values in the native spelling, the same ones from the same Random."""

    def __init__(self, random: Random, impossible: frozenset[str]) -> None:
        self._random, self._impossible = random, impossible
        self._left = _VALUE_LIMIT
        self._unions: dict[str, list[OneofDescriptor]] = {}

    def message(self, message: Descriptor, depth: int = 0) -> Any:
        """A value of a message that has one; it is not valid where that would be too large."""
        kind = special(message)
        if kind:
            return self._special(kind, message)
        if message.full_name not in self._unions:
            self._unions[message.full_name] = choices(message)
        left_out = {
            field.name
            for union in self._unions[message.full_name]
            for field in self._random.sample(list(union.fields), len(union.fields) - 1)
        }
        value: dict[str, Any] = {}
        for field in message.fields:
            if field.is_required or not (self._is_over(depth) or self._is_impossible(field)):
                if field.name not in left_out:
                    value[field.name] = self._field(field, depth)
            elif field.is_repeated:
                value[field.name] = {} if is_map(field) else []
            elif not field.has_presence:
                value[field.name] = self._scalar(field)
        return value

    def _is_impossible(self, field: FieldDescriptor) -> bool:
        held = entry(field)[1] if is_map(field) else field
        return held.message_type is not None and held.message_type.full_name in self._impossible

    def _is_over(self, depth: int) -> bool:
        return depth >= _DEEP or self._left < 0

    def _field(self, field: FieldDescriptor, depth: int) -> Any:
        self._left -= 1
        if self._left < -_VALUE_LIMIT or depth > NESTING_LIMIT:
            return None
        if not field.is_repeated:
            return self._single(field, depth)
        count = self._random.randint(1, 2)
        if not is_map(field):
            return [self._single(field, depth) for _ in range(count)]
        key, held = entry(field)
        return {self._key(key): self._single(held, depth) for _ in range(count)}

    def _single(self, field: FieldDescriptor, depth: int) -> Any:
        if field.message_type is not None:
            return self.message(field.message_type, depth + 1)
        return self._scalar(field)

    def _key(self, field: FieldDescriptor) -> str:
        value = self._scalar(field)
        return str(value).lower() if type(value) is bool else str(value)

    def _scalar(self, field: FieldDescriptor) -> Any:
        random = self._random
        if field.enum_type is not None:
            return random.choice(field.enum_type.values).name
        if field.type == F.TYPE_BOOL:
            return random.random() < 0.5
        if field.type == F.TYPE_STRING:
            return random.choice(_WORDS)
        if field.type == F.TYPE_BYTES:
            return random.randbytes(4)
        if field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
            # Quarters are exact in 32 bits too.
            return random.randint(-4_000, 4_000) / 4
        low = -1_000 if field.type in INT32 | INT64 else 0
        return random.randint(low, 1_000_000 if field.type in UINT64 | INT64 else 1_000)

    def _special(self, kind: str, message: Descriptor) -> Any:
        if kind in WRAPPERS:
            return self._scalar(message.fields[0])
        random = self._random
        if kind == TIMESTAMP:
            return _START + timedelta(milliseconds=random.randrange(31_536_000_000))
        if kind == DURATION:
            return f"{random.randint(0, 86_400)}s"
        if kind == FIELD_MASK:
            return random.choice(_WORDS)
        if kind == "google.protobuf.Any":
            held = b"\x0a\x05" + random.choice(_WORDS).encode()
            url = "type.googleapis.com/google.protobuf.StringValue"
            return {"@type": url, "value": b64encode(held).decode()}
        word = random.choice(_WORDS)
        shapes = {"google.protobuf.Struct": {"name": word}, "google.protobuf.ListValue": [word]}
        return shapes.get(kind, word)


def hinted(
    value: Any, hints: dict[str, Any], normal: Callable[[dict[str, Any]], Any | None]
) -> Any:
    """The value with each hint in the member of that name, where ``normal`` finds it valid."""
    for key, hint in hints.items():
        if key in value:
            # A hint is a text mostly, and may spell a boolean.
            spelled = hint == "true" if hint in ("false", "true") else hint
            for candidate in (hint, spelled):
                changed = normal({**value, key: candidate})
                if changed is not None:
                    value = changed
                    break
    return value
