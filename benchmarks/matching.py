"""Matching one message at a time: against the CloudEvents SDK, and among many definitions.

Binary events over HTTP are compared with ``from_binary`` of the ``cloudevents`` package, the
fastest of its public functions that read such a request: it is told that the event is binary,
what format its data has and of which version it is, all of which matching finds out by itself.
Every message is another one, and rounds are interleaved. A time is the processor time of the best
round.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from random import Random
from time import process_time
from typing import Any

from cloudevents.core.bindings.http import HTTPMessage, from_binary
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from corpus import catalog as corpus
from corpus import event
from heraldry.dialects.load import load_bytes
from heraldry.messages.catalog import Matched, MessageCatalog
from heraldry.messages.handlers import Handled
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.validate import validate

FEW, MANY = 10, 10_000
MESSAGES = 500
SDK_GOAL = 0.5
EVENT_GOAL = 1.3
TOPIC_GOAL = 2.0
HANDLER_GOAL = 1.2

Work = Callable[[Any], object]


def run(rounds: int = 60) -> dict[str, Any]:
    """All benchmarks of matching; the result says which goals are reached."""
    events = _events(rounds)
    topics = {name: _topics(*case, rounds) for name, case in _TOPICS.items()}
    handlers = {"raw": _handlers(rounds, schema=False), "decoded": _handlers(rounds, schema=True)}
    goals = {
        f"event matched <= {SDK_GOAL} x the SDK's parse": events["by sdk"] <= SDK_GOAL,
        f"event among {MANY} <= {EVENT_GOAL} x among {FEW}": events["by few"] <= EVENT_GOAL,
        f"topic among {MANY} <= {TOPIC_GOAL} x among {FEW}": max(topics.values()) <= TOPIC_GOAL,
        f"handlers <= {HANDLER_GOAL} x matching": max(handlers.values()) <= HANDLER_GOAL,
    }
    return {"events": events, "topics": topics, "handlers": handlers, "goals": goals}


def times(rounds: int, *works: tuple[Work, Sequence[Any]]) -> list[float]:
    """Microseconds per message of each work, the best of interleaved rounds."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for place, (work, messages) in enumerate(works):
            start = process_time()
            for message in messages:
                work(message)
            best[place] = min(best[place], (process_time() - start) / len(messages) * 1e6)
    return best


def requests(definitions: int) -> list[HttpMessage]:
    """Binary events over HTTP, no two of them alike."""
    rng = Random(7)
    found = []
    for number in range(MESSAGES):
        whole = event(rng, definitions, number)
        body = json.dumps({"orderid": whole["data"]["orderid"], "qty": number}).encode()
        names = [name for name in whole if name not in ("data", "datacontenttype")]
        headers = [(f"ce-{name}", whole[name]) for name in names]
        headers.append(("content-type", "application/json"))
        found.append(HttpMessage(method="POST", path="/", headers=tuple(headers), body=body))
    return found


def _events(rounds: int) -> dict[str, float]:
    few, many = _catalog(corpus(FEW)), _catalog(corpus(MANY))
    sent = requests(FEW)
    _all_match(few, sent)
    _all_match(many, sent)
    json_format = JSONFormat()
    foreign = [HTTPMessage(headers=dict(one.headers), body=one.body or b"") for one in sent]

    def parse(message: HTTPMessage) -> object:
        return from_binary(message, json_format, CloudEvent)

    sdk, among_few, among_many = times(
        rounds, (parse, foreign), (few.match, sent), (many.match, sent)
    )
    return {
        "sdk": round(sdk, 2),
        "few": round(among_few, 2),
        "many": round(among_many, 2),
        "by sdk": round(among_many / sdk, 3),
        "by few": round(among_many / among_few, 3),
    }


def _topics(
    protocol: str, options: Callable[[int], dict[str, Any]], send: Callable[[int], Any], rounds: int
) -> float:
    """How many times longer a message takes among many templates than among few."""

    def made(count: int) -> MessageCatalog:
        messages = {
            f"m{n}": {"protocol": protocol, "protocoloptions": options(n)} for n in range(count)
        }
        return _catalog({"messagegroups": {"g": {"protocol": protocol, "messages": messages}}})

    few, many = made(FEW), made(MANY)
    low = [send(n % FEW) for n in range(MESSAGES)]
    high = [send(n) for n in range(0, MANY, MANY // MESSAGES)]
    _all_match(few, low)
    _all_match(many, high)
    among_few, among_many = times(rounds, (few.match, low), (many.match, high))
    return round(among_many / among_few, 2)


def _masks(number: int) -> Iterator[str]:
    """Six segments, literal or not in every combination, then one of their own."""
    for bit in range(6):
        yield f"x{bit}" if number >> bit & 1 else f"{{p{bit}}}"


_TOPICS: dict[str, tuple[str, Callable[[int], dict[str, Any]], Callable[[int], Any]]] = {
    "MQTT": (
        "MQTT/5.0",
        lambda n: {"topic_name": f"plants/{{plant}}/lines/{{line}}/kind{n}/{{sensor}}"},
        lambda n: MqttPublish(topic_name=f"plants/7/lines/3/kind{n}/t1", payload=b"1"),
    ),
    "MQTT, leading placeholders": (
        "MQTT/5.0",
        lambda n: {"topic_name": f"{{a}}/{{b}}/{{c}}/{{d}}/kind{n}"},
        lambda n: MqttPublish(topic_name=f"1/2/3/4/kind{n}", payload=b"1"),
    ),
    "MQTT, every combination": (
        "MQTT/5.0",
        lambda n: {"topic_name": "/".join((*_masks(n), f"kind{n}"))},
        lambda n: MqttPublish(topic_name=f"x0/x1/x2/x3/x4/x5/kind{n}", payload=b"1"),
    ),
    "MQTT, two literals tell": (
        "MQTT/5.0",
        lambda n: {"topic_name": f"{{a}}/area{n // 100}/{{b}}/kind{n % 100}"},
        lambda n: MqttPublish(topic_name=f"1/area{n // 100}/2/kind{n % 100}", payload=b"1"),
    ),
    "NATS": (
        "NATS",
        lambda n: {"subject": f"plants.{{plant}}.{{line}}.kind{n}.{{sensor}}"},
        lambda n: NatsMessage(subject=f"plants.7.3.kind{n}.t1", payload=b"1"),
    ),
    "KAFKA": (
        "KAFKA",
        lambda n: {"topic": f"{{plant}}-kind{n}-{{line}}"},
        lambda n: KafkaRecord(topic=f"7-kind{n}-3", value=b"1"),
    ),
}


def _handlers(rounds: int, *, schema: bool) -> float:
    """Dispatching by the time for the same work without handlers: matching, and validating."""
    document = corpus(FEW)
    for number, one in enumerate(document["messagegroups"]["shop"]["messages"].values()):
        del one["dataschemaxid"], one["dataschemaformat"]
        if schema:
            shape = {"type": "object", "required": ["orderid"], "title": str(number)}
            one |= {"dataschemaformat": "JSONSchema/draft-07", "dataschema": shape}
    catalog = _catalog(document)
    for one in catalog:
        catalog.on(one.xid)(lambda data, context: None)
    sent = requests(FEW)
    assert all(isinstance(catalog.dispatch(one), Handled) for one in sent)

    def by_hand(raw: HttpMessage) -> object:
        match = catalog.match(raw)
        return validate(match.compiled, match.message) if isinstance(match, Matched) else None

    hand, handled = times(
        rounds, (by_hand if schema else catalog.match, sent), (catalog.dispatch, sent)
    )
    return round(handled / hand, 3)


def _catalog(document: dict[str, Any]) -> MessageCatalog:
    return MessageCatalog(load_bytes(json.dumps(document).encode(), "benchmark.xreg.json"))


def _all_match(catalog: MessageCatalog, sent: Sequence[Any]) -> None:
    """Every message must match; this compiles the definitions, too."""
    for one in sent:
        result = catalog.match(one)
        assert isinstance(result, Matched), result


if __name__ == "__main__":
    results = run()
    print(json.dumps(results, indent=2))
    sys.exit(not all(results["goals"].values()))
