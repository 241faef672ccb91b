"""A filter evaluated the slow and plain way: by looking at every entity (FL-30..FL-36)."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heraldry.store.query import ANY, EACH, Filter, Leaves, Term
from heraldry.store.rows import Kind, Row

_COMPARE = {
    "less": operator.lt,
    "at_most": operator.le,
    "more": operator.gt,
    "at_least": operator.ge,
}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def surviving(rows: Sequence[Row], filter_: Filter, under: str) -> Leaves:
    """The leaves that survive, with their parents."""
    by_key = {row.key: row for row in rows}
    parents = {row.parent for row in rows}
    leaves = [row for row in rows if row.key not in parents and inside(row.xid, under)]
    kept: set[int] = set()
    for leaf in leaves:
        line = list(lineage(leaf, by_key))
        if any(all(holds(term, line, by_key) for term in terms) for terms in filter_):
            kept |= {row.key for row in line}
    found = {kind: frozenset(k for k in kept if by_key[k].kind is kind) for kind in Kind}
    return Leaves(found[Kind.GROUP], found[Kind.RESOURCE], found[Kind.VERSION])


def inside(xid: str, under: str) -> bool:
    return under == "/" or xid == under or xid.startswith(under + "/")


def lineage(row: Row, by_key: Mapping[int, Row]) -> Iterator[Row]:
    """An entity and all it is in."""
    yield row
    while row.parent:
        row = by_key[row.parent]
        yield row


def holds(term: Term, line: Sequence[Row], by_key: Mapping[int, Row]) -> bool:
    """Whether a term holds for the entity of its type that a leaf is, or is in."""
    wanted = next((row for row in line if row.type == term.type), None)
    if wanted is None:
        return False
    values = list(values_of(term, wanted, by_key))
    if term.test in ("unequal", "absent"):
        opposite = "equal" if term.test == "unequal" else "present"
        return not any(fits(opposite, value, term.value) for value in values)
    return any(fits(term.test, value, term.value) for value in values)


def values_of(term: Term, row: Row, by_key: Mapping[int, Row]) -> Iterator[Any]:
    match term.path:
        case ("#id",):
            yield row.id
        case ("#xid",):
            yield row.xid
        case ("#isdefault",):
            yield by_key[row.parent].default == row.key
        case path:
            if term.level == "resource":
                if row.default == 0:
                    return
                row = by_key[row.default]
            yield from at(row.attributes, path)


def at(value: Any, path: Sequence[str | int]) -> Iterator[Any]:
    if not path:
        if value is not None:
            yield value
        return
    step, *rest = path
    if isinstance(value, Mapping):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    else:
        return
    for name, member in members:
        wild = ANY if isinstance(value, Mapping) else EACH
        if step == wild or (type(step) is type(name) and step == name):
            yield from at(member, rest)


def fits(test: str, value: Any, wanted: str) -> bool:
    if test == "present" or (test == "equal" and wanted == "*"):
        return True
    if isinstance(value, bool):
        if wanted not in ("true", "false"):
            return False
        return bool(_COMPARE.get(test, operator.eq)(value, wanted == "true"))
    if isinstance(value, int | float):
        if not _NUMBER.fullmatch(wanted):
            return False
        return bool(_COMPARE.get(test, operator.eq)(value, float(wanted)))
    if not isinstance(value, str):
        return False
    text = value.casefold()
    if test != "equal":
        return bool(_COMPARE[test](text, wanted.casefold()))
    parts = re.split(r"(\\\*|\*)", wanted.casefold())
    pattern = "".join(
        ".*" if part == "*" else re.escape(part.replace(r"\*", "*")) for part in parts
    )
    return re.fullmatch(pattern, text, re.DOTALL) is not None
