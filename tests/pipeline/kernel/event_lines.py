"""Definitions of events, good events on all protocols in both modes, and flawed ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.pipeline.kernel.native_lines import PAYLOAD, SHAPE, definition
from tests.suites.flawed_lines import INSTANTS, TEXTS, as_text, payloads, written

Pairs = tuple[tuple[str, str], ...]
"""Named values: the text of each name and of its value."""

ATTRIBUTES = {
    "specversion": "1.0",
    "id": "1",
    "type": "shop.free",
    "source": "/shops/7",
    "subject": "o1",
    "time": "2026-11-16T08:30:00.5Z",
    "dataschema": "https://example.com/s",
}
STRUCTURED = "application/cloudevents+json"
JSON = "application/json"


def bound(protocol: str, options: dict[str, Any], name: str, **attributes: str) -> dict[str, Any]:
    """A definition of events on a protocol."""
    attributes = {"source": "/shops/{shop}", "subject": "{order}", **attributes}
    return definition(protocol, options, type=f"shop.{name}", **attributes)


def typed(whole: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A definition that says more of attributes."""
    return {**whole, "envelopemetadata": {**whole["envelopemetadata"], **more}}


def free(name: str, **attributes: str) -> dict[str, Any]:
    """A definition of events that names no protocol."""
    whole = definition("", {}, type=name, **attributes)
    return {member: whole[member] for member in whole if not member.startswith("protocol")}


KAFKA = {"topic": "orders", "key": "{order}", "headers": {"region": {"value": "{region}"}}}
DEFINITIONS: dict[str, dict[str, Any]] = {
    "free": free("shop.free"),
    "kafka": bound("KAFKA", KAFKA, "kafka"),
    "kafka-open": bound("KAFKA", {"topic": "o-{shop}"}, "open"),
    "partition": bound("KAFKA", {"topic": "p", "partition": 3, "key": {"type": "uuid"}}, "part"),
    "one-topic": bound("KAFKA", {"topic": "one"}, "topics"),
    "other-topic": bound("KAFKA", {"topic": "other-{n}"}, "topics"),
    "twins": bound("KAFKA", {"topic": "twins"}, "twins"),
    "twins-too": bound("KAFKA", {"topic": "twins"}, "twins", subject="{other}"),
    "narrow": bound("KAFKA", {"topic": "narrow"}, "narrow", subject="fixed"),
    "wide": bound("KAFKA", {"topic": "narrow"}, "narrow", subject="{x}"),
    "base": free("shop.based"),
    "derived": {
        **bound("KAFKA", {"topic": "derived"}, "based"),
        "basemessage": "/messagegroups/g/messages/base",
    },
    "no-envelope": definition("KAFKA", {"topic": "bare"}),
    "declared-type": bound(
        "KAFKA", {"topic": "typed", "headers": {"content-type": {"value": JSON}}}, "typed"
    ),
    "declared-mode": bound(
        "KAFKA", {"topic": "mode", "headers": {"content-type": {"value": STRUCTURED}}}, "mode"
    ),
    "other-spelling": bound(
        "KAFKA", {"topic": "spelled", "headers": {"Content-Type": {"value": JSON}}}, "spelled"
    ),
    "own-header": bound("KAFKA", {"topic": "own", "headers": {"ce_id": {"value": "{id}"}}}, "own"),
    "data-type": typed(bound("KAFKA", {}, "datatype"), datacontenttype={"value": JSON}),
    "extended": typed(bound("KAFKA", {}, "extended"), trace={"type": "string"}),
    "extended-more": typed(bound("KAFKA", {}, "more"), trace={"required": True}),
    "counted": typed(
        bound("KAFKA", {}, "counted"), level={"type": "integer"}, trace={"value": "{trace}"}
    ),
    "strict": typed(bound("KAFKA", {}, "strict"), id={"type": "uuid"}, time={"required": True}),
    "any-type": free("shop.any.{kind}", source="/any"),
    "mqtt": bound("MQTT/5.0", {"topic_name": "shops/{shop}/{order}", "qos": 1}, "mqtt"),
    "mqtt-named": bound(
        "MQTT/5.0", {"user_properties": {"id": {"value": "{id}"}, "Unit": {"value": "K"}}}, "named"
    ),
    "mqtt-typed": bound("MQTT/5.0", {"content_type": JSON}, "mtyped"),
    "mqtt-property": bound(
        "MQTT/5.0", {"user_properties": {"content-type": {"value": JSON}}}, "property"
    ),
    "mqtt-old": bound("MQTT/3.1.1", {"topic_name": "old/{order}"}, "old"),
    "nats": bound(
        "NATS", {"subject": "shops.{shop}", "headers": {"Unit": {"value": "{unit}"}}}, "nats"
    ),
    "nats-typed": bound("NATS", {"headers": {"Content-Type": {"value": STRUCTURED}}}, "ntyped"),
    "http": bound(
        "HTTP", {"method": "POST", "path": "/shops/{shop}", "query": {"a": {"value": "1"}}}, "http"
    ),
    "amqp": bound(
        "AMQP/1.0",
        {
            "properties": {"to": {"value": "q/{shop}"}},
            "application-properties": {"kind": {"value": "{kind}"}},
        },
        "amqp",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """An event as it is sent; ``named`` is the collection that holds the attributes."""

    protocol: str
    named: str
    metadata: dict[str, Any]
    pairs: Pairs
    payload: str
    member: str = "payload"
    listed: bool = False

    def metadata_text(self) -> str:
        names = [as_text(name) for name, _ in self.pairs]
        if self.listed or len(set(names)) < len(names):
            pairs = [
                written([('"name"', as_text(name)), ('"value"', value)])
                for name, value in self.pairs
            ]
            found = f"[{','.join(pairs)}]"
        else:
            found = written([(as_text(name), value) for name, value in self.pairs])
        members = [(as_text(name), as_text(value)) for name, value in self.metadata.items()]
        return written([*members, (as_text(self.named), found)] if self.named else members)

    def only(self, name: str) -> Sent:
        """With one of the named values alone."""
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair[0] == name))

    def line(self, space: str = "") -> bytes:
        members = [('"protocol"', as_text(self.protocol)), ('"metadata"', self.metadata_text())]
        members += [(as_text(self.member), self.payload)] if self.member else []
        return written(members, space).encode("utf-8", "surrogatepass")


NAMING = {
    "KAFKA": ("headers", "ce_"),
    "MQTT/5.0": ("user_properties", ""),
    "NATS": ("headers", "ce-"),
    "HTTP": ("headers", "ce-"),
    "AMQP/1.0": ("application-properties", "cloudEvents:"),
    "MQTT/3.1.1": ("", ""),
}


def binary(protocol: str, kind: str | None = JSON, /, **more: Any) -> Sent:
    """An event in binary mode; ``more`` are attributes, properties, and other named values."""
    named, prefix = NAMING[protocol]
    others, metadata, attributes = split(more)
    pairs = [(prefix + name, as_text(value)) for name, value in attributes.items()]
    pairs += [(name, as_text(value)) for name, value in others.items()]
    if kind is not None and protocol == "NATS":
        pairs.append(("ce-datacontenttype", as_text(kind)))
    elif kind is not None:
        pairs, metadata = stated(protocol, pairs, metadata, kind)
    return Sent(
        protocol=protocol, named=named, metadata=metadata, pairs=tuple(pairs), payload=PAYLOAD
    )


def structured(protocol: str, kind: str | None = STRUCTURED, /, **more: Any) -> Sent:
    """The same event in structured mode."""
    others, metadata, attributes = split(more)
    pairs = [(name, as_text(value)) for name, value in others.items()]
    if kind is not None:
        pairs, metadata = stated(protocol, pairs, metadata, kind)
    event = [(as_text(name), as_text(value)) for name, value in attributes.items()]
    payload = written([*event, ('"data"', PAYLOAD)])
    named = NAMING[protocol][0] if pairs else ""
    return Sent(
        protocol=protocol, named=named, metadata=metadata, pairs=tuple(pairs), payload=payload
    )


def split(more: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    others = more.pop("others", {})
    metadata = more.pop("metadata", {})
    return others, metadata, {n: v for n, v in {**ATTRIBUTES, **more}.items() if v is not None}


def stated(
    protocol: str, pairs: list[tuple[str, str]], metadata: dict[str, Any], kind: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Named values and metadata with the content type where the protocol has it."""
    if protocol == "MQTT/5.0":
        return pairs, {**metadata, "content_type": kind}
    if protocol == "AMQP/1.0":
        properties = {**metadata.get("properties", {}), "content-type": kind}
        return pairs, {**metadata, "properties": properties}
    return [("content-type", as_text(kind)), *pairs], metadata


UUID = "6f1c9a0e-4a52-4c3a-9d55-0e9d1f0e7a11"
ORDER: dict[str, Any] = {"metadata": {"topic": "orders", "key": "o1"}, "others": {"region": "eu"}}
DESK = {"topic_name": "shops/7/o1", "qos": 1}
POST = {"method": "POST", "path": "/shops/7", "query": {"a": "1"}}


def topic(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"topic": name, **more}}


GOOD: dict[str, Sent] = {
    **{f"free on {protocol}": binary(protocol) for protocol in NAMING if protocol[-1] != "1"},
    **{f"free in {protocol}": structured(protocol) for protocol in NAMING if protocol[-1] != "1"},
    **{f"free of no type on {n}": binary(n, None) for n in ("KAFKA", "NATS", "MQTT/5.0")},
    "few attributes": binary("KAFKA", None, subject=None, time=None, dataschema=None),
    "kafka": binary("KAFKA", type="shop.kafka", **ORDER),
    "kafka, listed": replace(binary("KAFKA", type="shop.kafka", **ORDER), listed=True),
    "kafka, structured": structured("KAFKA", type="shop.kafka", **ORDER),
    "kafka, structured with a type": structured(
        "KAFKA", type="shop.kafka", datacontenttype=JSON, **ORDER
    ),
    "kafka, structured with a charset": structured(
        "KAFKA", f"{STRUCTURED}; charset=UTF-8", type="shop.kafka", **ORDER
    ),
    "kafka-open": binary("KAFKA", type="shop.open", **topic("o-7", key="k")),
    "partition": binary("KAFKA", type="shop.part", **topic("p", partition=3, key=UUID)),
    "one-topic": binary("KAFKA", type="shop.topics", **topic("one")),
    "other-topic": binary("KAFKA", type="shop.topics", **topic("other-1")),
    "no such topic": binary("KAFKA", type="shop.topics", **topic("none")),
    "twins": binary("KAFKA", type="shop.twins", **topic("twins")),
    "narrow": binary("KAFKA", type="shop.narrow", subject="fixed", **topic("narrow")),
    "derived": binary("KAFKA", type="shop.based", **topic("derived")),
    "not derived": binary("KAFKA", type="shop.based", **topic("else")),
    "base elsewhere": binary("HTTP", type="shop.based"),
    "no envelope": binary("KAFKA", type="unknown", **topic("bare")),
    "no envelope, but a type": binary("KAFKA", type="shop.free", **topic("bare")),
    "declared type": binary("KAFKA", type="shop.typed", **topic("typed")),
    "declared type, structured": structured("KAFKA", type="shop.typed", **topic("typed")),
    "declared type, none": binary("KAFKA", None, type="shop.typed", **topic("typed")),
    "declared mode": structured("KAFKA", type="shop.mode", **topic("mode")),
    "declared mode, binary": binary("KAFKA", type="shop.mode", **topic("mode")),
    "other spelling": binary("KAFKA", type="shop.spelled", **topic("spelled")),
    "other spelling, both": binary(
        "KAFKA", type="shop.spelled", others={"Content-Type": "text/plain"}, **topic("spelled")
    ),
    "own header": binary("KAFKA", type="shop.own", **topic("own")),
    "own header, structured": structured("KAFKA", type="shop.own", **topic("own")),
    "data type": binary("KAFKA", type="shop.datatype"),
    "data type, none": binary("KAFKA", None, type="shop.datatype"),
    "data type, structured": structured("KAFKA", type="shop.datatype"),
    "declared extension": binary("KAFKA", type="shop.extended"),
    "declared extension, there": binary("KAFKA", type="shop.extended", trace="t"),
    **{
        f"extensions on {protocol}": binary(protocol, trace="t", other="ü", a0="")
        for protocol in NAMING
        if protocol[-1] != "1"
    },
    "an extension in a template": binary("KAFKA", type="shop.counted", trace="t"),
    "an extension that is a number": binary("KAFKA", type="shop.counted", trace="t", level="5"),
    "required extension": binary("KAFKA", type="shop.more", trace="t", other="o"),
    "required extension, missing": binary("KAFKA", type="shop.more"),
    "strict": binary("KAFKA", type="shop.strict", id=UUID),
    "any type": binary("NATS", type="shop.any.x", source="/any"),
    "mqtt": binary("MQTT/5.0", type="shop.mqtt", metadata=DESK),
    "mqtt, structured": structured("MQTT/5.0", type="shop.mqtt", metadata=DESK),
    "mqtt, named": binary("MQTT/5.0", type="shop.named", others={"Unit": "K"}),
    "mqtt, named and structured": structured(
        "MQTT/5.0", type="shop.named", others={"Unit": "K", "id": "2"}
    ),
    "mqtt, named in the event": structured("MQTT/5.0", type="shop.named", others={"Unit": "K"}),
    "mqtt, typed": binary("MQTT/5.0", type="shop.mtyped"),
    "mqtt, property": binary("MQTT/5.0", type="shop.property"),
    "mqtt, other property": binary(
        "MQTT/5.0", type="shop.property", others={"content-type": "text/plain"}
    ),
    "mqtt-old": structured(
        "MQTT/3.1.1", None, type="shop.old", metadata={"topic_name": "old/o1", "qos": 0}
    ),
    "nats": binary("NATS", type="shop.nats", metadata={"subject": "shops.7"}, others={"Unit": "K"}),
    "nats, structured": structured(
        "NATS", type="shop.nats", metadata={"subject": "shops.7"}, others={"Unit": "K"}
    ),
    "nats, inside": structured("NATS", None, metadata={"subject": "any"}),
    "nats, typed": structured("NATS", type="shop.ntyped"),
    "nats, two types": binary("NATS", others={"content-type": JSON}),
    "http": binary("HTTP", type="shop.http", metadata=POST),
    "http, structured": structured("HTTP", type="shop.http", metadata=POST),
    "amqp": binary(
        "AMQP/1.0",
        type="shop.amqp",
        metadata={"properties": {"to": "q/7"}},
        others={"kind": "k"},
    ),
    "amqp, structured": structured(
        "AMQP/1.0",
        type="shop.amqp",
        metadata={"properties": {"to": "q/7"}},
        others={"kind": "k"},
    ),
}
LEFT = {
    *("twins", "no such topic", "no envelope, but a type", "declared type, none"),
    *("declared mode, binary", "other spelling", "other spelling, both", "own header"),
    *("own header, structured", "an extension that is a number", "required extension, missing"),
    *("mqtt, named and structured", "mqtt, named in the event", "mqtt, property"),
    *("mqtt, other property", "nats, typed", "nats, two types", "data type, none"),
}
"""What only the judge decides, or rejects; all else is taken."""

VALUES = ("", "%41", "%", "%zz", '"q"', "a b", "ü", "\u2028", "\x7f", "\t", "0.3", "1.0 ", "/s/%2F")
VALUES += (JSON, f"{JSON}; charset=utf-8", "text/plain", STRUCTURED, f"{STRUCTURED};charset=utf-8")
VALUES += ("application/cloudevents", "application/cloudevents+avro", "APPLICATION/JSON")
VALUES += ("application/cloudevents-batch+json", "shop.kafka", "shop.free", "1", "o1", "x" * 70000)
TEXT_VALUES = ("null", "1", "true", '{"base64":"MQ=="}', '{"base64":"/w=="}', "[]", "1.0", "{}")
TEXT_VALUES += tuple(map(as_text, VALUES)) + TEXTS
NAMES = ("ce_id", "ce_ID", "CE_id", "ce-id", "CE-Id", "ce_", "ce-", "ce_data", "ce_datacontenttype")
NAMES += ("ce-datacontenttype", "ce-data", "id", "ID", "data", "datacontenttype", "data_base64")
NAMES += ("cloudEvents_id", "cloudEvents:id", "cloudEvents:", "cloudEvents", "cloudEventsid")
NAMES += ("content-type", "Content-Type", "content_type", "content-encoding", "specversion")
NAMES += ("ce_trace", "ce-trace", "trace", "cloudEvents:trace", "region", "Unit", "unit", "", "é")
NAMES += ("ce_subject", "ce-subject", "subject", "cloudEvents_subject", "to", "a:b", "a b", "traCe")
PAYLOADS = {
    "no payload": ("", ""),
    "payload null": ("payload", "null"),
    "payload a list": ("payload", "[1]"),
    "payload empty": ("payload", "{}"),
    "payload wrong": ("payload", '{"value": "x"}'),
    "payload a text": ("payload_text", as_text(PAYLOAD)),
    "payload in base64": ("payload_base64", '"e30="'),
    "payload a tombstone": ("payload", '""'),
    "payload and a flaw": ("payload", PAYLOAD[:-1]),
    "payload says more": ("payload", '{"value": 1, "specversion": "1.0"}'),
}


def variants(sent: Sent) -> Iterator[tuple[str, Sent]]:
    """An event with one thing changed."""
    pairs = sent.pairs
    for place, (name, value) in enumerate(pairs):
        before, after = pairs[:place], pairs[place + 1 :]
        yield f"without {name}", replace(sent, pairs=before + after)
        for other in (name.upper(), name.title(), name.replace("_", "-"), f" {name}", f"{name} "):
            yield f"{name} as {other}", replace(sent, pairs=(*before, (other, value), *after))
        for text in TEXT_VALUES:
            changed = (name, text)
            yield f"{name}: {text[:20]}", replace(sent, pairs=(*before, changed, *after))
            yield f"{name} first {text[:20]}", replace(sent, pairs=(changed, *pairs))
            yield f"{name} last {text[:20]}", replace(sent, pairs=(*pairs, changed))
        if name.endswith("time"):
            for instant in INSTANTS:
                changed = (name, as_text(instant))
                yield f"at {instant}", replace(sent, pairs=(*before, changed, *after))
    for name in NAMES:
        for text in ('"1"', '"x"', "null", '"1.0"', '"%41"', as_text(STRUCTURED), '"text/plain"'):
            more = replace(sent, named=sent.named or NAMING[sent.protocol][0] or "headers")
            yield f"and {name}: {text}", replace(more, pairs=(*pairs, (name, text)))
    for name, value in (*sent.metadata.items(), ("key", None), ("topic", "orders"), ("qos", 1)):
        for other in (None, "", "x", 1, True, "%41", [], {}, "bare", "shops/a%20b", f"{value}"):
            changed_metadata = {**sent.metadata, name: other}
            yield f"{name} {other}", replace(sent, metadata=changed_metadata)
    for told, (member, payload) in PAYLOADS.items():
        yield told, replace(sent, member=member, payload=payload)
    for protocol in NAMING:
        yield f"as {protocol}", replace(sent, protocol=protocol)


def payload_variants(sent: Sent) -> Iterator[tuple[str, Sent]]:
    """A structured event with one thing changed in its document."""
    event = json.loads(sent.payload)
    for name in (*event, "datacontenttype", "trace", "data_base64", "Upper"):
        for text in (*TEXT_VALUES, *map(as_text, INSTANTS[:12])):
            members = {as_text(n): as_text(v) for n, v in event.items()} | {as_text(name): text}
            yield f"{name} is {text[:20]}", replace(sent, payload=written([*members.items()]))
        twice = [(as_text(n), as_text(v)) for n, v in event.items()]
        twice += [one for one in twice if one[0] == as_text(name)]
        yield f"{name} twice", replace(sent, payload=written(twice))
        less = [(as_text(n), as_text(v)) for n, v in event.items() if n != name]
        yield f"no {name}", replace(sent, payload=written(less))


def adversarial(every: int = 1) -> list[bytes]:
    """Every good event with one thing changed; or each so many-th of them."""
    found: dict[str, Sent] = {}
    for name, sent in GOOD.items():
        found |= {f"{name}: {told}": one for told, one in variants(sent)}
        if '"specversion"' in sent.payload:
            found |= {f"{name}: {told}": one for told, one in payload_variants(sent)}
    return [sent.line() for sent in list(found.values())[::every]]


@st.composite
def bound_events(draw: st.DrawFn) -> bytes:
    """One line: an event on a protocol with at most a few flaws."""
    sent = GOOD[draw(st.sampled_from(sorted(GOOD)))]
    if "specversion" not in sent.payload:
        sent = replace(sent, payload=draw(payloads(SHAPE)))
    for _ in range(max(0, draw(st.integers(-2, 3)))):
        sent = draw(flawed(sent))
    if draw(st.booleans()):
        sent = replace(sent, listed=True)
    return sent.line(draw(st.sampled_from(("", "", " ", "\t", "\r"))))


@st.composite
def flawed(draw: st.DrawFn, sent: Sent) -> Sent:
    """An event with one flaw, or one oddity that is none."""
    pairs = list(sent.pairs) or [("content-type", as_text(STRUCTURED))]
    place = draw(st.integers(0, len(pairs) - 1))
    text = draw(st.sampled_from(TEXT_VALUES))
    match draw(st.integers(0, 6)):
        case 0:
            del pairs[place]
        case 1:
            pairs[place] = (pairs[place][0], text)
        case 2:
            pairs.insert(draw(st.integers(0, len(pairs))), (pairs[place][0], text))
        case 3:
            pairs.append((draw(st.sampled_from(NAMES)), text))
        case 4:
            pairs[place] = (draw(st.sampled_from(NAMES)), pairs[place][1])
        case 5:
            other = draw(st.sampled_from(sorted(GOOD)))
            return replace(sent, metadata=GOOD[other].metadata)
        case _:
            pairs = draw(st.permutations(pairs))
    return replace(sent, pairs=tuple(pairs), named=sent.named or "headers")
