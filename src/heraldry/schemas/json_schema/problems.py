"""The errors of the JSON Schema validator as problems: located, and free of the value found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema_rs

from heraldry.model.problem import Problem
from heraldry.schemas.located import pointer, short


def to_problem(error: jsonschema_rs.ValidationError) -> Problem:
    """The problem of one validation error; its rule is the keyword that refused the value."""
    kind = error.kind
    rule = kind.name
    path = error.schema_path
    if path and path[-1] in _DEPENDENT:
        rule = str(path[-1])
    elif rule == "falseSchema" and path[-1:] == _CLOSED and error.instance_path[-1:] != _CLOSED:
        # An object closed without any members of its own is reported as a false schema, once.
        rule = _CLOSED[0]
    message, expected = _worded(rule, kind)
    found = kind.value if rule in _NAMING and kind.value is not None else error.instance
    return Problem(
        path=pointer(error.instance_path),
        rule=rule,
        message=message,
        expected=expected,
        found=short(found),
    )


# The validator reports these under the name of another keyword.
_DEPENDENT = frozenset(("dependencies", "dependentRequired", "minContains", "maxContains"))
# Here the value of the error lists the members that are too many.
_NAMING = frozenset(("additionalProperties", "unevaluatedProperties"))
_CLOSED = ["additionalProperties"]

_LIMITS = {
    "minimum": "is less than the minimum of",
    "maximum": "is greater than the maximum of",
    "exclusiveMinimum": "is not greater than the exclusive minimum of",
    "exclusiveMaximum": "is not less than the exclusive maximum of",
    "multipleOf": "is not a multiple of",
    "minLength": "has fewer characters than",
    "maxLength": "has more characters than",
    "minItems": "has fewer items than",
    "maxItems": "has more items than",
    "additionalItems": "has more items than",
    "minProperties": "has fewer properties than",
    "maxProperties": "has more properties than",
}
_PLAIN = {
    "enum": "is not one of the allowed values",
    "const": "is not the one allowed value",
    "pattern": "does not match the pattern",
    "additionalProperties": "has properties the schema does not allow",
    "unevaluatedProperties": "has properties the schema does not allow",
    "unevaluatedItems": "has items the schema does not allow",
    "propertyNames": "has a property whose name is not allowed",
    "contains": "has no item of the kind that must be there",
    "minContains": "has too few items of the kind that must be there",
    "maxContains": "has too many items of the kind that must be there",
    "uniqueItems": "has equal items",
    "anyOf": "fits none of the allowed alternatives",
    "not": "is of a kind the schema forbids",
    "falseSchema": "is not allowed here",
    "contentEncoding": "is not encoded as the schema demands",
    "contentMediaType": "is not of the media type the schema demands",
}


def _worded(rule: str, kind: jsonschema_rs.ValidationErrorKind) -> tuple[str, str | None]:
    if isinstance(kind, _SPOKEN_TYPES):
        return _SPOKEN[type(kind)](kind)
    if rule in _LIMITS:
        limit = short(kind.value)
        return f"{_LIMITS[rule]} {limit}", limit
    message = _PLAIN.get(rule, "does not satisfy the schema")
    if rule in ("enum", "const", "not"):
        return message, short(kind.value)
    return message, kind.value if isinstance(kind.value, str) and rule == "pattern" else None


def _type(kind: Any) -> tuple[str, str]:
    names = " or ".join(kind.types)
    return f"is not of type {names}", names


def _required(kind: Any) -> tuple[str, str]:
    return f"misses the required property {kind.property!r}", str(kind.property)


def _format(kind: Any) -> tuple[str, str]:
    return f"is not a valid {kind.format}", str(kind.format)


def _one_of_none(_kind: Any) -> tuple[str, None]:
    return "fits none of the allowed alternatives", None


def _one_of_many(_kind: Any) -> tuple[str, None]:
    return "fits more than one of the alternatives", None


_Kind = jsonschema_rs.ValidationErrorKind
_SPOKEN: dict[type, Callable[[Any], tuple[str, str | None]]] = {
    _Kind.Type: _type,
    _Kind.Required: _required,
    _Kind.Format: _format,
    _Kind.OneOfNotValid: _one_of_none,
    _Kind.OneOfMultipleValid: _one_of_many,
}
_SPOKEN_TYPES = tuple(_SPOKEN)
