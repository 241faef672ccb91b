"""Checks of single values, made from the definitions of their attributes (T, MD-12..MD-20)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from heraldry.model.datatypes import (
    CHECKS,
    KEY_FORM,
    SCALARS,
    Check,
    check_length,
    comparable,
    is_key,
    target_check,
    value_text,
)
from heraldry.model.dotpath import Step
from heraldry.model.metamodel import Attribute, Model

_WORDS = frozenset(("boolean", "decimal", "integer", "uinteger"))
"""Scalars that are not texts, and so are never too long (A-04)."""


class Fault(Exception):  # noqa: N818
    """What is wrong with a value, while the path to it is being collected, innermost step first."""

    def __init__(
        self,
        error: str,
        detail: str = "",
        *,
        names: Iterable[str] = (),
        path: list[Step] | None = None,
    ) -> None:
        super().__init__(error, detail)
        self.error, self.detail, self.names = error, detail, tuple(names)
        self.path: list[Step] = path or []


def faulty(error: Fault | ValueError, step: Step) -> Fault:
    """The fault of the value that ``step`` leads to."""
    if isinstance(error, Fault):
        error.path.append(step)
        return error
    return Fault("invalid_attribute", str(error), path=[step])


def value_check(attribute: Attribute, of_object: Callable[[Attribute], Check]) -> Check:
    """The check of an attribute's values; ``of_object`` makes those of objects."""
    if attribute.type == "object":
        return of_object(attribute)
    if attribute.type not in ("map", "array"):
        return _scalar(attribute) if attribute.type in SCALARS else CHECKS[attribute.type]
    item = attribute.item or Attribute(name="", type="any")
    if attribute.enum:  # the official endpoint model puts it beside the item (KD-6)
        item = replace(item, enum=attribute.enum, strict=attribute.strict)
    made = value_check(item, of_object)
    return _map(made, scalar=item.type in SCALARS) if attribute.type == "map" else _array(made)


def _scalar(attribute: Attribute) -> Check:
    check = CHECKS[attribute.type]
    if attribute.target:
        check = target_check(check, attribute.target, xid=attribute.type == "xid")
    if attribute.enum and attribute.strict:
        return _one_of(check, attribute)
    if attribute.type in _WORDS:
        return check
    name = attribute.name

    def short(value: Any, model: Model) -> Any:
        normal = check(value, model)
        if len(normal) > 800:
            check_length(name, normal)
        return normal

    return short


def _one_of(check: Check, attribute: Attribute) -> Check:
    """Strict enumerations: texts compare ignoring case unless ``matchcase`` (MD-14, MD-15)."""
    matchcase = attribute.matchcase
    allowed = frozenset(
        comparable(_normal(check, value), matchcase=matchcase) for value in attribute.enum
    )
    listing = ", ".join(map(value_text, attribute.enum))

    def member(value: Any, model: Model) -> Any:
        normal = check(value, model)
        if comparable(normal, matchcase=matchcase) not in allowed:
            raise ValueError(
                f"value ({value_text(value)}) must be one of the enum values: {listing}"
            )
        return normal

    return member


def _normal(check: Check, value: Any) -> Any:
    try:
        return check(value, Model())
    except ValueError:  # an xid of a type that only the whole model knows
        return value


def _array(check: Check) -> Check:
    def items(value: Any, model: Model) -> Any:
        if not isinstance(value, list):
            raise ValueError("must be an array")  # noqa: TRY004
        normal: list[Any] = []
        try:
            normal.extend(check(item, model) for item in value)
        except (Fault, ValueError) as error:
            raise faulty(error, len(normal)) from None
        return normal

    return items


def _map(check: Check, *, scalar: bool) -> Check:
    """Null values are absent; keys have their own form (T-06)."""

    def members(value: Any, model: Model) -> Any:
        if not isinstance(value, dict):
            raise ValueError("must be a map")  # noqa: TRY004
        normal = {}
        for key, item in value.items():
            if is_key(key) is None:
                raise ValueError(f"has the key {key!r}, but a key {KEY_FORM}")
            if item is None:
                continue
            try:
                found = check(item, model)
                if scalar and isinstance(found, str):
                    check_length(key, found)
            except (Fault, ValueError) as error:
                raise faulty(error, key) from None
            normal[key] = found
        return normal

    return members


def non_empty(check: Check) -> Check:
    """Narrow a check to texts that are not empty (CA-11)."""

    def narrowed(value: Any, model: Model) -> Any:
        if value == "":
            raise ValueError("must not be empty")
        return check(value, model)

    return narrowed


def not_removed_early(check: Check) -> Check:
    """Narrow the check of ``deprecated``: no removal before it takes effect (CA-15)."""

    def narrowed(value: Any, model: Model) -> Any:
        normal = check(value, model)
        effective, removal = normal.get("effective"), normal.get("removal")
        # Without their Z, the order of timestamps is the order of time.
        if effective and removal and removal[:-1] < effective[:-1]:
            detail = "must not be sooner than deprecated.effective"
            raise Fault("invalid_attribute", detail, path=["removal"])
        return normal

    return narrowed
