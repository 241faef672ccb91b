"""Reading: what a GET shows of any part of the registry, and what writes answer with (HT-12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import RegistryError
from heraldry.registry.capabilities import require_available
from heraldry.registry.export import export_flags
from heraldry.registry.filtering import read_filter
from heraldry.registry.filtering_scope import Scope, scope_of
from heraldry.registry.filtering_terms import Owner
from heraldry.registry.inlining import (
    ALL,
    NOTHING,
    SETTINGS,
    Inlining,
    in_group,
    in_registry,
    in_resource,
    in_version,
    read_inline,
)
from heraldry.registry.read_entities import Reading
from heraldry.registry.read_settings import SETTING_PLACES, show_setting
from heraldry.registry.request import Flags, Place, Reply, Target
from heraldry.registry.sorting import read_sort
from heraldry.registry.view import view_of
from heraldry.registry.view_layout import resource_shape
from heraldry.registry.view_tree import Each, Tree, value_of

if TYPE_CHECKING:
    from heraldry.registry.session import Session
    from heraldry.store.rows import Row

_COLLECTIONS: Final = frozenset((Place.GROUPS, Place.RESOURCES, Place.VERSIONS))
_WITH_COLLECTIONS: Final = frozenset((Place.REGISTRY, Place.GROUP, Place.EXPORT))
_LEVELS: Final = {
    Place.REGISTRY: "registry",
    Place.EXPORT: "registry",
    Place.GROUPS: "group",
    Place.GROUP: "group",
    Place.RESOURCES: "resource",
    Place.RESOURCE: "resource",
    Place.META: "meta",
    Place.VERSIONS: "version",
    Place.VERSION: "version",
}


def show(session: Session, target: Target) -> Reply:
    """The reply to a GET of a target with the request's flags, or ``not_found`` (KD-16)."""
    if target.place in SETTING_PLACES:
        return show_setting(session, target)
    owner = owner_of(session, target)
    flags = session.request.flags
    if target.place is Place.EXPORT:
        flags = export_flags(session, flags)
    _check_flags(session, target, flags)
    reading = Reading(
        session=session,
        target=target,
        flags=flags,
        owner=owner,
        view=view_of(session, _root(target), doc=flags.doc, binary=flags.binary),
        inline=inlining_of(session, target, flags, owner),
        order=read_sort(session, flags.sort, owner),
        asked=scope_of(read_filter(session, flags.filter, owner)),
    )
    return reading.reply()


def owner_of(session: Session, target: Target) -> Owner:
    """The types a path names; ``not_found`` for unknown ones (KD-16)."""
    level = _LEVELS[target.place]
    if level == "registry":
        return Owner(model=session.model, level=level)
    group = session.model.groups.get(target.groups)
    if group is None:
        detail = f"There is no Group type {target.groups}."
        raise RegistryError("not_found", f"/{target.groups}", detail=detail)
    if level == "group":
        return Owner(model=session.model, level=level, group=group)
    resource = group.resources.get(target.resources)
    if resource is None:
        subject = f"/{target.groups}/{target.group}/{target.resources}"
        detail = f"There is no Resource type {target.resources}."
        raise RegistryError("not_found", subject, detail=detail)
    return Owner(model=session.model, level=level, group=group, resource=resource)


def _check_flags(session: Session, target: Target, flags: Flags) -> None:
    path = session.request.path
    if flags.collections and target.place not in _WITH_COLLECTIONS:
        detail = "Only the Registry and a Group have collections to show."
        raise RegistryError("bad_flag", path, {"flag": "collections"}, detail)
    if flags.sort is not None and target.place not in _COLLECTIONS:
        raise RegistryError("sort_noncollection", path)


def inlining_of(session: Session, target: Target, flags: Flags, owner: Owner) -> Inlining:
    """What the flags want to see inside the entities that a target shows (FL-03, FL-50)."""
    if flags.inline is None:
        return ALL if flags.collections else NOTHING
    level = owner.level
    start = None
    if level == "registry":
        start = in_registry(session.model)
    elif level == "group" and owner.group is not None:
        start = in_group(owner.group)
    elif owner.resource is not None and level != "meta":
        start = in_resource(owner.resource) if level == "resource" else in_version(owner.resource)
    inline = read_inline(session, flags.inline, start)
    if level == "registry":
        for name in SETTINGS:
            if inline.names(name):
                require_available(session, name)
    return replace(inline, everything=True) if flags.collections else inline


def _root(target: Target) -> str:
    return "/" if target.place is Place.EXPORT else target.xid


def show_entries(session: Session, xids: Sequence[str]) -> dict[str, Any]:
    """Entities of one collection by their ids, for the reply to a write of many (HT-12)."""
    rows = [row for row in map(session.tx.find, xids) if row is not None]
    if not rows:
        return {}
    request = session.request
    flags = session.request.flags
    owner = owner_of(session, request.target)
    inline = inlining_of(session, request.target, flags, owner)
    if request.target.place not in _COLLECTIONS:
        inline = inline.at(rows[0].type.rpartition("/")[2]) or NOTHING
    view = view_of(session, request.target.xid, doc=flags.doc, binary=flags.binary)
    scope = scope_of(None)
    if request.target.place in _COLLECTIONS:
        scope = scope_of(read_filter(session, flags.filter, owner))
    shown, scope = _kept(session, rows, scope)
    return _bodies(Tree(session=session, view=view), shown, inline, scope)


def _kept(session: Session, rows: list[Row], scope: Scope) -> tuple[list[Row], Scope]:
    """The rows that a filter lets pass."""
    if not scope.filtered:
        return rows, scope
    leaves = session.tx.leaves(scope.question, "/")
    keys = leaves.groups | leaves.resources | leaves.versions
    return [row for row in rows if row.key in keys], replace(scope, leaves=leaves)


def _bodies(tree: Tree, rows: list[Row], inline: Inlining, scope: Scope) -> dict[str, Any]:
    if not rows:
        return {}
    groups, _, resources = rows[0].type.partition("/")
    type = tree.session.model.groups[groups]  # noqa: A001
    entries: Each
    if not resources:
        entries = tree.groups(type, rows, inline, scope)
    else:
        plural, _, versions = resources.partition("/")
        shape = resource_shape(type, plural, tree.view.wire)
        if versions:
            owners = tree.session.tx.by_key([rows[0].parent])
            found = tree.with_documents(shape, rows, inline)
            entries = tree.versions(shape, owners[rows[0].parent], found)
        else:
            entries = tree.resources(shape, rows, inline, scope)
    return {id: value_of(parts) for id, parts in entries}  # noqa: A001
