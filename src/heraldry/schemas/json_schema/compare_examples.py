"""Messages that show a difference: valid in the version they are written in, refused by another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any, Final

from heraldry.errors import SchemaError
from heraldry.schemas.json_schema.compare_reading import Version
from heraldry.schemas.json_schema.containment import difference
from heraldry.schemas.json_schema.document import nodes
from heraldry.schemas.json_schema.sample import NOTHING
from heraldry.schemas.json_schema.schema import JsonSchema, load
from heraldry.schemas.parse import encode
from heraldry.schemas.source import Source

SAMPLES: Final = 8
"""How many values are made up of a schema."""

WORK_LIMIT: Final = 30_000
"""How many places the values have in all that are tried."""

_PLACES: Final = 40
_NAMES: Final = 40
_LARGE: Final = 1_000
# What trying a value costs apart from its size, in places.
_FIXED: Final = 20
_ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    1_000_000,
    "",
    "x",
    [],
    [0, 0],
    {},
    {"x": 0},
)
_Path = tuple[str | int, ...]


def counter_example(writer: Version, reader: Version) -> Any:
    """A value that the writer's version accepts and the reader's refuses; NOTHING if none found."""
    accepts, reads = writer.schema.is_valid, reader.schema.is_valid
    work = 0
    for value in _candidates(writer, reader):
        if not reads(value) and accepts(value):
            return value
        work += _FIXED + sum(1 for _ in islice(_places(value, ()), WORK_LIMIT))
        if work > WORK_LIMIT:
            break
    return NOTHING


def _candidates(writer: Version, reader: Version) -> Iterator[Any]:
    yield from _ODD
    left = difference(reader.document, reader.root.schema, writer.document, writer.root.schema)
    if left is not None:
        yield from _samples(_schema_of(left, writer.schema.source))
    names = _names(reader) + _names(writer)
    samples = []
    for sample in _samples(writer.schema):
        samples.append(sample)
        yield sample
    changed = [_changed(sample, names) for sample in [*samples, {}]]
    while changed:
        # Each sample in turn, so that none of them uses up all the tries.
        for one in list(changed):
            found = list(islice(one, 20))
            yield from found
            if not found:
                changed.remove(one)


def _samples(schema: JsonSchema | None) -> Iterator[Any]:
    if schema is None or any(_is_huge(node) for node in nodes(schema.root)):
        return
    for seed in range(SAMPLES):
        try:
            yield schema.sample(Random(seed), {})
        except (SchemaError, ArithmeticError, ValueError, RecursionError):
            return


def _is_huge(schema: Mapping[str, Any]) -> bool:
    """Whether every value of a schema is so large that none is made up."""
    required = schema.get("required")
    if isinstance(required, list) and len(required) > _LARGE:
        return True
    sizes = (schema.get(key) for key in ("minItems", "minProperties", "minLength", "minContains"))
    return any(isinstance(size, (int, float)) and size > _LARGE for size in sizes)


def _schema_of(document: Any, source: Source) -> JsonSchema | None:
    try:
        content = encode(document)
        return load(Source(format=source.format, version=source.version, content=content))
    except (SchemaError, TypeError, ValueError):
        return None


def _names(version: Version) -> list[str]:
    found: dict[str, None] = {}
    for node in nodes(version.schema.root):
        members = node.get("properties")
        if isinstance(members, Mapping):
            found.update(dict.fromkeys(members))
        if len(found) > _NAMES:
            break
    return list(found)[:_NAMES]


def _changed(value: Any, names: list[str]) -> Iterator[Any]:
    """The value with one place left out, replaced by something else, or extended."""
    places = list(islice(_places(value, ()), _PLACES))
    for path in places[1:]:
        yield _with(value, path, NOTHING)
    for path in places:
        inner = _at(value, path)
        if isinstance(inner, dict):
            for name in names:
                for odd in _ODD[1:5] if name not in inner else ():
                    yield _with(value, (*path, name), odd)
            yield _with(value, (*path, "another member"), 0)
        elif isinstance(inner, list):
            yield from (_with(value, path, new) for new in ([], [*inner, *inner], [*inner, None]))
    for path in places[1:]:
        yield from (_with(value, path, odd) for odd in _ODD)


def _places(value: Any, path: _Path) -> Iterator[_Path]:
    yield path
    inner: Any = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, one in inner:
        if len(path) < _PLACES:
            yield from _places(one, (*path, key))


def _at(value: Any, path: _Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: _Path, new: Any) -> Any:
    """A copy of the value with another one at a path; NOTHING leaves it out."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = _with(copy[key], rest, new)
    elif new is NOTHING:
        del copy[key]
    else:
        copy[key] = new
    return copy
