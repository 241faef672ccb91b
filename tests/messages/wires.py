"""Messages of every protocol and mode, as hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import module, normalize
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.protocols.mqtt import MqttPublish

PROTOCOLS = ("HTTP", "KAFKA", "MQTT/5.0", "MQTT/3.1.1")
MODES = ("plain", "binary", "structured")

TEXT = st.text(max_size=8)
WORDS = st.text(min_size=1, max_size=8)
JSON = st.sampled_from(
    [b'{"a":1}', b'{ "a" : [1.0, 1e5] }', b"null", b'"x"', b'{"a":1,\n"b":2}', b" 5 ", b"5", b"1,2"]
)
PAYLOAD = st.none() | JSON | st.binary(max_size=12) | st.text(max_size=8).map(str.encode)
KINDS = st.none() | st.sampled_from(
    ["application/json", "text/plain", "application/vnd.x+json; a=b", "application/octet-stream"]
)
NAMES = st.sampled_from(["x-a", "X-A", "b", "My Property", "traceparent"])
ENCODINGS = st.sampled_from(["gzip", "deflate", "identity", "gzip, deflate", "x-gzip"])


@st.composite
def http_messages(draw: st.DrawFn) -> HttpMessage:
    headers = draw(st.lists(st.tuples(NAMES, TEXT), max_size=4))
    kind = draw(KINDS)
    if kind is not None:
        headers.insert(0, (draw(st.sampled_from(["Content-Type", "content-type"])), kind))
    path = draw(st.none() | TEXT.filter(lambda text: not {"?", "#"} & set(text)))
    return HttpMessage(
        method=draw(st.none() | st.sampled_from(["POST", "PUT"])),
        status=draw(st.none() | st.just("200")),
        path=path,
        query=tuple(draw(st.lists(st.tuples(NAMES, TEXT), max_size=3))),
        headers=tuple(headers),
        body=draw(PAYLOAD),
    )


@st.composite
def kafka_records(draw: st.DrawFn) -> KafkaRecord:
    values = st.none() | st.binary(max_size=6) | TEXT.map(str.encode)
    headers = draw(st.lists(st.tuples(NAMES, values), max_size=4))
    kind = draw(KINDS)
    return KafkaRecord(
        topic=draw(st.none() | TEXT),
        partition=draw(st.none() | st.integers(0, 100)),
        key=draw(values),
        headers=tuple(headers) + ((("content-type", kind.encode()),) if kind else ()),
        value=draw(PAYLOAD),
    )


@st.composite
def mqtt_packets(draw: st.DrawFn, version: str = "5.0") -> MqttPublish:
    common: dict[str, Any] = {
        "topic_name": draw(st.none() | TEXT),
        "qos": draw(st.none() | st.integers(0, 2)),
        "retain": draw(st.none() | st.booleans()),
        "payload": draw(PAYLOAD),
        "version": version,
    }
    if version == "3.1.1":
        return MqttPublish(**common)
    return MqttPublish(
        **common,
        payload_format=draw(st.none() | st.integers(0, 1)),
        message_expiry_interval=draw(st.none() | st.integers(0, 2**32 - 1)),
        response_topic=draw(st.none() | TEXT),
        correlation_data=draw(st.none() | st.binary(max_size=6)),
        content_type=draw(KINDS),
        user_properties=tuple(draw(st.lists(st.tuples(NAMES, TEXT), max_size=4))),
    )


def raws(protocol: str) -> st.SearchStrategy[Any]:
    """Raw messages of a protocol that carry no event."""
    if protocol.startswith("MQTT"):
        return mqtt_packets(protocol.partition("/")[2])
    return http_messages() if protocol == "HTTP" else kafka_records()


@st.composite
def attributes(draw: st.DrawFn, *, native: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"specversion": "1.0"}
    found |= {name: draw(WORDS) for name in ("id", "source", "type")}
    extras = TEXT | st.booleans() | st.integers(-(2**31), 2**31 - 1) if native else TEXT
    names = st.sampled_from(["subject", "time", "gate", "x1", "traceparent"])
    found |= draw(st.dictionaries(names, extras, max_size=3))
    kind = draw(KINDS)
    return found if kind is None else found | {"datacontenttype": kind}


@st.composite
def events(
    draw: st.DrawFn, mode: str, metadata: Any = None, protocol: str | None = None
) -> Message:
    """Events as a builder makes them: attributes, and metadata that does not know of them."""
    return Message(
        protocol=protocol,
        metadata=metadata or {},
        envelope=cloudevents.ENVELOPE,
        mode="binary" if mode == "binary" else "structured",
        attributes=draw(attributes(native=mode != "binary")),
        payload=draw(PAYLOAD),
        content_type=draw(KINDS),
    )


@st.composite
def messages(draw: st.DrawFn, protocol: str, mode: str) -> Message:
    """Messages as a receiver sees them, in one mode of one protocol."""
    found = module(protocol)
    assert found is not None
    plain = found.decode(draw(raws(protocol)))
    if mode == "plain":
        return plain
    metadata = dict(plain.metadata)
    if protocol == "HTTP" and draw(st.booleans()):
        encoding = (("Content-Encoding", draw(ENCODINGS)),)
        metadata["headers"] = metadata.get("headers", ()) + encoding
    return normalize(draw(events(mode, metadata, protocol)))
