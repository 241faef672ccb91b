"""What goes wrong in real streams: one function per flaw, applied to a good message."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

Json = dict[str, Any]
Flaw = Callable[[Json, Random], bytes | None]

_encode = msgspec.json.Encoder().encode


def flawed(message: Json, random: Random) -> bytes:
    """The line of a message that one flaw was put into: whichever applies to it first."""
    start = random.randrange(len(FLAWS))
    for step in range(len(FLAWS)):
        if (line := FLAWS[(start + step) % len(FLAWS)](message, random)) is not None:
            return line
    raise AssertionError("some flaws apply to every message")


def _payload(message: Json) -> Json:
    payload: Json = message["payload"] if "protocol" in message else message["data"]
    return payload


def _not_json(_: Json, random: Random) -> bytes:
    return f"WARN scanner hs-{random.randrange(1, 60):03} reconnecting after timeout".encode()


def _truncated(message: Json, random: Random) -> bytes:
    line = _encode(message)
    return line[: random.randrange(20, len(line) - 1)]


def _empty(_: Json, __: Random) -> bytes:
    return b""


def _not_a_message(_: Json, random: Random) -> bytes:
    return random.choice((b"[]", b"42", b'{"status":"ok"}', b"null"))


def _wrong_type(message: Json, _: Random) -> bytes | None:
    payload = _payload(message)
    for name in ("weight", "speed", "zone", "waited"):
        if name in payload:
            payload[name] = f"{payload[name]} units"
            return _encode(message)
    return None


def _out_of_range(message: Json, random: Random) -> bytes | None:
    payload = _payload(message)
    for name in ("weight", "load", "zone"):
        if name in payload:
            payload[name] = random.choice((-1, 4711))
            return _encode(message)
    return None


def _missing_member(message: Json, random: Random) -> bytes | None:
    payload = _payload(message)
    present = [name for name in ("flight", "at", "tag", "severity") if name in payload]
    del payload[random.choice(present)]
    return _encode(message)


def _not_in_enum(message: Json, _: Random) -> bytes | None:
    payload = _payload(message)
    for name, value in (("cabin", "premium"), ("condition", "soaked"), ("severity", "bad")):
        if name in payload:
            payload[name] = value
            return _encode(message)
    return None


def _bad_date(message: Json, _: Random) -> bytes | None:
    if "flight" not in (payload := _payload(message)):
        return None
    payload["flight"] = payload["flight"] | {"date": "31.06.2026"}
    return _encode(message)


def _beyond_64_bits(message: Json, random: Random) -> bytes | None:
    if "sequence" not in (payload := _payload(message)):
        return None
    payload["sequence"] = 2**64 + random.randrange(1000)
    return _big(message)


def _big(message: Json) -> bytes:
    # The encoder writes integers up to 64 bits: put the digits in by hand.
    number = str(message["payload"]["sequence"])
    message["payload"]["sequence"] = "@"
    return _encode(message).replace(b'"@"', number.encode())


def _unknown_type(message: Json, _: Random) -> bytes | None:
    if "type" not in message:
        return None
    message["type"] = "org.example.airport.luggage.misplaced"
    return _encode(message)


def _subject_misfit(message: Json, random: Random) -> bytes | None:
    if "subject" not in message:
        return None
    message["subject"] = random.choice(("BAG-", message["subject"].replace("BAG", "TAG")))
    return _encode(message)


def _missing_attribute(message: Json, random: Random) -> bytes | None:
    if "specversion" not in message:
        return None
    del message[random.choice(("id", "source", "time", "type"))]
    return _encode(message)


def _bad_time(message: Json, _: Random) -> bytes | None:
    if "time" not in message:
        return None
    message["time"] = message["time"].replace("T", " at ")
    return _encode(message)


def _wrong_specversion(message: Json, _: Random) -> bytes | None:
    if "specversion" not in message:
        return None
    message["specversion"] = "0.3"
    return _encode(message)


def _wrong_topic(message: Json, _: Random) -> bytes | None:
    topic = message.get("metadata", {}).get("topic_name")
    if topic is None:
        return None
    message["metadata"]["topic_name"] = topic.replace("/belts/", "/lifts/").replace(
        "/scan", "/Scan"
    )
    return _encode(message)


def _payload_not_json(message: Json, _: Random) -> bytes | None:
    if "payload" not in message:
        return None
    del message["payload"]
    return _encode(message | {"payload_text": "<reading unit='m/s'>1.2</reading>"})


def _bad_base64(message: Json, _: Random) -> bytes | None:
    if "payload" not in message:
        return None
    del message["payload"]
    return _encode(message | {"payload_base64": "**not base64**"})


def _bad_encoding(message: Json, _: Random) -> bytes | None:
    if "payload" in message:
        return None
    message["subject"] += "@"
    return _encode(message).replace(b"@", b"\xff\xfe")


def _unknown_protocol(message: Json, _: Random) -> bytes | None:
    if "protocol" not in message:
        return None
    return _encode(message | {"protocol": "COAP"})


FLAWS: tuple[Flaw, ...] = (
    _wrong_type,
    _subject_misfit,
    _out_of_range,
    _missing_member,
    _unknown_type,
    _wrong_topic,
    _not_in_enum,
    _missing_attribute,
    _bad_date,
    _bad_time,
    _payload_not_json,
    _beyond_64_bits,
    _truncated,
    _unknown_protocol,
    _not_json,
    _bad_encoding,
    _empty,
    _wrong_specversion,
    _bad_base64,
    _not_a_message,
)
"""The frequent ones first; each returns None where it does not apply."""
