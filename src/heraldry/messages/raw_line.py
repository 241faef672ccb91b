"""A protocol's own message as JSON lines, just as it came: for what keeps messages in masses."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec

from heraldry.errors import MessageError
from heraldry.messages import line
from heraldry.messages.envelopes import event_formats, json_format
from heraldry.messages.protocol_table import ProtocolModule
from heraldry.messages.protocols import amqp, http, kafka, mqtt, nats

_MODULES: dict[type, ProtocolModule] = {
    amqp.AmqpMessage: amqp,
    http.HttpMessage: http,
    kafka.KafkaRecord: kafka,
    mqtt.MqttPublish: mqtt,
    nats.NatsMessage: nats,
}
_BRACKETS = 150
_encode = msgspec.json.Encoder().encode
_parse = msgspec.json.Decoder().decode


def raw_lines(raw: Any) -> list[bytes]:
    """The lines of a raw message: one, or one for each event of a batch over HTTP.

    Nothing is lost: what is no batch, although it says so, is one line, and becomes a letter.
    """
    if type(raw) is http.HttpMessage and event_formats.is_batch(http.content_type(raw)):
        try:
            return batch_lines(raw)
        except MessageError:
            pass
    return [raw_line(raw)]


def batch_lines(raw: http.HttpMessage) -> list[bytes]:
    """The lines of a batch; MessageError where it is none."""
    return [line.write(message) for message in http.decode_batch(raw)]


def raw_line(raw: Any) -> bytes:
    """One line that :func:`line.read` reads as what the protocol's ``decode`` makes of ``raw``.

    It is not decoded here, so whatever came has a line; also metadata that JSON cannot say.
    """
    module = _MODULES[type(raw)]
    protocol, payload = module.protocol(raw), module.payload(raw)
    member = {} if payload is None else payload_member(payload)
    try:
        return _encode({"protocol": protocol, "metadata": module.to_json(raw), **member})
    except (TypeError, ValueError, UnicodeError):
        told = {"unreadable": ascii(module.metadata(raw))}
        return _encode({"protocol": protocol, "metadata": told, **member})


def payload_member(payload: bytes) -> dict[str, Any]:
    """The payload as a member of a line: JSON as it is, else a text, else base64."""
    if _is_json(payload):
        return {"payload": msgspec.Raw(payload)}
    try:
        return {"payload_text": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": b64encode(payload).decode("ascii")}


def _is_json(payload: bytes) -> bool:
    """As ``json_format.is_json`` for one line, but parsed only once where it cannot be deep."""
    if payload.count(b"[") + payload.count(b"{") > _BRACKETS:
        return json_format.is_json(payload, one_line=True)
    if not payload or payload[:1].isspace() or payload[-1:].isspace():
        return False
    if b"\n" in payload or b"\r" in payload:
        return False
    try:
        _parse(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
