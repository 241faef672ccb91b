"""Our verdicts against those of the library avro, on random pairs of schemas."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from heraldry.errors import SchemaError
from heraldry.schemas.avro.resolution import Resolution
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import compile as compile_schema

PAIRS = 400
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


class _Maker:
    """Makes random schemas, and versions of them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._count = 0

    def _name(self) -> str:
        self._count += 1
        return f"{self.random.choice(('', 'x.', 'y.'))}T{self._count}"

    def type(self, depth: int = 3) -> Any:
        kinds = ["plain"] * 3 + ["enum", "fixed"]
        kinds += ["record"] * 3 + ["array", "map", "union", "union"] if depth else []
        kind = self.random.choice(kinds)
        if kind == "plain":
            return self.random.choice(_PRIMITIVES)
        if kind == "enum":
            symbols = self.random.sample("ABCD", self.random.randint(1, 3))
            made: dict[str, Any] = {"type": "enum", "name": self._name(), "symbols": symbols}
            return made | ({"default": symbols[0]} if self.random.random() < 0.3 else {})
        if kind == "fixed":
            return {"type": "fixed", "name": self._name(), "size": self.random.randint(1, 3)}
        if kind in ("array", "map"):
            return {"type": kind, "items" if kind == "array" else "values": self.type(depth - 1)}
        return self.union(depth - 1) if kind == "union" else self.record(depth - 1)

    def union(self, depth: int) -> Any:
        made: dict[str, Any] = {}
        for _ in range(self.random.randint(1, 3)):
            one = self.type(depth)
            if not isinstance(one, list):
                made.setdefault(_label(one), one)
        return list(made.values()) or "int"

    def record(self, depth: int = 3) -> Any:
        name = self._name()
        names = self.random.sample("abcde", self.random.randint(0, 4))
        fields: list[Any] = [self.field(one, depth) for one in names]
        if self.random.random() < 0.2:
            fields.append({"name": "next", "type": ["null", name]})
        return {"type": "record", "name": name, "fields": fields}

    def field(self, name: str, depth: int) -> Any:
        made = {"name": name, "type": self.type(depth)}
        if made["type"] in ("int", "long", "double") and self.random.random() < 0.5:
            made["default"] = 1
        return made

    def version(self, document: Any) -> Any:
        """A copy with one to three differences."""
        made = [copy.deepcopy(document)]
        for _ in range(self.random.randint(1, 3)):
            holders = list(_holders(made))
            holder, key = self.random.choice(holders)
            holder[key] = self._changed(holder[key])
        return made[0]

    def _changed(self, one: Any) -> Any:
        random = self.random
        if isinstance(one, str) and one not in _PRIMITIVES:
            return one
        if isinstance(one, list):
            if len(one) > 1 and random.random() < 0.5:
                return one[:-1] if random.random() < 0.5 else one[::-1]
            new = random.choice(_PRIMITIVES)
            return one if new in one else [*one, new]
        if isinstance(one, str) or random.random() < 0.2:
            wrapped = _label(one) != "null" and random.random() < 0.4
            return ["null", one] if wrapped else random.choice(_PRIMITIVES)
        return getattr(self, f"_changed_{one['type']}", lambda same: same)(one)

    def _changed_enum(self, one: Any) -> Any:
        if self.random.random() < 0.3:
            return self._renamed(one)
        symbols = self.random.sample("ABCD", self.random.randint(1, 3))
        made = {key: value for key, value in one.items() if key != "default"}
        extra = {"default": symbols[0]} if self.random.random() < 0.3 else {}
        return {**made, "symbols": symbols, **extra}

    def _changed_fixed(self, one: Any) -> Any:
        return self._renamed(one) if self.random.random() < 0.5 else {**one, "size": 4}

    def _renamed(self, one: Any) -> Any:
        aliases = {"aliases": [one["name"]]} if self.random.random() < 0.5 else {}
        if "." not in one["name"] and self.random.random() < 0.5:
            return {**one, "name": f"z.{one['name']}"}
        return {**one, "name": self._name(), **aliases}

    def _changed_record(self, one: Any) -> Any:
        fields = list(one["fields"])
        way = self.random.randint(0, 3)
        if way == 0 and "next" not in str(fields):
            return self._renamed(one)
        if way == 1 and fields:
            fields.pop(self.random.randrange(len(fields)))
        elif way == 2 and fields:
            index = self.random.randrange(len(fields))
            aliases = [fields[index]["name"]] if self.random.random() < 0.5 else []
            fields[index] = {**fields[index], "name": f"n{index}{way}", "aliases": aliases}
        else:
            fields.append(self.field(f"new{len(fields)}", 0))
        names = [field["name"] for field in fields]
        return {**one, "fields": fields} if len(set(names)) == len(names) else one


def _label(one: Any) -> str:
    return one if isinstance(one, str) else str(one.get("name", one["type"]))


def _holders(value: Any) -> Any:
    """Every place of a type: what holds it, and under which key."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index
            yield from _holders(item)
    elif isinstance(value, dict):
        for key in ("items", "values"):
            if key in value:
                yield value, key
                yield from _holders(value[key])
        for field in value.get("fields", ()):
            yield field, "type"
            yield from _holders(field["type"])


def pairs() -> Any:
    """Documents that are schemas, each with a version of it that is one."""
    made = seed = 0
    while made < PAIRS:
        seed += 1
        maker = _Maker(seed)
        old = maker.record() if seed % 3 else maker.type()
        new = maker.version(old)
        try:
            both = [compile_schema("Avro", one) for one in (old, new)]
        except SchemaError:
            continue
        made += 1
        yield old, new, *both


def test_verdicts_are_those_of_the_library():
    counts: Counter[str] = Counter()
    for old, new, before, after in pairs():
        parsed = [avro.schema.make_avsc_object(copy.deepcopy(one)) for one in (old, new)]
        for mode, (reader, writer) in (("backward", parsed[::-1]), ("forward", parsed)):
            ours = compare([("1", before)], after, mode).verdict
            told = ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)
            theirs = told.compatibility is SchemaCompatibilityType.compatible
            counts[f"{mode} {ours}"] += 1
            if ours != ("compatible" if theirs else "incompatible"):
                documents = (new, old) if mode == "backward" else (old, new)
                reason = explained(*documents, ours)
                assert reason, (mode, ours, theirs, told.messages, old, new)
                counts[reason] += 1
    rare = min(
        counts[f"{mode} {verdict}"]
        for mode in ("backward", "forward")
        for verdict in ("compatible", "incompatible")
    )
    assert rare > PAIRS / 20, counts
    assert counts["alias in a namespace"] < PAIRS / 50, counts


def explained(reader: Any, writer: Any, ours: str) -> str | None:
    """The known reason for a difference."""
    both = [avro.schema.make_avsc_object(_with_full_aliases(one)) for one in (reader, writer)]
    told = ReaderWriterCompatibilityChecker().get_compatibility(*both)
    theirs = told.compatibility is SchemaCompatibilityType.compatible
    if ours == ("compatible" if theirs else "incompatible"):
        # The specification puts an alias in the namespace of its type; the library does not.
        return "alias in a namespace"
    if ours == "undecided" and theirs and "'bytes'" in str([writer]):
        # The library does not ask whether the bytes that are read as text are UTF-8.
        return "bytes as text"
    return None


def _with_full_aliases(one: Any, space: str = "") -> Any:
    if isinstance(one, list):
        return [_with_full_aliases(item, space) for item in one]
    if not isinstance(one, dict):
        return one
    made = dict(one)
    if "name" in one:
        space = one["name"].rpartition(".")[0] or space
    if space and "aliases" in one:
        made["aliases"] = [name if "." in name else f"{space}.{name}" for name in one["aliases"]]
    for key in ("items", "values"):
        if key in one:
            made[key] = _with_full_aliases(one[key], space)
    if "fields" in one:
        made["fields"] = [
            {**field, "type": _with_full_aliases(field["type"], space)} for field in one["fields"]
        ]
    return made


def test_the_changes_say_what_resolution_says():
    for _, _, before, after in pairs():
        for mode, reader, writer in (("backward", after, before), ("forward", before, after)):
            effect = Resolution(reader.schema, writer.schema).effect(
                reader.schema.top, writer.schema.top
            )
            ours = compare([("1", before)], after, mode).verdict
            expected = {"safe": "compatible", "breaking": "incompatible"}.get(effect, "undecided")
            assert ours == expected, (mode, before.source.content, after.source.content)
