"""PUBLISH packets as paho has them: to send, to leave as a will, and as they came."""

from __future__ import annotations

from typing import Any

from paho.mqtt.client import MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from heraldry.errors import TransportError
from heraldry.messages.protocols.mqtt import MqttPublish

_NAMES = {
    "payload_format": "PayloadFormatIndicator",
    "message_expiry_interval": "MessageExpiryInterval",
    "response_topic": "ResponseTopic",
    "correlation_data": "CorrelationData",
    "content_type": "ContentType",
}
_LONGEST = 65_535
_HIGHEST = {"payload_format": 1, "message_expiry_interval": 2**32 - 1}


def properties(
    endpoint: str, raw: MqttPublish, version: str, *, will: bool = False
) -> Properties | None:
    """The properties of a packet; TransportError for what ``version`` cannot carry (M60)."""
    own = {name: getattr(raw, name) for name in _NAMES if getattr(raw, name) is not None}
    if version == "3.1.1":
        names = [*own, *(("user_properties",) if raw.user_properties else ())]
        if names:
            told = f"MQTT 3.1.1 cannot carry {', '.join(names)}"
            raise TransportError(endpoint, told, "use an endpoint of MQTT/5.0")
        return None
    kind = PacketTypes.WILLMESSAGE if will else PacketTypes.PUBLISH
    found = Properties(kind)  # type: ignore[no-untyped-call]
    for name, value in own.items():
        _check(endpoint, name, value)
        setattr(found, _NAMES[name], value)
    for pair in raw.user_properties:
        for part in pair:
            _check(endpoint, f"the user property {pair[0]}", part)
    if raw.user_properties:
        found.UserProperty = list(raw.user_properties)
    return found


def topic(endpoint: str, given: str) -> str:
    """A topic that can be published to; TransportError where it holds a wildcard."""
    _check(endpoint, "the topic", given)
    if "+" in given or "#" in given:
        told = f"{given!r} is a filter, and nothing can be published to it"
        raise TransportError(endpoint, told, "a topic holds no + and no #")
    return given


def received(message: MQTTMessage, version: str) -> MqttPublish:
    """A packet as it came, also by a topic that is not UTF-8; a payload without a byte is none."""
    own = message.properties if version == "5.0" else None
    known: dict[str, Any] = {name: getattr(own, told, None) for name, told in _NAMES.items()}
    return MqttPublish(
        # paho's own property raises: the packet would break every session that it comes to.
        topic_name=bytes(message._topic).decode(errors="replace"),
        qos=message.qos,
        retain=bool(message.retain),
        user_properties=tuple(getattr(own, "UserProperty", ())),
        payload=bytes(message.payload) or None,
        version=version,
        **known,
    )


def _check(endpoint: str, name: str, value: Any) -> None:
    """Refuse what would make the broker close the connection."""
    if isinstance(value, int):
        if not 0 <= value <= _HIGHEST[name]:
            advice = f"an integer from 0 to {_HIGHEST[name]}"
            raise TransportError(endpoint, f"{name} cannot be {value}", advice)
        return
    long = len(value.encode(errors="replace") if isinstance(value, str) else value) > _LONGEST
    if long or (isinstance(value, str) and ("\0" in value or not _is_unicode(value))):
        told = f"MQTT cannot carry {name}"
        raise TransportError(endpoint, told, "at most 65,535 bytes of UTF-8, and no U+0000")


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in value)
