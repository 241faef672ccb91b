"""The table of event formats: how structured events and batches are written, by media type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from heraldry.errors import MessageError
from heraldry.messages.envelopes import avro_format, json_format, protobuf_format
from heraldry.messages.envelopes.cloudevents import Event, refused
from heraldry.messages.message import Message
from heraldry.messages.values import parse_media_type

BATCH_LIMIT = 10_000
"""How many events a batch may have."""
BATCH_BYTES = 64 * 1024 * 1024
"""How many bytes a batch may have."""


class EventFormat(Protocol):
    """What every format offers."""

    MEDIA_TYPE: str

    def read(self, document: bytes, /) -> Event:
        """The event in a document; MessageError where there is none."""

    def write(self, message: Message, /) -> bytes:
        """The inverse of :meth:`read`."""


class BatchFormat(EventFormat, Protocol):
    """What a format offers that has batches."""

    BATCH_MEDIA_TYPE: str

    def read_batch(self, document: bytes, most: int, /) -> tuple[Event, ...]:
        """The events in a document, of at most so many; MessageError where it is no batch."""

    def write_batch(self, messages: Iterable[Message], /) -> bytes:
        """The inverse of :meth:`read_batch`."""


BATCHES: dict[str, BatchFormat] = {"json": json_format, "protobuf": protobuf_format}
"""The formats that have batches, by name."""
FORMATS: dict[str, EventFormat] = {**BATCHES, "avro": avro_format}
"""All formats by name."""

# The binding of NATS names no format: it is JSON, as for every format that is not named.
_SINGLE: dict[str, EventFormat] = {"application/cloudevents": json_format} | {
    one.MEDIA_TYPE: one for one in FORMATS.values()
}
_BATCH = {one.BATCH_MEDIA_TYPE: one for one in BATCHES.values()}


def is_named(content_type: str | None) -> bool:
    """Whether a content type is that of an event or a batch in some format, known or not."""
    # Nearly all messages end here.
    if content_type is None or "cloudevents" not in content_type.lower():
        return False
    return _family(content_type) is not None


def is_batch(content_type: str | None) -> bool:
    """Whether a content type is that of a batch in some format, known or not."""
    return is_named(content_type) and _family(content_type) == "cloudevents-batch"


def find(content_type: str) -> EventFormat:
    """The format of one event; MessageError where it is not known, or the type is of a batch."""
    if is_batch(content_type):
        told = "is a batch: many messages, not one"
        raise refused("batch", told, path="content_type", found=content_type)
    found = _SINGLE.get(_media_type(content_type))
    if found is None:
        raise _unknown(content_type, _SINGLE)
    return found


def find_batch(content_type: str) -> BatchFormat:
    """The format of a batch; MessageError where it is not known."""
    found = _BATCH.get(_media_type(content_type))
    if found is None:
        raise _unknown(content_type, _BATCH)
    return found


def batch_named(name: str) -> BatchFormat:
    """The format of batches by its name; MessageError where it is not known or has none."""
    if name not in BATCHES:
        raise _unknown(name, BATCHES)
    return BATCHES[name]


def named(text: str) -> str | None:
    """The name of a format given by its name or its media type, or None."""
    if text.lower() in FORMATS:
        return text.lower()
    found = _SINGLE.get(_media_type(text))
    return next((name for name, one in FORMATS.items() if one is found), None)


def write(message: Message, event_format: str = "json") -> bytes:
    """An event as a document in the format of a name, whatever its mode."""
    if event_format not in FORMATS:
        raise _unknown(event_format, FORMATS)
    return FORMATS[event_format].write(message)


def read_batch(
    document: bytes, content_type: str, *, most: int = BATCH_LIMIT, limit: int = BATCH_BYTES
) -> tuple[Event, ...]:
    """The events of a batch, all of them or none."""
    found = find_batch(content_type)
    if len(document) > limit:
        raise refused("too-large", f"is longer than {limit} bytes", expected=f"{limit} bytes")
    return found.read_batch(document, most)


def _media_type(content_type: str) -> str:
    parsed = parse_media_type(content_type)
    return content_type if parsed is None else parsed[0]


def _family(content_type: str | None) -> str | None:
    kind = _media_type(content_type or "").lower()
    family, _, _ = kind.removeprefix("application/").partition("+")
    known = kind.startswith("application/") and family in ("cloudevents", "cloudevents-batch")
    return family if known else None


def _unknown(found: str, known: Iterable[str]) -> MessageError:
    told, expected = "is not an event format that is known", ", ".join(sorted(known))
    return refused("event-format", told, path="content_type", expected=expected, found=found)
