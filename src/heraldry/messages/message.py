"""What travels, whatever the protocol: metadata, envelope attributes and payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["binary", "structured"]

Pairs = tuple[tuple[str, Any], ...]
"""A collection whose names may repeat (HTTP headers, MQTT user properties), in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message.

    ``protocol`` is None for an event that was handed over without one (a CloudEvent as a JSON
    line). ``metadata`` holds the protocol's own properties under the names that
    ``protocoloptions`` uses; named collections are :data:`Pairs`. ``attributes`` are those of
    the envelope, ``specversion`` included. ``payload`` is the payload itself as bytes (for a
    structured event: the JSON text of ``data``), None where there is none.
    """

    protocol: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    envelope: str | None = None
    mode: Mode | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    payload: bytes | None = None
    content_type: str | None = None
