"""The limits of a registry; every one is a setting with a default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may cost. Sizes are bytes."""

    body: int = 64 * 1024 * 1024
    nesting: int = 100
    values: int = 4_000_000
    """How many values a body of JSON may have in all."""
    bodies: int = 288 * 1024 * 1024
    """What all bodies under way may take together: as they came, unpacked, and read as JSON."""
    inline: int = 64 * 1024 * 1024
    """The size of a reply with inlined parts; ``/export`` is streamed and has none."""
    replies: int = 160 * 1024 * 1024
    """What all replies under way may take together in memory."""
    streams: int = 8
    """How many replies may be read from a database server while they are sent: each holds one of
    its connections."""
    page: int = 0
    """Collections of more entities are paged even where nobody asked for it; 0: never."""
    proxied: int = 100
    """How many documents that are kept elsewhere one request may read."""
    proxied_seconds: float = 20.0
    """How long a request waits for all of them."""
    write_entities: int = 250_000
    """How many groups, resources and versions the body of one write may have; 0: any number."""
    write_seconds: float = 60.0
    """How long one write may take before it is rolled back; 0: as long as it needs."""
    headers: int = 500
    header_size: int = 64 * 1024
    query: int = 16 * 1024
    waiting: int = 200
    """How many requests may wait for a thread that reads, and as many for the one that writes."""
    patience: float = 30.0
    """Seconds that a request waits for room in memory, and that a connection waits until headers
    are complete, or a body or reply moves on."""
    rate: int = 1024
    """Bytes of a body or reply that must move in a second, on the average of ``patience``."""
    connections: int = 1000
    """How many clients are connected at a time; the next one ends who waited longest."""
