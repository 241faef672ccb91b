"""Random Avro schemas, each with a random value of it."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import strategies as st

FORMAT = "Avro/1.12"

_NAMES = ("id", "name", "Size", "size", "_x", "count", "at", "place", "kind", "note")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT, _LONG = 1 << 31, 1 << 63
# Microseconds from the first to the last instant of Python.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999


def _instants(unit: int, zone: bool) -> st.SearchStrategy[datetime]:
    start = _EPOCH if zone else _EPOCH.replace(tzinfo=None)
    numbers = st.integers(-(-_FIRST // unit), _LAST // unit)
    return numbers.map(lambda number: start + timedelta(microseconds=number * unit))


def _times(unit: int) -> st.SearchStrategy[Any]:
    numbers = st.integers(0, 86_400_000_000 // unit - 1)
    return numbers.map(lambda n: (_EPOCH + timedelta(microseconds=n * unit)).time())


_PLAIN: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("null", st.none()),
    ("boolean", st.booleans()),
    ("int", st.integers(-_INT, _INT - 1)),
    ("long", st.integers(-_LONG, _LONG - 1)),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False)),
    ("bytes", st.binary(max_size=12)),
    ("string", st.text(max_size=12)),
    ({"type": "int", "logicalType": "date"}, st.dates()),
    ({"type": "int", "logicalType": "time-millis"}, _times(1000)),
    ({"type": "long", "logicalType": "time-micros"}, _times(1)),
    ({"type": "long", "logicalType": "timestamp-millis"}, _instants(1000, True)),
    ({"type": "long", "logicalType": "timestamp-micros"}, _instants(1, True)),
    ({"type": "long", "logicalType": "timestamp-nanos"}, st.integers(-_LONG, _LONG - 1)),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, _instants(1000, False)),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, _instants(1, False)),
    ({"type": "long", "logicalType": "local-timestamp-nanos"}, st.integers(-_LONG, _LONG - 1)),
    ({"type": "string", "logicalType": "uuid"}, st.uuids()),
    ({"type": "string", "logicalType": "unknown"}, st.text(max_size=5)),
]


class _Maker:
    """Draws types; ``count`` gives each named type a name of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._count = 0

    def type(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        makers: list[Any] = [self._plain, self._plain, self._enum, self._fixed, self._decimal]
        if depth:
            inner = [self._record, self._array, self._map, self._union, self._nullable]
            makers += [partial(make, depth - 1) for make in inner]
        return self._draw(st.sampled_from(makers))()

    def record(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        return self._record(depth)

    def _name(self) -> str:
        self._count += 1
        return f"Type{self._count}"

    def _plain(self) -> tuple[Any, st.SearchStrategy[Any]]:
        return self._draw(st.sampled_from(_PLAIN))

    def _enum(self) -> tuple[Any, st.SearchStrategy[Any]]:
        symbols = self._draw(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True))
        return {"type": "enum", "name": self._name(), "symbols": symbols}, st.sampled_from(symbols)

    def _fixed(self) -> tuple[Any, st.SearchStrategy[Any]]:
        size = self._draw(st.sampled_from((0, 1, 12, 16)))
        document = {"type": "fixed", "name": self._name(), "size": size}
        if size == 16 and self._draw(st.booleans()):
            return {**document, "logicalType": "uuid"}, st.uuids()
        if size == 12 and self._draw(st.booleans()):
            numbers = st.tuples(*[st.integers(0, 2**32 - 1)] * 3)
            return {**document, "logicalType": "duration"}, numbers.map(_duration)
        return document, st.binary(min_size=size, max_size=size)

    def _decimal(self) -> tuple[Any, st.SearchStrategy[Any]]:
        precision = self._draw(st.sampled_from((1, 9, 38, 60)))
        scale = self._draw(st.integers(0, precision))
        document: dict[str, Any] = {"type": "bytes"}
        if self._draw(st.booleans()):
            document = {"type": "fixed", "name": self._name(), "size": 26}
        document |= {"logicalType": "decimal", "precision": precision, "scale": scale}
        digits = st.integers(-(10**precision) + 1, 10**precision - 1)
        return document, digits.map(lambda number: _scaled(number, scale))

    def _record(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        name = self._name()
        names = self._draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=5))
        fields = {field: self.type(depth) for field in names}
        written: list[Any] = [{"name": key, "type": made[0]} for key, made in fields.items()]
        values: Any = st.fixed_dictionaries({key: made[1] for key, made in fields.items()})
        if depth and self._draw(st.integers(0, 4)) == 0:
            # A record that may hold one of its own kind.
            written.append({"name": "inner", "type": ["null", name]})
            values = st.recursive(
                values.map(lambda value: {**value, "inner": None}),
                lambda inner: st.builds(lambda value, i: {**value, "inner": i}, values, inner),
                max_leaves=2,
            )
        space = {"namespace": "some.where"} if depth > 1 else {}
        return {"type": "record", "name": name, **space, "fields": written}, values

    def _array(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        document, values = self.type(depth)
        return {"type": "array", "items": document}, st.lists(values, max_size=3)

    def _map(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        document, values = self.type(depth)
        keys = st.text(max_size=4)
        return {"type": "map", "values": document}, st.dictionaries(keys, values, max_size=3)

    def _nullable(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        document, values = self.type(depth)
        if isinstance(document, list) or document == "null":
            return document, values
        both = ["null", document] if self._draw(st.booleans()) else [document, "null"]
        return both, st.none() | values

    def _union(self, depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
        branches: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {}
        for _ in range(self._draw(st.integers(1, 4))):
            document, values = self.type(depth)
            if not isinstance(document, list):
                branches.setdefault(_label(document), (document, values))
        if not branches:
            return self._plain()
        return [one for one, _ in branches.values()], st.one_of(*(v for _, v in branches.values()))


def _label(document: Any) -> str:
    if isinstance(document, str):
        return document
    return str(document.get("name", document["type"]))


def _duration(numbers: tuple[int, int, int]) -> str:
    months, days, millis = numbers
    return f"P{months}M{days}DT{millis // 1000}.{millis % 1000:03}S"


def _scaled(number: int, scale: int) -> Decimal:
    sign, digits, _ = Decimal(number).as_tuple()
    return Decimal((sign, digits, -scale))


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema document, mostly of a record, and a value of it."""
    maker = _Maker(draw)
    document, values = maker.record(3) if draw(st.integers(0, 3)) else maker.type(3)
    return document, draw(values)


def small(number: float) -> float:
    """A number as 32 bits hold it."""
    value: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return value
