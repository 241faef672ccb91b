"""From the attribute of a filter or sort to what a store can ask its rows (FL-31, FL-33, FL-71)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heraldry.model.datatypes import normal_timestamp
from heraldry.store.query import Level, Step, Term, Test

if TYPE_CHECKING:
    from heraldry.model.metamodel import Attribute, Attributes, GroupType, Model, ResourceType
    from heraldry.registry.session import Session

_ID: Final = ("#id",)
_XID: Final = ("#xid",)
_NEVER: Final = ("#never",)
_ENDS: Final = {"registry": "", "group": "", "resource": "", "meta": "/meta", "version": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose attributes a path names: the registry, or the entities of a type at one level."""

    model: Model
    level: str
    """``registry``, or a level of the store."""
    group: GroupType | None = None
    resource: ResourceType | None = None

    @property
    def place(self) -> tuple[str, ...]:
        """The names of the collections it is in: ``("dirs", "files", "versions")``."""
        names: list[str] = []
        if self.group is not None:
            names.append(self.group.plural)
        if self.resource is not None:
            names.append(self.resource.plural)
        if self.level == "version":
            names.append("versions")
        return tuple(names)

    @property
    def id(self) -> str:
        """The name of its id attribute."""
        if self.level == "version":
            return "versionid"
        owner = self.resource or self.group
        return f"{owner.singular}id" if owner is not None else "registryid"

    @property
    def attributes(self) -> Attributes:
        """The attributes the model gives it."""
        if self.resource is not None:
            meta = self.level == "meta"
            return self.resource.metaattributes if meta else self.resource.attributes
        return self.group.attributes if self.group is not None else self.model.attributes

    def below(self, name: Step) -> Owner | None:
        """What a collection, or ``meta``, holds; ``None``: it is an attribute."""
        if self.level == "registry" and name in self.model.groups:
            return Owner(model=self.model, level="group", group=self.model.groups[str(name)])
        if self.level == "group" and self.group is not None and name in self.group.resources:
            resource = self.group.resources[str(name)]
            return Owner(model=self.model, level="resource", group=self.group, resource=resource)
        if self.level == "resource" and name in ("versions", "meta"):
            level = "version" if name == "versions" else "meta"
            return Owner(model=self.model, level=level, group=self.group, resource=self.resource)
        return None

    @property
    def collections(self) -> tuple[str, ...]:
        """The names of the collections in it."""
        if self.level == "registry":
            return tuple(self.model.groups)
        if self.level == "group" and self.group is not None:
            return tuple(self.group.resources)
        return ("versions",) if self.level == "resource" else ()

    @property
    def computed(self) -> frozenset[str]:
        """Attributes every entity has though no row holds them, and that nothing compares to."""
        names = {name + end for name in self.collections for end in ("url", "count")}
        if self.level == "resource":
            names.add("metaurl")
        if self.level == "meta":
            names.add("defaultversionurl")
        return frozenset(names)


def row_path(owner: Owner, path: tuple[Step, ...]) -> tuple[Level, tuple[Step, ...]]:
    """The level of the store and the path there that an attribute is found by.

    A resource shows the attributes of its default version under an id of its own; meta entity
    and versions show the id of the resource.
    """
    level: Level = owner.level  # type: ignore[assignment]
    if len(path) > 1:
        return level, path
    name = path[0]
    resource_id = f"{owner.resource.singular}id" if owner.resource is not None else ""
    if name == resource_id:
        return "meta", _ID
    if name in ("xid", "self", "shortself"):
        return ("meta" if level == "resource" else level), _XID
    if name == "isdefault" and level in ("resource", "version"):
        return level, ("#isdefault",)
    if level == "resource" and name == "versionid":
        return "meta", ("defaultversionid",)
    if name == owner.id:
        return level, _ID
    return level, path


def resolved_term(
    session: Session, owner: Owner, path: tuple[Step, ...], test: Test, value: str
) -> Term:
    """The question a store is asked for an attribute, a test and a value."""
    level, found = row_path(owner, path)
    if found == _XID and test not in ("present", "absent"):
        value = _as_xid(session, owner, str(path[0]), value)
    if len(path) == 1 and path[0] in owner.computed:
        found = _ID if test in ("present", "absent") else _NEVER
    attribute = attribute_at(owner.attributes, path)
    if attribute is not None and attribute.type == "timestamp":
        value = _as_timestamp(value)
    kind = "/".join(owner.place[:2]) if level in ("meta", "resource") else "/".join(owner.place)
    return Term(level=level, type=kind, path=found, test=test, value=value)


def attribute_at(attributes: Attributes, path: tuple[Step, ...]) -> Attribute | None:
    """What the model says about an attribute; ``None`` where it says nothing certain."""
    found: Any = None
    for step in path:
        if found is None:
            found = attributes.get(str(step))
        elif found.type in ("map", "array"):
            found = found.item
        else:
            found = found.attributes.get(str(step))
        if found is None:
            return None
    return found  # type: ignore[no-any-return]


def _as_timestamp(value: str) -> str:
    """In UTC, as rows have it (FL-33); what is no timestamp stays as it is."""
    try:
        return normal_timestamp(value)
    except ValueError:
        return value


def _as_xid(session: Session, owner: Owner, name: str, value: str) -> str:
    """The xid of the row that an entity's address or xid stands for."""
    if name == "self":
        value = value.removeprefix(session.request.base).removesuffix("$details")
    end = _ENDS[owner.level]
    if end:
        value = value.removesuffix(end) if value.endswith(end) else value
    return value
