"""What can be handed over as a message: a message, a JSON line or a protocol's own message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from heraldry.messages import line as lines
from heraldry.messages.message import Message
from heraldry.messages.protocols import amqp, http, kafka, mqtt, nats

Raw = (
    Message
    | bytes
    | str
    | Mapping[str, Any]
    | amqp.AmqpMessage
    | http.HttpMessage
    | kafka.KafkaRecord
    | mqtt.MqttPublish
    | nats.NatsMessage
)
"""What can be matched: a message, a JSON line, its object, or a protocol's own message."""

_READERS: dict[type, Callable[[Any], Message]] = {
    bytes: lines.read,
    str: lambda text: lines.read(text.encode("utf-8", "surrogatepass")),
    amqp.AmqpMessage: amqp.decode,
    http.HttpMessage: http.decode,
    kafka.KafkaRecord: kafka.decode,
    mqtt.MqttPublish: mqtt.decode,
    nats.NatsMessage: nats.decode,
}


def read(raw: Raw) -> Message:
    """Whatever can be matched as a message; :class:`MessageError` where it is none."""
    reader = _READERS.get(type(raw))
    if reader is not None:
        return reader(raw)
    if isinstance(raw, Message):
        return raw
    for kind, other in _READERS.items():
        if isinstance(raw, kind):
            return other(raw)
    return lines.read(msgspec.json.encode(raw))
