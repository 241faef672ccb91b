"""Timestamps of Parquet that have no time zone: they are instants in UTC, on whatever machine."""

from __future__ import annotations

import pyarrow as pa


def in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, with a time zone for every timestamp, however deep it stands."""
    wanted = pa.schema([field.with_type(_zoned(field.type)) for field in batch.schema])
    return batch if wanted.equals(batch.schema) else batch.cast(wanted)


def _zoned(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return kind if kind.tz is not None else pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_zoned(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_zoned(kind.key_type), kind.item_field.with_type(_zoned(kind.item_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_zoned(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type)))
    return kind
