"""Messages of every protocol and mode, as hypothesis draws them.

Thousands are drawn, so their parts come from pools that are filled once: texts, values and
collections of every kind, the awkward ones by hand and the rest by chance, always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message, Pairs
from heraldry.messages.protocol_table import module, normalize
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.protocols.nats import NatsMessage

PROTOCOLS = ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
MODES = ("plain", "binary", "structured")

_random = Random(2026)
_AWKWARD = [
    "",
    " ",
    "a",
    '"a"',
    '"a\\"b"',
    "%",
    "%41",
    "%ff",
    "a b",
    "\t\n",
    "ü€😀",
    "\x00",
    "{a}",
    "ce-id",
]


def _text(most: int = 8) -> str:
    points = [
        _random.choice((0x7F, 0x7FF, 0xD7FF, 0x10FFFF)) for _ in range(_random.randint(1, most))
    ]
    letters = [_random.randint(0, point) for point in points]
    return "".join(chr(one) for one in letters if not 0xD800 <= one <= 0xDFFF)


TEXTS = [*_AWKWARD, *(_text() for _ in range(80))]
KINDS = [
    None,
    "application/json",
    "text/plain",
    "application/vnd.x+json; a=b",
    "application/octet-stream",
]
PAYLOADS = [
    None,
    b'{"a":1}',
    b'{ "a" : [1.0, 1e5] }',
    b"null",
    b'"x"',
    b'{"a":1,\n"b":2}',
    b" 5 ",
    b"5",
    b"1,2",
    b"",
    b"\xff\x00",
    *(_random.randbytes(length) for length in range(1, 9)),
    *(text.encode() for text in TEXTS[:20]),
]
NAMES = ["x-a", "X-A", "b", "My Property", "traceparent"]
TOKENS = ["x-a", "X-A", "b", "traceparent"]
CODINGS = ["gzip", "deflate", "identity", "gzip, deflate", "x-gzip"]
CODED = {"HTTP": ("headers", "Content-Encoding"), "AMQP/1.0": ("properties", "content-encoding")}
SUBJECTS = [None, "a", "a.b", "Ü.%20", "a.b*c", "_INBOX.x"]
TOPICS = [None, *(text for text in TEXTS if not {"+", "#", "\0"} & set(text))]
LINES = [text for text in TEXTS if not {"\n", "\r", "\0"} & set(text)]
PATHS = [None, *(text for text in LINES if not {"?", "#"} & set(text))]
UINTS = [0, 1, 255, 2**32 - 1]
TIMES = [
    datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=_random.randint(-(2**40), 2**45))
    for _ in range(20)
]
UUIDS = [UUID(int=_random.getrandbits(128)) for _ in range(10)]
IDS = [*TEXTS, *UUIDS, *UUIDS, b"", b"\xff", 0, 2**64 - 1]
NUMBERS = [0, -1, -(2**63), 2**64 - 1, 0.5, -0.0, 1e300, float("inf"), float("-inf")]
SIMPLE = [None, True, False, *NUMBERS, *TEXTS[:20], b"", b"\xff", *UUIDS, *TIMES]


def _pick(values: Sequence[Any]) -> Any:
    return _random.choice(values)


def _some(names: Sequence[str], values: Sequence[Any], most: int = 4) -> Pairs:
    """Named values, whose names may repeat."""
    return tuple((_pick(names), _pick(values)) for _ in range(_random.randint(0, most)))


def _typed(names: Sequence[str], values: Sequence[Any]) -> Pairs:
    """Named values, often with a content type."""
    kind = _pick(KINDS)
    named = () if kind is None else ((_pick(["Content-Type", "content-type"]), kind),)
    return (*named, *_some(names, values))


def pool(make: Callable[[], Any], count: int = 2500) -> st.SearchStrategy[Any]:
    """One of as many things made by chance."""
    return st.sampled_from([make() for _ in range(count)])


def _http() -> HttpMessage:
    method, status = _pick([(None, None), ("POST", None), ("M-X", None), (None, "404")])
    return HttpMessage(
        method=method,
        status=status,
        path=_pick(PATHS),
        query=_some(NAMES, TEXTS, 3),
        headers=_typed(TOKENS, LINES),
        body=_pick(PAYLOADS),
    )


def _kafka() -> KafkaRecord:
    kind = _pick(KINDS)
    named = () if kind is None else (("content-type", kind.encode()),)
    return KafkaRecord(
        topic=_pick([None, *TEXTS]),
        partition=_pick([None, 0, 7, 2**31 - 1]),
        key=_pick(PAYLOADS),
        headers=(*_some(NAMES, PAYLOADS), *named),
        value=_pick(PAYLOADS),
    )


def _mqtt_3() -> MqttPublish:
    return MqttPublish(
        topic_name=_pick(TOPICS),
        qos=_pick([None, 0, 1, 2]),
        retain=_pick([None, True, False]),
        payload=_pick(PAYLOADS),
        version="3.1.1",
    )


def _mqtt_5() -> MqttPublish:
    return replace(
        _mqtt_3(),
        payload_format=_pick([None, 0, 1]),
        message_expiry_interval=_pick([None, *UINTS]),
        response_topic=_pick(TOPICS),
        correlation_data=_pick(PAYLOADS),
        content_type=_pick(KINDS),
        user_properties=_some(NAMES, [text for text in TEXTS if "\0" not in text]),
        version="5.0",
    )


def _nats() -> NatsMessage:
    return NatsMessage(
        subject=_pick(SUBJECTS),
        reply_to=_pick(SUBJECTS),
        headers=_typed(NAMES, LINES),
        payload=_pick(PAYLOADS),
    )


HEADER: dict[str, Sequence[Any]] = {
    "durable": [True, False],
    "priority": [0, 4, 255],
    "ttl": UINTS,
    "first-acquirer": [True, False],
    "delivery-count": UINTS,
}
PROPERTIES: dict[str, Sequence[Any]] = {
    "message-id": IDS,
    "user-id": [b"", b"\xff", b"abc"],
    "to": TEXTS,
    "subject": TEXTS,
    "reply-to": TEXTS,
    "correlation-id": IDS,
    "content-type": KINDS,
    "absolute-expiry-time": TIMES,
    "creation-time": TIMES,
    "group-id": TEXTS,
    "group-sequence": UINTS,
    "reply-to-group-id": TEXTS,
}
_TAGS = ["base64", "map", "number", "timestamp", "uuid", "x"]
NESTED = [
    *SIMPLE,
    *([_pick(SIMPLE), _pick(SIMPLE)] for _ in range(10)),
    *(dict(_some(_TAGS, SIMPLE, 2)) for _ in range(40)),
    {"map": {"uuid": [{"base64": b"x"}]}},
]


def _amqp() -> AmqpMessage:
    def section(table: dict[str, Sequence[Any]]) -> Pairs:
        return tuple((name, _pick(table[name])) for name in table if _random.random() < 0.4)

    def free(names: Sequence[str], values: Sequence[Any]) -> Pairs:
        return tuple(dict(_some(names, values, 2)).items())

    annotations = ["x-opt-a", "x-opt-b", "base64"]
    return AmqpMessage(
        header=section(HEADER),
        delivery_annotations=free(annotations, NESTED),
        message_annotations=free(annotations, NESTED),
        properties=section(PROPERTIES),
        application_properties=free(NAMES, SIMPLE),
        footer=free(annotations, NESTED),
        body=_pick(PAYLOADS),
    )


RAWS: dict[str, st.SearchStrategy[Any]] = {
    "HTTP": pool(_http),
    "AMQP/1.0": pool(_amqp),
    "MQTT/3.1.1": pool(_mqtt_3),
    "MQTT/5.0": pool(_mqtt_5),
    "KAFKA": pool(_kafka),
    "NATS": pool(_nats),
}


def raws(protocol: str) -> st.SearchStrategy[Any]:
    """Raw messages of a protocol that carry no event."""
    return RAWS[protocol]


def _attributes(native: bool) -> dict[str, Any]:
    texts = [text for text in TEXTS if "\0" not in text]
    words = [text for text in texts if text]
    found: dict[str, Any] = {"specversion": "1.0"}
    found |= {name: _pick(words) for name in ("id", "source", "type")}
    values = [*texts, True, False, -(2**31), 2**31 - 1] if native else texts
    found |= dict(_some(["subject", "time", "gate", "x1", "traceparent"], values, 3))
    kind = _pick(KINDS)
    return found if kind is None else found | {"datacontenttype": kind}


TEXT, PAYLOAD, KIND, CODING = map(st.sampled_from, (TEXTS, PAYLOADS, KINDS, CODINGS))
_NATIVE = pool(lambda: _attributes(native=True), 500)
_PLAIN = pool(lambda: _attributes(native=False), 500)


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
        attributes=draw(_PLAIN if mode == "binary" else _NATIVE),
        payload=draw(PAYLOAD),
        content_type=draw(KIND),
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
    if protocol in CODED and draw(st.booleans()):
        section, name = CODED[protocol]
        metadata[section] = (*metadata.get(section, ()), (name, draw(CODING)))
    return normalize(draw(events(mode, metadata, protocol)))
