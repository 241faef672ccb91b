"""One dead letter: a message that did not land, in full, with the reasons.

Workers write letters by the thousand, so nothing here reads a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.messages.verdict import Rejected

_INSTANT = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [
        ("stage", pa.string()),
        ("rule", pa.string()),
        ("definition", pa.string()),
        ("path", pa.string()),
        ("message", pa.string()),
        ("expected", pa.string()),
        ("found", pa.string()),
        ("problems", pa.string()),
        ("near", pa.string()),
        ("line", pa.binary()),
        ("masked", pa.bool_()),
        ("batch", pa.int64()),
        ("source", pa.string()),
        ("position", pa.string()),
        ("received", _INSTANT),
        ("time", _INSTANT),
        ("letter", pa.string()),
        ("catalog", pa.string()),
    ]
)
"""The columns; ``letter`` is an id for ever, ``time`` the broker's own, ``catalog`` a digest."""

PLACE = ("batch", "source", "position", "received", "time", "letter", "catalog")
"""Columns that tell where and when a line was read, and who judged it."""

_ID = 32


def letter(line: bytes, verdict: Rejected) -> dict[str, Any]:
    """One letter without its place; the first problem is the reason it is grouped by."""
    first = verdict.problems[0]
    return {
        "stage": verdict.stage,
        "rule": first.rule,
        "definition": verdict.definition,
        "path": first.path,
        "message": first.message,
        "expected": first.expected,
        "found": first.found,
        "problems": msgspec.json.encode(verdict.problems).decode(),
        "near": msgspec.json.encode(verdict.near).decode(),
        "line": line,
        "masked": False,
    }


def letter_id(job: str, source: str, position: str) -> str:
    """The id of a letter: the same for ever, since a job reads a position of a source once.

    Where a position comes again, as in a topic that was made anew, ``received`` tells them apart.
    """
    told = "\0".join((job, source, position))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_ID]


def letter_ids(job: str, sources: pa.Array, positions: pa.Array) -> pa.Array:
    """The ids of letters by their places."""
    places = zip(sources.to_pylist(), positions.to_pylist(), strict=True)
    return pa.array([letter_id(job, *place) for place in places], pa.string())


def writers(letters: pa.Table, jobs: Iterable[str]) -> list[str]:
    """The job that wrote each letter, as its id tells; ``""`` where it is none of those given."""
    ids, sources, positions = (
        letters[name].combine_chunks() for name in ("letter", "source", "position")
    )
    found = [""] * len(ids)
    left = pa.array(range(len(ids)), pa.int64())
    for job in jobs:
        same = pc.equal(ids.take(left), letter_ids(job, sources.take(left), positions.take(left)))
        for row in left.filter(same).to_pylist():
            found[row] = job
        left = left.filter(pc.invert(same))
    return found
