"""Dead letters of other tools: their Kafka records, and ours as theirs.

unwrap(line)       # the original message of a letter, its origin and why it was refused; or None
wrap(letter)       # a letter of ours as the record that Kafka Connect would write
one_line(line)     # a message without line ends
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from heraldry.errors import MessageError
from heraldry.messages.json_form import as_text, to_json_pairs
from heraldry.messages.protocol_table import canonical_name
from heraldry.messages.protocols import kafka
from heraldry.schemas.parse import parse

CONNECT = "__connect.errors."
_EVENT = "application/cloudevents+json"
_PLACE = re.compile(r"(.*)/([0-9]+)/([0-9]+)(?:#[0-9]+)?", re.DOTALL)
_ENDS = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a tool marks its letters: the names of its headers, and where the rest begins.

    ``marks`` are the beginnings of all names that are the tool's own; a record is its letter
    where the header ``topic`` is there, and only then are those names not the producer's.
    """

    system: str
    marks: tuple[str, ...]
    topic: str
    partition: str = ""
    offset: str = ""
    reasons: tuple[str, ...] = ()


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        system="Kafka Connect",
        marks=(CONNECT,),
        topic=f"{CONNECT}topic",
        partition=f"{CONNECT}partition",
        offset=f"{CONNECT}offset",
        reasons=(f"{CONNECT}exception.message", f"{CONNECT}exception.class.name"),
    ),
    Dialect(
        system="Spring",
        marks=("kafka_dlt-", "kafka_original-", "retry_topic-", "springDeserializerException"),
        topic="kafka_dlt-original-topic",
        partition="kafka_dlt-original-partition",
        offset="kafka_dlt-original-offset",
        reasons=(
            "kafka_dlt-exception-message",
            "kafka_dlt-exception-cause-fqcn",
            "kafka_dlt-exception-fqcn",
        ),
    ),
    Dialect(
        system="Confluent",
        marks=("__rule.",),
        topic="__rule.topic",
        reasons=("__rule.exception", "__rule.name"),
    ),
    Dialect(
        system="Spring Cloud Stream",
        marks=("x-original-", "x-exception-"),
        topic="x-original-topic",
        partition="x-original-partition",
        offset="x-original-offset",
        reasons=("x-exception-message", "x-exception-fqcn"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a letter's message was first, and whose letter it is."""

    system: str
    topic: str
    partition: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwrapped:
    """The original message as a line, where it came from, and why it was refused there."""

    line: bytes
    origin: Origin
    reason: str


def unwrap(line: bytes) -> Unwrapped | None:
    """The message that another tool's letter holds; None where the line is no such letter.

    The topic is the original one again and the tool's headers are gone, as are those of others
    that had it later: tools append theirs, so the first one tells where the message was. Key,
    other headers and the payload stay as they are, the payload byte for byte.
    """
    if b"topic" not in line or not any(one.topic.encode() in line for one in DIALECTS):
        return None
    try:
        document = parse(line)
        if not _is_kafka(document):
            return None
        record = kafka.from_json(document["metadata"], None, kafka.NAME)
    except MessageError:
        return None
    values = _oldest(record.headers)
    order = list(values)
    tools = sorted(
        (one for one in DIALECTS if _topic(one, values)), key=lambda one: order.index(one.topic)
    )
    if not tools:
        return None
    origin, reason = _origin(tools[0], values)
    marks = tuple(mark for one in tools for mark in one.marks)
    original = kafka.KafkaRecord(
        topic=origin.topic,
        partition=origin.partition,
        key=record.key,
        headers=tuple(pair for pair in record.headers if not pair[0].startswith(marks)),
    )
    # The other members stay as they were written.
    members = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    members["metadata"] = msgspec.Raw(msgspec.json.encode(kafka.to_json(original)))
    return Unwrapped(line=msgspec.json.encode(members), origin=origin, reason=reason)


def unwrapped(lines: pa.Array) -> pa.Array:
    """The messages inside dead letters of other tools; what is no such letter stays as it is."""
    found = (line if (inner := unwrap(line)) is None else inner.line for line in lines.to_pylist())
    return pa.array(list(found), pa.binary())


def wrap(letter: Mapping[str, Any]) -> bytes:
    """A letter as the line of a record with the headers of Kafka Connect; ``unwrap`` undoes it.

    A message that was no Kafka record becomes the value of one: an event in its JSON format. The
    line has no line ends.
    """
    line: bytes = letter["line"]
    members = _record(line)
    metadata = parse(bytes(members["metadata"])) if "metadata" in members else {}
    record = kafka.from_json(metadata, None, kafka.NAME)
    told = _told(letter, record).items()
    metadata["headers"] = to_json_pairs(
        (
            *((name, None if value is None else as_text(value)) for name, value in record.headers),
            *((CONNECT + name, text) for name, text in told),
        )
    )
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(members).translate(_ENDS)


def one_line(line: bytes) -> bytes:
    """A message without line ends: in JSON they stand between values only.

    What has some and is no JSON becomes a JSON object that holds its text, or its bytes.
    """
    if b"\n" not in line and b"\r" not in line:
        return line
    try:
        parse(line)
    except MessageError:
        return msgspec.json.encode(_held(line))
    return line.translate(_ENDS)


def _record(line: bytes) -> dict[str, msgspec.Raw]:
    """The members of the Kafka record of a line."""
    try:
        document = parse(line)
        if _is_kafka(document):
            kafka.from_json(document["metadata"], None, kafka.NAME)
            return msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except MessageError:
        document = None
    record: dict[str, Any] = {"protocol": kafka.NAME}
    if isinstance(document, dict) and "specversion" in document:
        record |= {"metadata": {"headers": {"content-type": _EVENT}}, "payload": msgspec.Raw(line)}
    else:
        record |= _held(line)
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in record.items()}


def _held(line: bytes) -> dict[str, str]:
    """What is no JSON as the member that holds it."""
    text = as_text(line)
    if isinstance(text, str):
        return {"payload_text": text}
    return {"payload_base64": b64encode(line).decode()}


def _told(letter: Mapping[str, Any], record: kafka.KafkaRecord) -> dict[str, str]:
    """What Kafka Connect's headers say of a letter."""
    return {
        "topic": letter["source"] if record.topic is None else record.topic,
        **_place(letter["position"], record),
        "connector.name": "heraldry",
        "task.id": "0",
        "stage": letter["stage"],
        "class.name": letter["definition"] or "",
        "exception.class.name": letter["rule"],
        "exception.message": f"{letter['path']}: {letter['message']}",
    }


def _place(position: str, record: kafka.KafkaRecord) -> dict[str, str]:
    """Where Kafka had a record, as far as that is known.

    Only a position in its own topic tells: one in a file, or in a topic of dead letters, is
    where a copy was read.
    """
    told = {} if record.partition is None else {"partition": str(record.partition)}
    found = _PLACE.fullmatch(position)
    if record.topic is None or found is None or found[1] != record.topic:
        return told
    own = {"partition": found[2], "offset": found[3]}
    return own if told in ({}, {"partition": found[2]}) else told


def _is_kafka(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("protocol"), str)
        and canonical_name(document["protocol"]) == kafka.NAME
        and isinstance(document.get("metadata"), dict)
    )


def _oldest(headers: tuple[tuple[str, bytes | None], ...]) -> dict[str, bytes]:
    """The headers by name, in order; the first of equal names is the oldest, and counts."""
    values: dict[str, bytes] = {}
    for name, value in headers:
        if value is not None:
            values.setdefault(name, value)
    return values


def _topic(one: Dialect, values: Mapping[str, bytes]) -> str:
    """The topic that a tool's header names; empty where the record is no letter of that tool."""
    topic = as_text(values.get(one.topic, b""))
    return topic if isinstance(topic, str) else ""


def _origin(one: Dialect, values: Mapping[str, bytes]) -> tuple[Origin, str]:
    """The origin that a tool's headers name, and the reason."""
    reasons = (as_text(values[name]) for name in one.reasons if name in values)
    origin = Origin(
        system=one.system,
        topic=_topic(one, values),
        partition=_number(values.get(one.partition), 2**31),
        offset=_number(values.get(one.offset), 2**63),
    )
    return origin, next((text for text in reasons if isinstance(text, str)), "")


def _number(value: bytes | None, limit: int) -> int | None:
    """A number as text, or as the four or eight bytes of a Java integer."""
    if value is None:
        return None
    if re.fullmatch(rb"[0-9]{1,19}", value):
        number = int(value)
    elif len(value) in (4, 8):
        number = int.from_bytes(value, "big", signed=True)
    else:
        return None
    return number if 0 <= number < limit else None
