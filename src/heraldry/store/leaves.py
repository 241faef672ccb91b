"""What survives a filter (FL-30..FL-38), found by the database.

Every list of terms becomes one statement. It starts where the fewest entities are to be looked at
(one term's facts, or the scope), walks to the leaves above or below, and asks the other terms of
each. ``leaf`` has the keys ``g``, ``r`` and ``v`` of a leaf's group, resource and version, and the
resource's type and default version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from heraldry.errors import RegistryError
from heraldry.store.conditions import Condition, alternatives, booleans, has_wildcard, is_negative
from heraldry.store.connection import Connection
from heraldry.store.facts import fold
from heraldry.store.paths import AskedPaths
from heraldry.store.query import Filter, Leaves, Level, Term
from heraldry.store.rows import Kind

_FEW: Final = 1000
"""So many entities or fewer are looked at one by one; of more, it does not matter how many."""
_MOST: Final = 200
"""So many terms one filter may have: each is a part of a statement."""
_DEPTH: Final[dict[Level, Kind]] = {
    "group": Kind.GROUP,
    "resource": Kind.RESOURCE,
    "meta": Kind.RESOURCE,
    "version": Kind.VERSION,
}
_IS_DEFAULT: Final = ("#isdefault",)
_OWN: Final = (("#id",), ("#xid",))


@dataclass(frozen=True, slots=True)
class Start:
    """Where a statement starts: a question for keys of entities of one kind."""

    kind: Kind
    keys: Condition


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the registry that is asked about, as a start and as a condition."""

    start: Start
    condition: str
    """On a leaf; its values are those of the start."""
    narrow: bool


def find_leaves(connection: Connection, filter: Filter, under: str) -> Leaves:
    """What survives a filter at or below an xid or a collection."""
    groups: set[int] = set()
    resources: set[int] = set()
    versions: set[int] = set()
    if sum(map(len, filter)) > _MOST:
        said = f"more than {_MOST} expressions"
        raise RegistryError("bad_filter", under, {"value": "filter", "error_detail": said})
    scope = _scope(connection, under)
    if scope is not None:
        paths = AskedPaths(connection, under)
        for terms in filter:
            asked = [_ask(connection, paths, term) for term in terms]
            for statement in _statement(connection, asked, scope):
                columns = list(zip(*connection.all(statement.sql, statement.values), strict=True))
                for found, column in zip((groups, resources, versions), columns, strict=False):
                    found.update(column)
    return Leaves(*(frozenset(found - {None}) for found in (groups, resources, versions)))


def _scope(connection: Connection, under: str) -> Scope | None:
    """The scope of an xid or the path of a collection; ``None`` where there is no such entity."""
    parts = [part for part in under.split("/") if part]
    if not parts:
        everything = Condition("SELECT key FROM entity WHERE parent = 0")
        return Scope(Start(Kind.GROUP, everything), "", False)
    if len(parts) == 1:
        of_type = Condition("SELECT key FROM entity WHERE type = ?", (parts[0],))
        return Scope(Start(Kind.GROUP, of_type), f"leaf.g IN ({of_type.sql})", False)
    whole = parts[: len(parts) // 2 * 2]
    found = connection.all(
        "SELECT key FROM entity WHERE folded = ?", (fold("/" + "/".join(whole)),)
    )
    if not found:
        return None
    key = found[0][0]
    one = "SELECT CAST(? AS BIGINT) AS key"
    below = "SELECT key FROM entity WHERE parent = ?"
    match len(parts):
        case 2:
            return Scope(Start(Kind.GROUP, Condition(one, (key,))), "leaf.g = ?", True)
        case 3:
            start = Start(
                Kind.RESOURCE, Condition(below + " AND type = ?", (key, f"{parts[0]}/{parts[2]}"))
            )
            return Scope(start, "leaf.g = ? AND leaf.type = ?", True)
        case 5 if parts[4] == "versions":
            return Scope(
                Start(Kind.VERSION, Condition(below, (key,))), "leaf.r = ? AND leaf.v > 0", True
            )
        case 6:
            return Scope(Start(Kind.VERSION, Condition(one, (key,))), "leaf.v = ?", True)
    return Scope(Start(Kind.RESOURCE, Condition(one, (key,))), "leaf.r = ?", True)


@dataclass(frozen=True, slots=True)
class Asked:
    """A term, ready to be asked: the paths it is about, and what a fact there must be."""

    term: Term
    paths: list[int]
    fitting: list[Condition]

    @property
    def positive(self) -> bool:
        """Whether facts can be the start."""
        return not is_negative(self.term) and self.term.path != _IS_DEFAULT


def _ask(connection: Connection, paths: AskedPaths, term: Term) -> Asked:
    of_version = term.level == "resource" and term.path not in _OWN
    type_ = f"{term.type}/versions" if of_version else term.type
    if term.path == _IS_DEFAULT:
        return Asked(term, [], [])
    return Asked(term, paths.numbers(type_, term.path), alternatives(term, connection))


def _statement(
    connection: Connection, asked: Sequence[Asked], scope: Scope
) -> tuple[Condition, ...]:
    """The statement for terms that must all hold; none where they cannot."""
    if any(one.positive and not (one.paths and one.fitting) for one in asked):
        return ()
    first = _first(connection, asked, scope)
    start = scope.start if first is None else _facts_start(connection, first)
    lowest = max([scope.start.kind, *(_DEPTH[one.term.level] for one in asked)])
    conditions = [_term_condition(connection, one) for one in asked if one is not first]
    if first is not None and scope.condition:
        conditions.append(Condition(scope.condition, scope.start.keys.values))
    where = " AND ".join(f"({one.sql})" for one in conditions) or "1 = 1"
    values = start.keys.values + tuple(value for one in conditions for value in one.values)
    leaf = _walk(connection, start, lowest)
    return (Condition(f"SELECT leaf.g, leaf.r, leaf.v FROM ({leaf}) leaf WHERE {where}", values),)


def _walk(connection: Connection, start: Start, lowest: Kind) -> str:
    """From the start to the leaves; levels that no term asks about may be without entities."""
    must = connection.join
    resources = "LEFT JOIN" if lowest is Kind.GROUP else must
    versions = must if lowest is Kind.VERSION else "LEFT JOIN"
    match start.kind:
        case Kind.GROUP:
            group = "m.key"
            joins = (
                f"{resources} entity r ON r.parent = m.key {versions} entity v ON v.parent = r.key"
            )
        case Kind.RESOURCE:
            group = "r.parent"
            joins = f"{must} entity r ON r.key = m.key {versions} entity v ON v.parent = r.key"
        case Kind.VERSION:
            group = "r.parent"
            joins = f"{must} entity v ON v.key = m.key {must} entity r ON r.key = v.parent"
    return (
        f"SELECT {group} AS g, r.key AS r, r.type AS type, r.chosen AS chosen, v.key AS v "
        f"FROM ({start.keys.sql}) m {joins} {connection.fence}"
    )


def _first(connection: Connection, asked: Sequence[Asked], scope: Scope) -> Asked | None:
    """The term whose facts are the start, where they are fewer than what the scope has."""
    positive = [one for one in asked if one.positive]
    able = [one for one in positive if not has_wildcard(one.term)]
    if not able:
        return positive[0] if positive and not scope.narrow else None
    if len(able) == 1 and not scope.narrow:
        return able[0]
    parts = [_facts(connection, one) for one in able]
    counts = ", ".join(
        f"(SELECT count(*) FROM (SELECT 1 FROM ({part.sql}) p LIMIT {_FEW}) q)" for part in parts
    )
    values = [value for part in parts for value in part.values]
    (found,) = connection.all(f"SELECT {counts}", values)
    fewest = min(range(len(able)), key=found.__getitem__)
    return None if scope.narrow and found[fewest] >= _FEW else able[fewest]


def _facts(connection: Connection, asked: Asked) -> Condition:
    """The keys of the entities whose facts fit a term."""
    parts, values = [], []
    for fitting in asked.fitting:
        at, numbers = _at(connection, asked.paths)
        parts.append(f"SELECT f.key FROM fact f WHERE {at} AND {fitting.sql}")
        values += [*numbers, *fitting.values]
    return Condition(" UNION ALL ".join(parts), tuple(values))


def _at(connection: Connection, paths: list[int]) -> tuple[str, tuple[Any, ...]]:
    if len(paths) == 1:
        return "f.path = ?", (paths[0],)
    return connection.among("f.path"), (connection.listed(paths),)


def _facts_start(connection: Connection, asked: Asked) -> Start:
    facts, term = _facts(connection, asked), asked.term
    if term.level == "resource" and term.path not in _OWN:
        join = connection.join
        owners = (
            f"SELECT o.key FROM ({facts.sql}) p {join} entity d ON d.key = p.key "
            f"{join} entity o ON o.key = d.parent AND o.chosen = d.key"
        )
        return Start(Kind.RESOURCE, Condition(owners, facts.values))
    return Start(_DEPTH[term.level], facts)


def _term_condition(connection: Connection, asked: Asked) -> Condition:
    """Whether a term holds for a leaf that the statement has come to."""
    term = asked.term
    entity = {"group": "leaf.g", "version": "leaf.v"}.get(term.level, "leaf.r")
    typed = Condition(f"(SELECT t.type FROM entity t WHERE t.key = {entity}) = ?", (term.type,))
    if term.path == _IS_DEFAULT:
        return _default_condition(term, typed)
    if not (asked.paths and asked.fitting):
        return typed  # only a negative term comes here
    facts_of = "leaf.chosen" if term.level == "resource" and term.path not in _OWN else entity
    at, numbers = _at(connection, asked.paths)
    fitting = " OR ".join(f"({one.sql})" for one in asked.fitting)
    # The test is what is selected, so that only the entity's own facts are looked at.
    holds = (
        f"COALESCE((SELECT max(CASE WHEN {fitting} THEN 1 ELSE 0 END) FROM fact f "
        f"WHERE f.key = {facts_of} AND {at}), 0)"
    )
    values = (*(value for one in asked.fitting for value in one.values), *numbers)
    if not is_negative(term):
        return Condition(f"{holds} = 1", values)
    return Condition(f"{typed.sql} AND {holds} = 0", typed.values + values)


def _default_condition(term: Term, typed: Condition) -> Condition:
    """``isdefault`` is computed: the resource knows its default version, which shows it as true."""
    allowed = booleans(term)
    if is_negative(term):
        allowed = frozenset((False, True)) - allowed
    if term.level == "resource":
        return Condition(f"{typed.sql} AND 1 = ?", (*typed.values, int(True in allowed)))
    if len(allowed) != 1:
        return Condition(f"{typed.sql} AND 1 = ?", (*typed.values, int(bool(allowed))))
    sign = "=" if True in allowed else "<>"
    return Condition(f"{typed.sql} AND leaf.chosen {sign} leaf.v", typed.values)
