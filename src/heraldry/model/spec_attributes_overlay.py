"""Laying the attributes of a model's source over those of the specification (MD-03, MD-04)."""

from __future__ import annotations

from dataclasses import replace

from heraldry.model.metamodel import Attribute, Attributes
from heraldry.model.model_reading_aspects import fault, within
from heraldry.model.spec_attributes import Form


def overlay(form: Form, given: Attributes, path: str) -> dict[str, Attribute]:
    """All attributes of a level: head, extensions as given, tail."""
    spec = form.all
    extensions = {name: given[name] for name in given if name not in spec}
    return {
        **{name: _narrowed(name, spec, given, path) for name in form.head},
        **extensions,
        **{name: _narrowed(name, spec, given, path) for name in form.tail},
    }


def _narrowed(name: str, spec: Attributes, given: Attributes, path: str) -> Attribute:
    defined, wanted = spec[name], given.get(name)
    if wanted is None:
        return defined
    where = within(path, name)
    if wanted.type in ("uri", "xid") and defined.type == "url" and not defined.readonly:
        wanted = replace(wanted, type="url")  # the specification says both (KD-19)
    _check_same_type(defined, wanted, where)
    for aspect in ("required", "readonly"):
        if getattr(defined, aspect) and not getattr(wanted, aspect):
            raise fault(f"{where} must have {aspect} set to true, as the specification has it")
    if defined.default is not None and wanted.default is None:
        raise fault(f"{where} must have a default, as the specification gives it one")
    _check_enum(defined, wanted, where)
    wanted = replace(
        wanted,
        matchcase=wanted.matchcase or defined.matchcase,
        immutable=wanted.immutable or defined.immutable,
    )
    return _complete(defined, wanted, where)


def _check_same_type(defined: Attribute, wanted: Attribute, where: str) -> None:
    if wanted.type != defined.type:
        raise fault(f"{where} must have the type {defined.type}, as the specification has it")
    if defined.item is not None and wanted.item is not None:
        _check_same_type(defined.item, wanted.item, within(where, "item"))


def _check_enum(defined: Attribute, wanted: Attribute, where: str) -> None:
    if not defined.enum or not defined.strict:
        return
    allowed = ", ".join(map(str, defined.enum))
    if not wanted.strict:
        raise fault(f"{where} must have strict set to true, as the specification has it")
    if not wanted.enum or not set(map(str, wanted.enum)) <= set(map(str, defined.enum)):
        raise fault(f"{where} must have an enum of some of: {allowed}")


def _complete(defined: Attribute, wanted: Attribute, where: str) -> Attribute:
    """Nested attributes of the specification stay too; ``*`` may be left out (narrowing)."""
    if wanted.item is not None and defined.item is not None:
        return replace(wanted, item=_complete(defined.item, wanted.item, within(where, "item")))
    if not wanted.attributes:
        return replace(wanted, attributes=defined.attributes)
    named = {name: a for name, a in defined.attributes.items() if name != "*"}
    nested = {name: _narrowed(name, defined.attributes, wanted.attributes, where) for name in named}
    return replace(wanted, attributes={**nested, **_others(wanted.attributes, named)})


def _others(attributes: Attributes, named: Attributes) -> Attributes:
    return {name: attribute for name, attribute in attributes.items() if name not in named}
