"""The keywords that narrow a type: checked in the document, and kept where they are in force."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from heraldry.schemas.json_structure.document import escaped
from heraldry.schemas.json_structure.scalars import (
    ENCODINGS,
    INTEGERS,
    NUMBERS,
    PRIMITIVES,
    TEXTS,
    WIDE,
    Wrong,
    reader,
)
from heraldry.schemas.json_structure.shapes import NOTHING
from heraldry.schemas.parse import encode

if TYPE_CHECKING:
    from heraldry.schemas.json_structure.grammar import Grammar

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TEXT = ("minLength", "maxLength", "pattern", "format")
_ITEMS = ("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains")
_MEMBERS = ("minProperties", "maxProperties", "propertyNames", "patternProperties",
            "dependentRequired", "has")  # fmt: skip
_ENTRIES = ("minEntries", "maxEntries", "keyNames", "patternKeys", "has")
_ALL = (*_BOUNDS, *_TEXT, *_ITEMS, *_MEMBERS, *_ENTRIES)


def _allowed(kind: str) -> tuple[str, ...]:
    if kind in NUMBERS:
        return _BOUNDS
    if kind == "string":
        return _TEXT
    if kind in TEXTS or kind == "binary":
        return ("maxLength",)
    return {"array": _ITEMS, "set": _ITEMS, "object": _MEMBERS, "map": _ENTRIES}.get(kind, ())


def read_limits(
    grammar: Grammar, schema: Mapping[str, Any], where: str, kind: str | None
) -> Mapping[str, Any]:
    """The limits of a schema in force; those of an extension that is not in use are only checked.

    A limit stands under its keyword: a number, a text, a shape, or a mapping of shapes; ``enum``
    and ``const`` become the native values under ``enum``.
    """
    if kind is None or schema.keys().isdisjoint((*_ALL, "enum", "const")):
        return NOTHING
    allowed = _allowed(kind)
    found: dict[str, Any] = {}
    for word in _ALL:
        if word not in schema:
            continue
        if word not in allowed:
            if word == "format":  # says nothing of other types
                continue
            raise grammar.error(f"{where}/{word}", f"{word} is not for the type {kind}")
        found[word] = _value(grammar, schema[word], f"{where}/{word}", word, kind)
    _check_order(grammar, found, where)
    found.pop("uniqueItems", None)  # a property of the sequence itself
    if not grammar.validates:
        found = {word: value for word, value in found.items() if word == "maxLength"}
    if kind in PRIMITIVES:
        _add_values(grammar, schema, where, kind, found)
    return found


def _value(grammar: Grammar, value: Any, where: str, word: str, kind: str) -> Any:
    if word in _BOUNDS:
        return _bound(grammar, value, where, word, kind)
    if word.startswith(("min", "max")):
        if type(value) is not int or value < 0:
            raise grammar.error(where, f"{word} is a whole number, not below 0")
        return value
    if word == "uniqueItems":
        if not isinstance(value, bool) or (kind == "set" and not value):
            raise grammar.error(where, "uniqueItems is true or false, and a set has no equal items")
        return value
    if word in ("pattern", "format"):
        if not isinstance(value, str):
            raise grammar.error(where, f"{word} is a text")
        if word == "pattern":
            _check_pattern(grammar, value, where)
        return value
    if word in ("patternProperties", "patternKeys"):
        return _by_pattern(grammar, value, where)
    if word == "dependentRequired":
        return _dependent(grammar, value, where)
    return grammar.shape(value, where, condition=True)


def _bound(grammar: Grammar, value: Any, where: str, word: str, kind: str) -> Any:
    wide = kind in WIDE or kind == "decimal"
    if wide and isinstance(value, str):
        number = reader("decimal")(value)
        if isinstance(number, Wrong):
            raise grammar.error(where, f"{word} is not a number written as text")
        value = number
    elif type(value) not in (int, float) or isinstance(value, bool):
        raise grammar.error(where, f"{word} is a number")
    if word == "multipleOf" and value <= 0:
        raise grammar.error(where, "multipleOf is greater than 0")
    # A value of these types is exact, and so is what it is compared with.
    if type(value) is float and (wide or kind in INTEGERS):
        return Decimal(str(value))
    return value


def _check_order(grammar: Grammar, found: Mapping[str, Any], where: str) -> None:
    for low in found:
        high = low.replace("min", "max")
        if low.startswith("min") and high in found and found[low] > found[high]:
            raise grammar.error(where, f"{low} is greater than {high}")
    for word in ("minContains", "maxContains"):
        if word in found and "contains" not in found:
            raise grammar.error(f"{where}/{word}", f"{word} needs contains")


def _by_pattern(grammar: Grammar, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise grammar.error(where, "this is an object of schemas by pattern")
    found = {}
    for pattern, schema in value.items():
        place = f"{where}/{escaped(pattern)}"
        _check_pattern(grammar, pattern, place)
        found[pattern] = grammar.shape(schema, place)
    return found


def _dependent(grammar: Grammar, value: Any, where: str) -> dict[str, tuple[str, ...]]:
    if isinstance(value, Mapping) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names)
        for names in value.values()
    ):
        return {name: tuple(needed) for name, needed in value.items()}
    raise grammar.error(where, "dependentRequired is an object of arrays of names")


def _check_pattern(grammar: Grammar, pattern: str, where: str) -> None:
    if not grammar.validates:
        if not _is_pattern(pattern):
            raise grammar.error(where, "it is not a regular expression")
        return
    try:
        matcher(pattern)
    except ValueError:
        reason = (
            "it is not a regular expression that runs in linear time and is of moderate size"
            " (no look-around, no back-references)"
        )
        raise grammar.error(where, reason) from None


def _is_pattern(pattern: str) -> bool:
    # A pattern that is not in force need not run in linear time, nor fit in memory.
    try:
        _matcher(pattern, jsonschema_rs.FancyRegexOptions())
    except ValueError:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError, Warning):
            return False
    return True


def _matcher(pattern: str, options: Any) -> jsonschema_rs.Validator:
    schema = {"type": "string", "pattern": pattern}
    return jsonschema_rs.Draft202012Validator(schema, offline=True, pattern_options=options)


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a text has a match of a pattern anywhere, found in linear time."""
    validator = _matcher(pattern, jsonschema_rs.RegexOptions())

    def matches(text: str) -> bool:
        try:
            return validator.is_valid(text)
        except ValueError:  # a lone surrogate
            return False

    return matches


def _add_values(
    grammar: Grammar, schema: Mapping[str, Any], where: str, kind: str, found: dict[str, Any]
) -> None:
    if "const" in schema:
        found["enum"] = (_native(grammar, schema["const"], f"{where}/const", kind, schema),)
    if "enum" not in schema:
        return
    values = schema["enum"]
    if not isinstance(values, list) or not values:
        raise grammar.error(f"{where}/enum", "enum is an array with at least one value")
    natives = [
        _native(grammar, value, f"{where}/enum/{number}", kind, schema)
        for number, value in enumerate(values)
    ]
    if len({(type(one), one) for one in natives}) < len(natives):
        raise grammar.error(f"{where}/enum", "enum has equal values")
    if "enum" in found:
        natives = [one for one in natives if one == found["enum"][0]]
    found["enum"] = tuple(natives)


def _native(grammar: Grammar, value: Any, where: str, kind: str, schema: Mapping[str, Any]) -> Any:
    encoding = str(schema.get("contentEncoding", "base64")).lower()
    read = reader(kind, encoding if encoding in ENCODINGS else "base64")
    # Authors also write wide integers and decimals as numbers here.
    wide = kind in WIDE or kind == "decimal"
    text = encode(value).decode() if wide and type(value) in (int, float) else value
    native = read(text)
    if isinstance(native, Wrong):
        raise grammar.error(where, f"the value is not of the type {kind}")
    return native
