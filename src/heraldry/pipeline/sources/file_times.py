"""Timestamps of Parquet: of microseconds, and where they have no time zone, instants in UTC.

Nanoseconds are cut off: no datetime of Python holds them, and so no line does.
"""

from __future__ import annotations

import pyarrow as pa


def in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows; every timestamp has a time zone and no nanoseconds, however deep it stands."""
    wanted = pa.schema([field.with_type(_zoned(field.type)) for field in batch.schema])
    return batch if wanted.equals(batch.schema) else batch.cast(wanted, safe=False)


def _zoned(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us" if kind.unit == "ns" else kind.unit, kind.tz or "UTC")
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _zoned(kind.value_type), kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_zoned(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_zoned(kind.key_type), kind.item_field.with_type(_zoned(kind.item_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type)), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_zoned(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type)))
    return kind  # views of lists, too: Arrow loses values where it casts them
