"""Dead letters by the definition that they came nearest to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

MOST = 100
"""A report names so many definitions, the most frequent first; the rest is ``other``."""
OTHER = "other"

_FIRST = r'^\[\{"definition":"(?P<xid>[^"\\]+)"'


def nearest(letters: pa.Table | pa.RecordBatch) -> Counter[str]:
    """Letters by the definition that refused them, else the nearest; "" where none is near."""
    first = pc.struct_field(pc.extract_regex(letters["near"], _FIRST), "xid")
    found = pc.value_counts(pc.coalesce(letters["definition"], first, pa.scalar("")))
    return Counter({one["values"]: one["counts"] for one in found.to_pylist()})


def bounded(counts: Mapping[str, int], most: int = MOST) -> dict[str, int]:
    """The most frequent ones, and the sum of all others."""
    ordered = Counter({name: number for name, number in counts.items() if number > 0}).most_common()
    kept = dict(ordered[:most])
    if rest := sum(number for _, number in ordered[most:]):
        kept[OTHER] = kept.get(OTHER, 0) + rest
    return kept
