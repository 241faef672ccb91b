"""In which order entities show their attributes: known once per model and type (RG-01, VE-01)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from heraldry.model.spec_attributes import (
    Form,
    group_form,
    meta_form,
    registry_form,
    version_form,
)

if TYPE_CHECKING:
    from heraldry.dialects.xreg_1_0.wire import Wire
    from heraldry.model.metamodel import Attributes, GroupType, Model, ResourceType

T = TypeVar("T")

_KEPT: Final = 4096
"""How many types have their layouts remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The names of one kind of entity, stored and shown, in the order of the forms."""

    head: tuple[tuple[str, str], ...]
    """The specification's attributes, then the extensions the model names, by name."""
    tail: tuple[tuple[str, str], ...]
    """What the forms show behind all extensions."""
    known: frozenset[str]

    def order(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """These attributes in order, as they are shown; extensions without a definition by name.

        Attributes without a value and internal ones are left out (A-03).
        """
        body = {}
        for name, shown in self.head:
            value = values.get(name)
            if value is not None:
                body[shown] = value
        others = values.keys() - self.known
        if others:
            for name in sorted(others):
                if name[0] != "#" and values[name] is not None:
                    body[name] = values[name]
        for name, shown in self.tail:
            value = values.get(name)
            if value is not None:
                body[shown] = value
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceShape:
    """What is the same for all resources of a type."""

    group: GroupType
    type: ResourceType
    path: str
    """``dirs/files``."""
    versions: str
    """``dirs/files/versions``."""
    id: str
    details: str
    """``$details`` where a resource has a document, else nothing (HT-08)."""
    version: Layout
    meta: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShape:
    """What is the same for all groups of a type."""

    type: GroupType
    id: str
    layout: Layout
    resources: tuple[ResourceShape, ...]


_layouts: dict[tuple[int, str], tuple[Any, Any]] = {}
"""By the identity of a type, which is kept alive beside what was made of it, and the wire."""


def registry_layout(model: Model, wire: Wire) -> Layout:
    """Of the registry itself, without its collections."""
    form = registry_form(())
    return _remembered(
        model, wire.ancestor, lambda: _layout(form, model.attributes, hidden=_collections(model))
    )


def group_shape(type: GroupType, wire: Wire) -> GroupShape:  # noqa: A002
    """Of the groups of a type."""
    return _remembered(type, wire.ancestor, lambda: _group_shape(type, wire))


def resource_shape(group: GroupType, plural: str, wire: Wire) -> ResourceShape:
    """Of the resources of a type; the type must be there."""
    shapes = group_shape(group, wire).resources
    return next(shape for shape in shapes if shape.type.plural == plural)


def _remembered(owner: object, key: str, make: Callable[[], T]) -> T:
    found = _layouts.get((id(owner), key))
    if found is None:
        if len(_layouts) >= _KEPT:
            _layouts.clear()
        found = _layouts[id(owner), key] = (owner, make())
    made: T = found[1]
    return made


def _group_shape(type: GroupType, wire: Wire) -> GroupShape:  # noqa: A002
    form = group_form(type.singular, ())
    hidden = [name + end for name in type.resources for end in ("", "url", "count")]
    return GroupShape(
        type=type,
        id=f"{type.singular}id",
        layout=_layout(form, type.attributes, hidden=hidden),
        resources=tuple(_resource_shape(type, one, wire) for one in type.resources.values()),
    )


def _resource_shape(group: GroupType, type: ResourceType, wire: Wire) -> ResourceShape:  # noqa: A002
    path = f"{group.plural}/{type.plural}"
    version = version_form(type.singular, hasdocument=type.hasdocument)
    renamed = {"ancestorid": wire.outside("ancestorid")}
    return ResourceShape(
        group=group,
        type=type,
        path=path,
        versions=f"{path}/versions",
        id=f"{type.singular}id",
        details="$details" if type.hasdocument else "",
        version=_layout(version, type.attributes, renamed=renamed),
        meta=_layout(meta_form(type.singular), type.metaattributes),
    )


def _layout(
    form: Form,
    attributes: Attributes,
    *,
    hidden: Iterable[str] = (),
    renamed: Mapping[str, str] | None = None,
) -> Layout:
    names = renamed or {}
    spec = form.all
    gone = {"*", *hidden}
    extensions = sorted(name for name in attributes if name not in spec and name not in gone)
    head = [*form.head, *extensions]
    return Layout(
        head=tuple((name, names.get(name, name)) for name in head),
        tail=tuple((name, names.get(name, name)) for name in form.tail),
        known=frozenset((*spec, *extensions)),
    )


def _collections(model: Model) -> list[str]:
    return [name + end for name in model.groups for end in ("", "url", "count")]
