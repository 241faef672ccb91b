"""Which types go together in one column: equal ones, and records that only gain members."""

from __future__ import annotations

import pyarrow as pa

_SAME = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}


def merged_type(table: pa.DataType, wanted: pa.DataType) -> pa.DataType | None:
    """The type that holds both, or None where a column cannot hold both as they are.

    Records have the members of both, at any depth, also in lists. Maps must be equal: delta-rs
    cannot rewrite files whose maps hold narrower records than the table's.
    """
    if pa.types.is_struct(table) and pa.types.is_struct(wanted):
        return _merged_record(table, wanted)
    if _is_list(table) and _is_list(wanted):
        item = merged_type(table.value_type, wanted.value_type)
        return None if item is None else pa.list_(item)
    return table if plain_type(table) == plain_type(wanted) else None


def _merged_record(table: pa.StructType, wanted: pa.StructType) -> pa.DataType | None:
    members = {member.name: member.type for member in table}
    spellings = {name.lower(): name for name in members}
    for member in wanted:
        name = spellings.setdefault(member.name.lower(), member.name)
        if name != member.name:
            # Spark does not tell names by their case: no record may have both spellings.
            return None
        known = members.get(name)
        merged = member.type if known is None else merged_type(known, member.type)
        if merged is None:
            return None
        members[name] = merged
    return pa.struct(list(members.items()))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """A type without what Arrow tells apart and a table does not: names of items, null or not."""
    if pa.types.is_struct(kind):
        return pa.struct([(member.name, plain_type(member.type)) for member in kind])
    if _is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return _SAME.get(kind, kind)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
