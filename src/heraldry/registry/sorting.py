"""The flag ``sort``: by which attribute a collection is ordered (FL-70, FL-71)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heraldry.errors import RegistryError
from heraldry.model.dotpath import ANY, EACH, parse_path
from heraldry.registry.filtering_terms import Owner, attribute_at, row_path
from heraldry.store.query import Order

if TYPE_CHECKING:
    from heraldry.registry.session import Session

_DIRECTIONS: Final = {"": False, "asc": False, "desc": True}
_COMPLEX: Final = frozenset(("array", "map", "object"))


def read_sort(session: Session, text: str | None, owner: Owner) -> Order | None:
    """The order a request asks for; ``None`` where it asks for none, which is by id (FL-72)."""
    if text is None:
        return None
    written, sign, direction = text.partition("=")
    if direction not in _DIRECTIONS or (sign and not direction):
        raise _bad(session, text, "the order must be asc or desc")
    try:
        path = parse_path(written)
    except ValueError as error:
        raise _bad(session, text, str(error)) from None
    if owner.level == "resource" and path[0] == "meta" and len(path) > 1:
        owner, path = owner.below("meta") or owner, path[1:]
    if path[0] in owner.collections or path[0] == "meta" or {ANY, EACH} & {*path}:
        raise _bad(session, text, "it must name one attribute of the collection's entities")
    if owner.level in ("resource", "version"):
        path = (session.wire.inside(str(path[0])), *path[1:])
    attribute = attribute_at(owner.attributes, path)
    if attribute is not None and attribute.type in _COMPLEX:
        raise _bad(session, text, f"{attribute.type} values have no order")
    if path[0] in owner.computed:
        raise _bad(session, text, f"{path[0]} is computed and cannot be sorted by")
    return _order(owner, path, descending=_DIRECTIONS[direction])


def _order(owner: Owner, path: tuple[str | int, ...], *, descending: bool) -> Order:
    level, found = row_path(owner, path)
    # Within one collection xids have the order of ids, and versions show one id of a resource.
    if found in (("#id",), ("#xid",)):
        return Order(descending=descending)
    return Order(path=found, level=level, descending=descending)


def _bad(session: Session, text: str, detail: str) -> RegistryError:
    arguments = {"value": text, "error_detail": detail}
    return RegistryError("bad_sort", session.request.path, arguments)
