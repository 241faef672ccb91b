"""Whether the attributes of an entity are as its type has them (A-12, MD-11..MD-23).

    conform(kind.attributes, {"name": "one", "size": 3}, subject="/dirs/d1", model=model)

A map of attributes is compiled once: names lead straight to checks of their values, and the
attributes that an ``ifvalues`` brings in are merged once per combination of values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from heraldry.errors import RegistryError
from heraldry.model.conform_values import (
    Fault,
    faulty,
    non_empty,
    not_removed_early,
    value_check,
)
from heraldry.model.datatypes import (
    KEY_FORM,
    NAME_FORM,
    SCALARS,
    Check,
    check_length,
    is_key,
    is_name,
    value_text,
)
from heraldry.model.dotpath import text_of
from heraldry.model.metamodel import Attribute, Attributes, Model

_DEPRECATION: Final = ("effective", "removal")
_NOTHING: Final[frozenset[str]] = frozenset()
_MOST_FORMS: Final = 4096
"""Compiled maps that are kept; those of models that are gone go with the next clearing."""
_MOST_CHOICES: Final = 256

_whole = re.compile(r"-?[0-9]{1,3900}").fullmatch
_number = re.compile(r"-?[0-9]{1,3900}(?:\.[0-9]{1,3900})?(?:[eE][+-]?[0-9]{1,9})?").fullmatch


def conform(
    attributes: Attributes,
    values: Mapping[str, Any],
    *,
    subject: str,
    model: Model,
    computed: Collection[str] = _NOTHING,
) -> dict[str, Any]:
    """The stored attributes of one entity in normal form, or the error that they are.

    ``values`` are complete (already merged); null is absent (A-03), but not under a name that
    the type has under no condition (A-12). Defaults are set, timestamps
    are in UTC, the order is kept. Names in ``computed`` are neither required nor get defaults.
    Internal names (``#...``) are not legal here: they must be kept apart.
    """
    try:
        return _form(attributes, frozenset(computed)).check(values, model)
    except Fault as fault:
        raise _error(fault, subject) from None


def writable(
    attributes: Attributes, values: Mapping[str, Any], keep: Collection[str] = ()
) -> dict[str, Any]:
    """What a request may set: its values without those of read-only attributes (GN-08, MD-17).

    Whatever they are, they are ignored, also inside objects. Names in ``keep`` stay: ids and
    ``epoch`` are compared.
    """
    form = _form(attributes, _NOTHING)
    with suppress(Fault):  # conform() tells what is wrong
        form = form.active(values)
    return {
        name: _without_readonly(form.guarded[name], value) if name in form.guarded else value
        for name, value in values.items()
        if name not in form.readonly or name in keep
    }


def read_text(
    attribute: Attribute | None, text: str, *, subject: str, name: str | None = None
) -> Any:
    """The text of a header as a value of the attribute's type; ``None`` and any: a string (T-12).

    ``name`` is what errors call it, where that is not the attribute's own name.
    """
    kind = "string" if attribute is None else attribute.type
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind in ("integer", "uinteger") and _whole(text) is not None:
        return int(text)
    if kind == "decimal" and _number(text) is not None:
        return int(text) if _whole(text) is not None else float(text)
    if kind in ("boolean", "integer", "uinteger", "decimal", "object", "map", "array"):
        article = "an" if kind[0] in "aio" else "a"
        shown = name if name is not None or attribute is None else attribute.name
        arguments = {"name": shown or "", "error_detail": f"must be {article} {kind}"}
        raise RegistryError("invalid_attribute", subject, arguments)
    return text


def _error(fault: Fault, subject: str) -> RegistryError:
    path = tuple(reversed(fault.path))
    if not fault.names:
        arguments = {"name": text_of(path), "error_detail": fault.detail}
        return RegistryError("invalid_attribute", subject, arguments)
    names = [text_of((*path, name)) if path else name for name in fault.names]
    if fault.error == "required_attribute_missing":
        return RegistryError(fault.error, subject, {"list": ",".join(names)})
    if fault.error == "invalid_attribute":
        arguments = {"name": names[0], "error_detail": fault.detail}
        return RegistryError(fault.error, subject, arguments)
    detail = f"All of them: {', '.join(names)}." if len(names) > 1 else ""
    return RegistryError(fault.error, subject, {"name": names[0]}, detail)


class _Switch:
    """An attribute with ``ifvalues``: by the text of its value, what comes along (MD-21)."""

    __slots__ = ("branches", "default", "name")

    def __init__(self, attribute: Attribute) -> None:
        self.name = attribute.name
        self.default = attribute.default
        self.branches = {
            text.lower(): (siblings, switches_of(siblings))
            for text, siblings in attribute.ifvalues.items()
        }

    def choose(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Attributes]]:
        """The attributes that its value brings along, and those that theirs do."""
        value = values.get(self.name)
        value = self.default if value is None else value
        branch = None
        if isinstance(value, str | int | float):
            branch = self.branches.get(value_text(value).lower())
        if branch is None:
            return
        siblings, switches = branch
        yield self.name, siblings
        for switch in switches:
            yield from switch.choose(values)


def _possible(attributes: Attributes) -> Iterator[str]:
    """The names that attributes have, and those that any of their values may bring along."""
    yield from attributes
    for attribute in attributes.values():
        for siblings in attribute.ifvalues.values():
            yield from _possible(siblings)


def switches_of(attributes: Attributes) -> tuple[_Switch, ...]:
    """Those attributes of a map whose values bring others along."""
    return tuple(_Switch(found) for found in attributes.values() if found.ifvalues)


class _Form:
    """A compiled map of attributes: the checks of one level of an entity."""

    __slots__ = (
        *("attributes", "checks", "choices", "computed", "defaults", "extended", "guarded"),
        *("possible", "readonly", "required", "star", "star_scalar", "switches", "top"),
    )

    def __init__(
        self,
        attributes: Attributes,
        computed: frozenset[str] = _NOTHING,
        *,
        extended: bool = False,
        top: bool = False,
    ) -> None:
        named = {name: found for name, found in attributes.items() if name != "*"}
        star = attributes.get("*")
        self.attributes = attributes
        self.computed = computed
        self.extended = extended
        self.top = top
        self.checks = {name: value_check(found, _nested) for name, found in named.items()}
        self.star = None if star is None else value_check(star, _nested)
        self.possible = frozenset(_possible(attributes))
        self.star_scalar = star is not None and star.type in SCALARS
        set_here = [found for name, found in named.items() if name not in computed]
        self.required = frozenset(found.name for found in set_here if found.required)
        self.defaults = tuple((f.name, f.default) for f in set_here if f.default is not None)
        self.readonly = frozenset(n for n, f in named.items() if f.readonly or f.immutable)
        self.guarded = {n: f for n, f in named.items() if _guards(f)}
        self.switches = switches_of(named)
        self.choices: dict[tuple[int, ...], _Form] = {}
        if top:
            self._add_rules_of_the_specification(named)

    def _add_rules_of_the_specification(self, named: Attributes) -> None:
        """Rules that the model language cannot state (CA-11, CA-15, ME-06, VE-10)."""
        for name in _filled(named):
            self.checks[name] = non_empty(self.checks[name])
        deprecated = named["deprecated"].attributes if "deprecated" in named else {}
        if all(n in deprecated and deprecated[n].type == "timestamp" for n in _DEPRECATION):
            self.checks["deprecated"] = not_removed_early(self.checks["deprecated"])

    def active(self, values: Mapping[str, Any]) -> _Form:
        """This form with all that the values bring along (MD-21..MD-23)."""
        if not self.switches:
            return self
        chosen = [choice for switch in self.switches for choice in switch.choose(values)]
        if not chosen:
            return self
        key = tuple(id(siblings) for _, siblings in chosen)
        found = self.choices.get(key)
        if found is None:
            if len(self.choices) >= _MOST_CHOICES:
                self.choices.clear()
            found = self.choices[key] = self._with(chosen)
        return found

    def _with(self, chosen: list[tuple[str, Attributes]]) -> _Form:
        merged = dict(self.attributes)
        for switch, siblings in chosen:
            for name, sibling in siblings.items():
                if name in merged:
                    detail = f"its value brings in {name!r}, which is already there"
                    raise Fault("invalid_attribute", detail, path=[switch])
                merged[name] = sibling
        return _Form(merged, self.computed, extended=self.extended, top=self.top)

    def check(self, values: Mapping[str, Any], model: Model) -> dict[str, Any]:
        """The values in normal form; the fault that was found first is raised."""
        form = self.active(values) if self.switches else self
        checks = form.checks
        normal: dict[str, Any] = {}
        others: list[str] = []
        name = ""
        try:
            for name, value in values.items():
                if value is None:
                    if not self._may_have(name):
                        others.append(name)
                    continue
                check = checks.get(name)
                if check is None:
                    others.append(name)
                else:
                    normal[name] = check(value, model)
        except (Fault, ValueError) as error:
            raise faulty(error, name) from None
        if others:
            others = form._check_others(others, values, model, normal)
        for name, default in form.defaults:
            if name not in normal:
                normal[name] = default
        if not form.required <= normal.keys():
            missing = [name for name in form.attributes if name in form.required - normal.keys()]
            raise Fault("required_attribute_missing", names=missing)
        if others:
            raise Fault("unknown_attribute", names=sorted(others))
        return normal

    def _may_have(self, name: str) -> bool:
        return self.star is not None or name in self.possible

    def _check_others(
        self, names: list[str], values: Mapping[str, Any], model: Model, normal: dict[str, Any]
    ) -> list[str]:
        """Check what only ``*`` may admit; names that nothing admits are returned (A-12)."""
        is_legal, rule = (is_key, KEY_FORM) if self.extended else (is_name, NAME_FORM)
        for name in names:
            if is_legal(name) is None:
                raise Fault("invalid_attribute", f"its name {rule}", names=[name])
        if self.star is None:
            return names
        for name in names:
            try:
                found = self.star(values[name], model)
                if self.star_scalar and isinstance(found, str):
                    check_length(name, found)
            except (Fault, ValueError) as error:
                raise faulty(error, name) from None
            normal[name] = found
        return []


def _filled(named: Attributes) -> list[str]:
    """The attributes that must not be empty; what meta entities call ``name`` is an extension."""
    if "defaultversionid" in named:
        names: tuple[str, ...] = ("compatibility",)
    elif "ancestorid" in named:
        names = ("name", "documentation", "icon", "format")
    else:
        names = ("name", "documentation", "icon")
    return [name for name in names if name in named]


def _nested(attribute: Attribute) -> Check:
    form = _Form(attribute.attributes, extended=attribute.namecharset.lower() == "extended")
    inside = form.check

    def check(value: Any, model: Model) -> Any:
        if not isinstance(value, dict):
            raise ValueError("must be an object")  # noqa: TRY004
        return inside(value, model)

    return check


def _guards(attribute: Attribute) -> bool:
    """Whether there are read-only attributes somewhere inside an attribute."""
    inside = [*attribute.attributes.values()]
    for member in attribute.attributes.values():
        inside += [sibling for branch in member.ifvalues.values() for sibling in branch.values()]
    if any(member.readonly or _guards(member) for member in inside):
        return True
    return attribute.item is not None and _guards(attribute.item)


def _without_readonly(attribute: Attribute, value: Any) -> Any:
    if isinstance(value, list) and attribute.item is not None:
        return [_without_readonly(attribute.item, item) for item in value]
    if not isinstance(value, dict):
        return value
    if attribute.item is not None:
        return {key: _without_readonly(attribute.item, item) for key, item in value.items()}
    return writable(attribute.attributes, value) if attribute.attributes else value


_forms: dict[tuple[int, frozenset[str]], _Form] = {}


def _form(attributes: Attributes, computed: frozenset[str]) -> _Form:
    # A form holds its map, so no other map can get the same identity while it is here.
    key = (id(attributes), computed)
    form = _forms.get(key)
    if form is None:
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        form = _forms[key] = _Form(attributes, computed, top=True)
    return form
