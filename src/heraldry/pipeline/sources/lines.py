"""Lines with their places: what every source hands to the lander, whatever the protocol."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines with their places, in the order in which they were read.

    ``values`` are messages as JSON lines (``messages.line``), ``sources`` a dictionary array of
    texts, ``positions`` texts that name each line within its source, for ever the same. ``times``
    are the broker's own timestamps, else when an intake took them, where there are any: they become
    ``ce_time`` of messages that are no events. ``received`` is given where lines were received at
    another time than now.
    """

    values: pa.Array
    sources: pa.Array
    positions: pa.Array
    times: pa.Array | None = None
    received: pa.Array | None = None
