"""A data file, as whoever writes it tells of it: workers do, without loading delta-rs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file written for one table, not yet part of it.

    ``partition`` (JSON: column and value) and ``stats`` (JSON) are what the commit says of it;
    ``identities`` are the digests of its rows, where those are wanted.
    """

    name: str
    rows: int
    size: int
    partition: str = "{}"
    stats: str = ""
    identities: bytes = b""
