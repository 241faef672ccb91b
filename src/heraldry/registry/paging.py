"""Collections in parts and in an order (PG-01..PG-06, FL-72)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heraldry.errors import RegistryError
from heraldry.store.query import Order, Page

if TYPE_CHECKING:
    from heraldry.registry.request import Flags
    from heraldry.registry.session import Session
    from heraldry.store.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The rows of a collection that a reply shows, and what follows them."""

    rows: Iterable[Row]
    next: str = ""
    total: int | None = None


def rows_of(
    session: Session,
    flags: Flags,
    parent: int,
    type: str,  # noqa: A002
    order: Order | None,
    keys: Collection[int] | None,
) -> Part:
    """What a request wants to see of a collection; in its own order it is read as it is sent."""
    tx = session.tx
    limit = _limit(session, flags)
    if limit is None and order is None:
        return Part(rows=tx.children([parent], type, keys=keys))
    wanted = order or Order()
    if limit is None:
        return Part(rows=tx.ordered(parent, type, wanted, keys=keys))
    total = tx.count([parent], type, keys=keys).get(parent, 0)
    page = Page(limit=limit, after=flags.after or None)
    rows, following = tx.page(parent, type, wanted, page, keys=keys)
    return Part(rows=rows, next=following, total=total)


def _limit(session: Session, flags: Flags) -> int | None:
    """How many entities a page has; ``None``: the collection is not paged (PG-05)."""
    most = session.limits.page
    if not session.capabilities.pagination:
        return None
    if flags.limit is None:
        return most or None
    if flags.limit < 1:
        detail = f"limit must be 1 or more, not {flags.limit}"
        raise RegistryError("bad_request", session.request.path, {"error_detail": detail})
    return min(flags.limit, most) if most else flags.limit
