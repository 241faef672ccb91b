"""The id of a run: a UUID of version 7, so that later runs sort after earlier ones."""

from __future__ import annotations

import os
import time
import uuid


def new_run_id(milliseconds: int | None = None, noise: bytes | None = None) -> str:
    """A UUIDv7 (RFC 9562): 48 bits of the time in milliseconds, then chance."""
    moment = time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
    chance = int.from_bytes(os.urandom(10) if noise is None else noise)
    number = (moment & (1 << 48) - 1) << 80 | chance
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    return str(uuid.UUID(int=number))
