"""Events on protocols that mislead, by name: each is a good one with one thing changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.pipeline.kernel.event_lines import GOOD
from tests.pipeline.kernel.native_lines import PAYLOAD
from tests.suites.flawed_lines import as_text


def changed(name: str, *, without: str = "", **more: str) -> bytes:
    """A good event without one named value, or with others of these texts in addition."""
    sent = GOOD[name]
    kept = tuple(pair for pair in sent.pairs if pair[0] != without)
    given = tuple((key.replace("__", "-"), text) for key, text in more.items())
    return replace(sent, pairs=kept + given).line()


def placed(name: str, **metadata: Any) -> bytes:
    """A good event with some members of its metadata changed."""
    sent = GOOD[name]
    return replace(sent, metadata={**sent.metadata, **metadata}).line()


def holding(name: str, member: str, payload: str) -> bytes:
    """A good event with another payload."""
    return replace(GOOD[name], member=member, payload=payload).line()


STRANGE: dict[str, bytes] = {
    "kafka, id twice": changed("kafka", ce_id='"2"'),
    "kafka, id twice and the same": changed("kafka", ce_id='"1"'),
    "kafka, header of a placeholder twice": changed("kafka", region='"us"'),
    "kafka, name in capitals": changed("kafka", without="ce_id", CE_ID='"1"'),
    "kafka, no id": changed("kafka", without="ce_id"),
    "kafka, no type": changed("kafka", without="ce_type"),
    "kafka, no version": changed("kafka", without="ce_specversion"),
    "kafka, id null": changed("kafka", without="ce_id", ce_id="null"),
    "kafka, id empty": changed("kafka", without="ce_id", ce_id='""'),
    "kafka, id a number": changed("kafka", without="ce_id", ce_id="5"),
    "kafka, id not UTF-8": changed("kafka", without="ce_id", ce_id='{"base64":"/w=="}'),
    "kafka, id with an escape": changed("kafka", without="ce_id", ce_id=r'"\u0031"'),
    "kafka, version 0.3": changed("kafka", without="ce_specversion", ce_specversion='"0.3"'),
    "kafka, percent in the id": changed("kafka", without="ce_id", ce_id='"%31"'),
    "kafka, percent in a template": changed("kafka", without="ce_source", ce_source='"/shops/%37"'),
    "kafka, type as an attribute": changed("kafka", ce_datacontenttype='"text/plain"'),
    "kafka, type of text": changed("kafka", without="content-type", content__type='"text/plain"'),
    "kafka, type with a charset": changed(
        "kafka", without="content-type", content__type='"application/json; charset=utf-8"'
    ),
    "kafka, type twice": changed("kafka", content__type='"text/plain"'),
    "kafka, binary and structured": changed("kafka, structured", ce_id='"2"'),
    "kafka, other attribute beside the event": changed("kafka, structured", ce_dataschema='"x:y"'),
    "kafka, structured in name only": changed(
        "kafka", without="content-type", content__type='"application/cloudevents+json"'
    ),
    "kafka, a batch": changed(
        "kafka", without="content-type", content__type='"application/cloudevents-batch+json"'
    ),
    "kafka, extension": changed("kafka", ce_traceparent='"00-1"'),
    "kafka, extension twice": changed("extensions on KAFKA", ce_trace='"u"'),
    "kafka, extension null": changed("extensions on KAFKA", without="ce_trace", ce_trace="null"),
    "kafka, extension in capitals": changed("extensions on KAFKA", ce_TRACE='"u"'),
    "kafka, extension of a long name": changed("kafka", **{f"ce_{'x' * 30}": '"1"'}),
    "kafka, extension beside the event": changed("kafka, structured", ce_trace='"t"'),
    "kafka, extension of no event": GOOD["extensions on KAFKA"].only("ce_trace").line(),
    "mqtt, extension beside the event": changed("mqtt, structured", trace='"t"'),
    "nats, extension with an escape": changed(
        "extensions on NATS", without="ce-trace", ce__trace='"%31"'
    ),
    "http, extension in two cases": changed("extensions on HTTP", CE__Trace='"u"'),
    "kafka, empty attribute name": changed("kafka", ce_='"1"'),
    "kafka, null key": placed("kafka", key=None),
    "kafka, null key where none is wanted": placed("kafka-open", key=None),
    "kafka, key in base64": placed("partition", key=None, key_base64="bzE="),
    "kafka, other key": placed("kafka", key="o2"),
    "kafka, topic of another": placed("kafka", topic="one"),
    "kafka, tombstone": holding("kafka", "", ""),
    "kafka, tombstone structured": holding("kafka, structured", "", ""),
    "kafka, payload null": holding("kafka", "payload", "null"),
    "kafka, payload a text": holding("kafka", "payload_text", as_text(PAYLOAD)),
    "kafka, payload not valid": holding("kafka", "payload", '{"value": "x"}'),
    "kafka, payload not valid, structured": holding(
        "kafka, structured", "payload", GOOD["kafka, structured"].payload.replace("1.5", '"x"')
    ),
    "kafka, payload with a name twice": holding("kafka", "payload", '{"value": 1, "value": 2}'),
    "mqtt, version not first": changed("mqtt", without="specversion", specversion='"1.0"'),
    "mqtt, no version": changed("mqtt", without="specversion"),
    "mqtt, version twice": changed("mqtt", specversion='"0.3"'),
    "mqtt, extension": changed("mqtt", trace='"t"'),
    "mqtt, property that is no attribute": changed("mqtt", Trace='"t"', a_b='"c"'),
    "mqtt, type as a property": changed("mqtt", datacontenttype='"text/plain"'),
    "mqtt, property beside the event": changed("mqtt, structured", Trace='"t"'),
    "mqtt, attribute beside the event": changed("mqtt, structured", dataschema='"x:y"'),
    "mqtt, topic with an escape": placed("mqtt", topic_name="shops/%37/o1"),
    "mqtt, old and no event": holding("mqtt-old", "payload", '{"specversion": "1.0"}'),
    "nats, header in capitals": changed("nats", without="ce-id", CE__ID='"1"'),
    "nats, header in two cases": changed("nats", CE__ID='"2"'),
    "nats, percent-escape": changed("nats", without="ce-id", ce__id='"%31"'),
    "nats, bad percent-escape": changed("nats", without="ce-id", ce__id='"%ff"'),
    "nats, quotes": changed("nats", without="ce-id", ce__id=r'"\"1\""'),
    "nats, inner and outer type": changed("nats", content__type='"text/plain"'),
    "nats, inner type of text": changed(
        "nats", without="ce-datacontenttype", ce__datacontenttype='"text/plain"'
    ),
    "nats, event inside with a header": changed("nats, inside", a='"b"'),
    "http, header in capitals": changed("http", without="ce-id", CE__Id='"1"'),
    "http, header in two cases": changed("http", CE__ID='"2"'),
    "http, percent-escape": changed("http", without="ce-subject", ce__subject='"%C3%BC"'),
    "http, bad percent-escape": changed("http", without="ce-subject", ce__subject='"%C3"'),
    "http, type in capitals": changed("http", without="content-type", CONTENT__TYPE='"text/xml"'),
    "http, type of an attribute": changed("http", ce__datacontenttype='"text/plain"'),
    "http, encoded": changed("http", content__encoding='"gzip"'),
    "http, other method": placed("http", method="PUT"),
    "amqp, both prefixes": changed("amqp", cloudEvents_id='"2"'),
    "amqp, other prefix": changed("amqp", without="cloudEvents:id", cloudEvents_id='"1"'),
    "amqp, name in capitals": changed("amqp", **{"cloudevents:id": '"2"'}),
    "amqp, id a number": changed("amqp", **{"without": "cloudEvents:id", "cloudEvents:id": "5"}),
    "amqp, time typed": changed(
        "amqp", **{"without": "cloudEvents:time", "cloudEvents:time": '{"timestamp":0}'}
    ),
}
"""Cases that mislead, by name."""
