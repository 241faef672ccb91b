"""Pages of a collection: an order as SQL, and the cursor that tells where the next page starts."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final

import msgspec

from heraldry.errors import RegistryError
from heraldry.store.connection import Connection
from heraldry.store.facts import normal_number, number_of
from heraldry.store.paths import number_of_path
from heraldry.store.query import ANY, EACH, Order, Page
from heraldry.store.records import ROW

_MOST: Final = 2**62
"""No page is longer, whatever a request asks for: databases count with 64 bits and a sign."""
_IS_DEFAULT: Final = ("#isdefault",)
_SORTED_BY: Final = (
    "COALESCE(f.kind, -1)",
    "COALESCE(f.number, 0)",
    "COALESCE(f.text, '')",
    "COALESCE(f.rest, '')",
    "e.place",
)

_Text = Annotated[str, msgspec.Meta(pattern=r"^[^\0]*\Z")]
_POSITIONS: Final[dict[int, Any]] = {
    1: tuple[_Text],
    2: tuple[_Text, _Text],
    5: tuple[Annotated[int, msgspec.Meta(ge=-1, le=3)], int | float, _Text, _Text, _Text],
}
"""What a cursor holds, by the number of columns that sort."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """The columns of an order (FL-71), and the join they need."""

    columns: tuple[str, ...]
    join: str = ""
    values: tuple[Any, ...] = ()

    def by(self, order: Order) -> str:
        """What a statement is ordered by."""
        direction = "DESC" if order.descending else "ASC"
        return ", ".join(f"{column} {direction}" for column in self.columns)


def order_statement(
    connection: Connection, parent: int, type: str, order: Order, keys: Collection[int] | None
) -> tuple[str, list[Any]]:
    """The statement for the keys of a whole collection in an order, and its values."""
    sorting = _sorting(connection, type, order)
    where, values = _within(connection, sorting, parent, type, keys)
    sql = f"SELECT e.key FROM entity e {sorting.join} WHERE {where} ORDER BY {sorting.by(order)}"
    return sql, values


def page_statement(
    connection: Connection,
    parent: int,
    type: str,
    order: Order,
    page: Page,
    keys: Collection[int] | None,
) -> tuple[str, list[Any], int]:
    """The statement for one page and one entity more, its values, how many columns sort it.

    A record has the columns of a row, then those it is sorted by.
    """
    sorting = _sorting(connection, type, order)
    where, values = _within(connection, sorting, parent, type, keys)
    if page.after is not None:
        marks = ", ".join("?" * len(sorting.columns))
        sign = "<" if order.descending else ">"
        where += f" AND ({', '.join(sorting.columns)}) {sign} ({marks})"
        values += _position(connection, page.after, len(sorting.columns))
    sql = (
        f"SELECT {ROW}, {', '.join(sorting.columns)} FROM entity e {sorting.join} "
        f"WHERE {where} ORDER BY {sorting.by(order)} LIMIT ?"
    )
    return sql, [*values, min(page.limit, _MOST) + 1], len(sorting.columns)


def _within(
    connection: Connection,
    sorting: Sorting,
    parent: int,
    type: str,
    keys: Collection[int] | None,
) -> tuple[str, list[Any]]:
    """The condition for the entities of a collection, and all values up to it."""
    where, values = "e.parent = ? AND e.type = ?", [*sorting.values, parent, type]
    if keys is not None:
        where += " AND " + connection.among("e.key")
        values.append(connection.listed(keys))
    return where, values


def _sorting(connection: Connection, type: str, order: Order) -> Sorting:
    if not order.path:
        return Sorting(("e.place",))
    if order.path == _IS_DEFAULT:
        text = "CASE WHEN o.chosen = e.key THEN 'true' ELSE 'false' END"
        return Sorting((text, "e.place"), "JOIN entity o ON o.key = e.parent")
    if ANY in order.path or EACH in order.path:
        raise ValueError("a sort key has no wildcards")
    default = order.level == "resource" and order.path not in (("#id",), ("#xid",))
    number = number_of_path(connection, f"{type}/versions" if default else type, order.path)
    of = "e.chosen" if default else "e.key"
    return Sorting(
        _SORTED_BY,
        f"LEFT JOIN fact f ON f.key = {of} AND f.path = ?",
        (number or 0,),
    )


def cursor_of(sorted_by: tuple[Any, ...]) -> str:
    """The cursor behind an entity, which is known by what it was sorted by."""
    values = [number_of(str(one)) if isinstance(one, Decimal) else one for one in sorted_by]
    return urlsafe_b64encode(msgspec.json.encode(values)).decode().rstrip("=")


def _position(connection: Connection, cursor: Any, columns: int) -> list[Any]:
    """What a cursor stands for; ``bad_request`` for one that no page gave."""
    try:
        text = str(cursor).encode("ascii")
        content = urlsafe_b64decode(text + b"=" * (-len(text) % 4))
        found = msgspec.json.decode(content, type=_POSITIONS[columns])
        if columns < len(_SORTED_BY):
            return list(found)
        kind, number, *texts = found
        return [kind, connection.exact(normal_number(number)), *texts]
    except (ValueError, binascii.Error, msgspec.DecodeError):
        said = "this is no place in the collection; start again with its first page"
        raise RegistryError("bad_request", "", {"error_detail": said}) from None
