"""What a group demands of the versions of its resources (MD-50..MD-55).

A group type has constraints, each group may narrow them; :func:`rules_of` gives what is in force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import CHECKS, SCALARS, comparable, value_text
from heraldry.model.dotpath import parse_path, text_of, value_at
from heraldry.model.metamodel import Attribute, Attributes, Constraint, GroupType, Model

_MOST_TYPES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A constraint in force on the versions of one type of resource."""

    path: tuple[str, ...]
    default: Any = None
    enum: tuple[Any, ...] = ()
    equals: tuple[str, ...] = ()
    """The path of the group's attribute that must have the same value; empty: none."""
    matchcase: bool = False


Rules = Mapping[str, tuple[Rule, ...]]
"""By the plural name of the type of resource; types without rules are left out."""

_of_types: dict[int, tuple[GroupType, Rules]] = {}


def check_type(group: GroupType) -> None:
    """``model_error`` for a constraint of a group type that cannot be applied (MD-50..MD-53)."""
    for key, constraint in group.constraints.items():
        try:
            _rule(group, key, constraint, Constraint())
        except ValueError as error:
            detail = f"groups.{group.plural}.constraints.{key} {error}"
            raise RegistryError("model_error", "/model", {"error_detail": detail}) from None


def rules_of(group: GroupType, given: Mapping[str, Any] | None, *, subject: str) -> Rules:
    """The constraints in force: those of the type, narrowed by a group's own (MD-55).

    ``given`` is the group's attribute ``constraints`` in normal form; ``bad_request`` where it
    does not fit the model, or widens what the type demands.
    """
    if not given:
        return _of_type(group)
    found: dict[str, tuple[Rule, ...]] = {}
    for key in dict.fromkeys((*group.constraints, *given)):
        own = given.get(key) or {}
        narrowed = Constraint(
            default=own.get("default"),
            enum=tuple(own.get("enum") or ()),
            equals=own.get("equals") or "",
        )
        try:
            plural, rule = _rule(group, key, narrowed, group.constraints.get(key, Constraint()))
        except ValueError as error:
            detail = f"the constraint {key!r} {error}"
            raise RegistryError("bad_request", subject, {"error_detail": detail}) from None
        found[plural] = (*found.get(plural, ()), rule)
    return found


def _of_type(group: GroupType) -> Rules:
    known = _of_types.get(id(group))
    if known is not None:  # it holds its group type, so the identity is no other's
        return known[1]
    found: dict[str, tuple[Rule, ...]] = {}
    for key, constraint in group.constraints.items():
        plural, rule = _rule(group, key, constraint, Constraint())
        found[plural] = (*found.get(plural, ()), rule)
    if len(_of_types) >= _MOST_TYPES:
        _of_types.clear()
    _of_types[id(group)] = (group, found)
    return found


def with_defaults(rules: Sequence[Rule], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A version's attributes with the defaults of its group, which go before the model's (MD-51).

    One inside an object is set only where the object is there.
    """
    for rule in rules:
        if rule.default is not None and value_at(values, rule.path) is None:
            values = _with(values, rule.path, rule.default)
    return values


def _with(values: Mapping[str, Any], path: tuple[str, ...], default: Any) -> Mapping[str, Any]:
    name, *rest = path
    if not rest:
        return {**values, name: default}
    inside = values.get(name)
    if not isinstance(inside, dict):
        return values
    return {**values, name: _with(inside, tuple(rest), default)}


def check_versions(
    rules: Sequence[Rule],
    group: Mapping[str, Any],
    versions: Mapping[str, Mapping[str, Any]],
    *,
    subject: str,
) -> None:
    """``constraint_failure`` where versions of a resource break a rule of its group (MD-52..54).

    ``group`` and ``versions`` (by id) are attributes in normal form, also of borrowed versions;
    ``subject`` is the xid of the resource. An attribute of the group without value demands
    nothing.
    """
    for rule in rules:
        found = {name: value_at(version, rule.path) for name, version in versions.items()}
        if rule.equals:
            wanted = _comparable(rule, value_at(group, rule.equals))
            if wanted is not None:
                broken = [
                    name for name, value in found.items() if _comparable(rule, value) != wanted
                ]
                _refuse(rule, "equals", broken, subject)
        if rule.enum:
            allowed = {_comparable(rule, value) for value in rule.enum} | {None}
            broken = [
                name for name, value in found.items() if _comparable(rule, value) not in allowed
            ]
            _refuse(rule, "enum", broken, subject)


def _comparable(rule: Rule, value: Any) -> Any:
    return comparable(value, matchcase=rule.matchcase)


def _refuse(rule: Rule, kind: str, broken: list[str], subject: str) -> None:
    if broken:
        arguments = {"path": text_of(rule.path), "kind": kind}
        detail = f"Versions: {', '.join(broken)}."
        if kind == "enum":
            detail += f" Allowed values: {_listing(rule.enum)}."
        raise RegistryError("constraint_failure", subject, arguments, detail)


def _rule(group: GroupType, key: str, own: Constraint, base: Constraint) -> tuple[str, Rule]:
    """The rule that a constraint makes together with the one it narrows; ValueError: why not."""
    plural, path, attribute = _constrained(group, key)
    inherited = base.enum or (attribute.enum if attribute.strict else ())
    enum = tuple(_value(attribute, value, "enum") for value in own.enum)
    for value in enum:
        if not _among(attribute, value, inherited):
            allowed = _listing(inherited)
            raise ValueError(f"has the enum value {value_text(value)}, outside of {allowed}")
    default = own.default if own.default is not None else base.default
    if default is not None:
        default = _value(attribute, default, "default")
    effective = default if default is not None else (attribute.default if enum else None)
    if effective is not None and not _among(attribute, effective, enum or inherited):
        allowed = _listing(enum or inherited)
        raise ValueError(f"has or leaves the default {value_text(effective)}, outside of {allowed}")
    return plural, Rule(
        path=path,
        default=default,
        enum=enum or tuple(_value(attribute, value, "enum") for value in base.enum),
        equals=_equal(group, attribute, own.equals, base.equals),
        matchcase=attribute.matchcase,
    )


def _constrained(group: GroupType, key: str) -> tuple[str, tuple[str, ...], Attribute]:
    plural, dot, rest = key.partition(".")
    if not dot or not rest:
        raise ValueError("must have the form RESOURCES.PATH")
    resource = group.resources.get(plural)
    if resource is None:
        raise ValueError(f"has the unknown Resource type {plural!r}")
    path, attribute = _static(resource.attributes, rest)
    return plural, path, attribute


def _static(attributes: Attributes, text: str) -> tuple[tuple[str, ...], Attribute]:
    """The scalar attribute at a path that leads through objects only (MD-16, MD-50)."""
    steps = parse_path(text)
    names = tuple(step for step in steps if isinstance(step, str))
    if len(names) < len(steps):
        raise ValueError(f"has the path {text!r}, which leads into an array or has a wildcard")
    found = None
    for name in names:
        if found is not None and found.type != "object":
            raise ValueError(f"has the path {text!r}, but {found.name!r} is not an object")
        found = (attributes if found is None else found.attributes).get(name)
        if found is None or name == "*":
            raise ValueError(f"has the path {text!r}, but there is no attribute {name!r}")
    if found is None or found.type not in SCALARS:
        raise ValueError(f"has the path {text!r}, which is not a scalar attribute")
    return names, found


def _equal(group: GroupType, attribute: Attribute, own: str, base: str) -> tuple[str, ...]:
    if own and base and own != base:
        raise ValueError(f"must not change equals from {base!r} to {own!r}")
    if not own and not base:
        return ()
    try:
        path, other = _static(group.attributes, own or base)
    except ValueError as error:
        raise ValueError(f"has an equals that cannot be used: it {error}") from None
    if other.type != attribute.type:
        raise ValueError(
            f"is about a {attribute.type}, but its equals {text_of(path)!r} is a {other.type}"
        )
    return path


def _value(attribute: Attribute, value: Any, aspect: str) -> Any:
    # What types an xid may have, the group type does not tell: the version's own check does.
    kind = "string" if attribute.type in ("xid", "xidtype") else attribute.type
    try:
        return CHECKS[kind](value, Model())
    except ValueError as error:
        raise ValueError(f"has the {aspect} value {value_text(value)}, which {error}") from None


def _among(attribute: Attribute, value: Any, allowed: Sequence[Any]) -> bool:
    """Whether a value is one of those that are allowed; an empty list allows all."""
    case = attribute.matchcase
    return not allowed or comparable(value, matchcase=case) in {
        comparable(item, matchcase=case) for item in allowed
    }


def _listing(values: Sequence[Any]) -> str:
    return ", ".join(map(value_text, values))
