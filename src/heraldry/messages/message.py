"""What travels, whatever the protocol: metadata, envelope attributes and payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heraldry.messages.slots import setters

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


def pairs(value: Any) -> Pairs:
    """A collection; none where anything else stands, as in unknown versions of a protocol."""
    return value if isinstance(value, tuple) else ()


_protocol, _metadata, _envelope, _mode, _attributes, _payload, _content_type = setters(Message)


def received(
    protocol: str | None,
    metadata: Mapping[str, Any],
    envelope: str | None,
    mode: Mode | None,
    attributes: Mapping[str, Any],
    payload: bytes | None,
    content_type: str | None,
) -> Message:
    """The same message that the class makes, in a third of the time: for what arrives in masses."""
    made = object.__new__(Message)
    _protocol(made, protocol)
    _metadata(made, metadata)
    _envelope(made, envelope)
    _mode(made, mode)
    _attributes(made, attributes)
    _payload(made, payload)
    _content_type(made, content_type)
    return made
