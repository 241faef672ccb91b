"""The message indexes that Confluent's and Glue's serializers put between prefix and message."""

from __future__ import annotations

# A message begins with the tag of a field, and 1 is the least number of one.
_LEAST_TAG = 8


def bodies(data: bytes) -> list[bytes]:
    """What may be the message behind a registry's prefix, the likeliest first.

    Confluent writes a list of zigzag numbers after their count, or a single 0 for the first
    message; Glue writes a single number. Lists of four and more look like a message.
    """
    if not data or data[0] >= _LEAST_TAG:
        return [data]
    end = _after(data, data[0] >> 1) if data[0] % 2 == 0 else 1
    return [data[end:]] if end == 1 else [data[end:], data[1:]]


def _after(data: bytes, count: int) -> int:
    position = 1
    for _ in range(count):
        while position < len(data) and data[position] & 0x80:
            position += 1
        position += 1
    return position
