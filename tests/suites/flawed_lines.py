"""Strategies for JSON lines: events as they should be, and flawed in every way we know of.

Everything is made as text, because most flaws (numbers, escapes, duplicate keys) are of the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.suites.streams import Kind, Shape

Members = list[tuple[str, str]]
"""The members of an object: the text of each key and of its value."""

NUMBERS = (
    *("0", "-0", "1.0", "-1.0", "5e0", "1E+2", "-0.0", "0.1", "1e-400", "1e308", "1e309", "1e400"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("-9223372036854775809", "18446744073709551616", "12345678901234567890123"),
    *(
        "9" * 400,
        "-" + "9" * 400,
        "9007199254740993",
        "0.30000000000000004",
        "1.7976931348623159e308",
    ),
    *("2.2250738585072011e-308", "5e-324", "2e-324", "3.14159265358979323846264338327950288"),
    *("01", "+1", "1.", ".5", "NaN", "Infinity", "0x10", "1_000", "123456789012345678.0"),
)
TEXTS = (
    *('""', '"a"', '"ü€𝄞"', r'"\u0074ext"', r'"\ud834\udd1e"', r'"\ud834"', r'"\udd1e\ud834"'),
    *(r'"\u0000"', r'"\n\r\t\b\f\/\\\""', r'"\x41"', '"\t"', '"a\u2028b\ufeff"', '"%41%zz"', '"%"'),
    *('"null"', '" a "', '"' + "x" * 70000 + '"', '"2026-11-16T08:30:00Z"', r'"\uD83D\uDE00"'),
)
INSTANTS = (
    *("2026-11-16T08:30:00Z", "2026-11-16T08:30:00.1Z", "2026-11-16T08:30:00.123456Z"),
    *("2026-11-16T08:30:00.1234567Z", "2026-11-16T08:30:00.123456789Z", "2026-11-16T08:30:00.Z"),
    *("2026-11-16t08:30:00z", "2026-11-16T08:30:00+01:00", "2026-11-16T08:30:00-00:00"),
    *("2026-11-16T08:30:00+24:00", "2016-12-31T23:59:60Z", "2026-11-16T23:59:60Z"),
    *(
        "2026-11-16T08:30:00",
        "2026-11-16 08:30:00Z",
        "2026-02-30T08:30:00Z",
        "2026-13-01T00:00:00Z",
    ),
    *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
    *("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-11-16T24:00:00Z"),
    *("2026-11-16T08:60:00Z", "2026-11-16", "٢٠٢٦-11-16T08:30:00Z", "", "2024-02-29T00:00:00Z"),
    *("2023-02-29T00:00:00Z", "1969-12-31T23:59:59.999999Z", "2026-11-16T08:30Z", "now"),
    *(
        "2026-11-16T08:30:00Z ",
        "2026-11-16T08:30:00Z\n",
        "20261116T083000Z",
        "2026-W47-1T00:00:00Z",
    ),
)
DAYS = (
    *("2026-11-16", "2024-02-29", "2023-02-29", "2026-02-30", "0000-01-01", "0001-01-01"),
    *("9999-12-31", "1969-12-31", "2026-1-1", "20261116", "2026-11-16T00:00:00Z", "", "2026-W47-1"),
)
NOTHING = ("null", "[]", "{}", "true", "5", '"text"', "[null]", '{"a":null}', "")
DEEP = "[" * 150 + "]" * 150
DEEPER = '{"a":' * 2000 + "1" + "}" * 2000
ESCAPED_KEYS = {"type": r"\u0074ype", "data": r"d\u0061ta", "source": r"\u0073ource"}
SOURCES = (
    *("/shops/a%20b", "/shops/%", "/shops/%zz", "/shops/%FF", "/shops/a/b", "/shops/", "/shops"),
    *("/shops/ü", "/shops/a b", "", "//", "/shops/" + "x" * 3000, "/markets/x", "urn:constant"),
    *("/shops/a\nb", "/shops/{shop}", "https://x.example/%41", "/shops/berlin%2Fost", "/plain"),
)
SUBJECTS = (
    *(
        "4711@berlin",
        "4711@hamburg",
        "@berlin",
        "4711@",
        "a@b@berlin",
        "%40@berlin",
        "4711%40berlin",
    ),
    *("4711@berl%69n", "", "always", "Always", "\u0000@berlin", "4711@\nberlin", "ü@berlin"),
)
KINDS_OF_DATA = ("application/json", "application/json; charset=utf-8", "text/plain", "", "JSON")
KINDS_OF_DATA += ("application/vnd.shop+json", "Application/JSON", "application/xml")


as_text: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False).encode
"""The JSON text of a Python value."""


def values(shape: str) -> st.SearchStrategy[str]:
    """The text of a value of a kind, mostly a good one."""
    good: dict[str, st.SearchStrategy[str]] = {
        "text": st.text(max_size=8).map(json.dumps) | st.sampled_from(('"a"', '"ü𝄞"')),
        "number": st.floats(allow_nan=False, allow_infinity=False).map(repr)
        | st.integers(-(10**20), 10**20).map(str),
        "whole": st.integers(-(2**63), 2**63 - 1).map(str),
        "truth": st.sampled_from(("true", "false")),
        "instant": st.sampled_from(INSTANTS[:3]).map(as_text),
        "day": st.sampled_from(DAYS[:2]).map(as_text),
        "note": st.sampled_from(("null", '"a"')),
        "fixed": st.just('"x"'),
        "any": st.sampled_from((*NOTHING[:-1], "1.5", '"a"')),
    }
    odd: dict[str, tuple[str, ...]] = {
        "text": TEXTS,
        "note": TEXTS,
        "number": NUMBERS,
        "whole": NUMBERS,
        "instant": tuple(as_text(one) for one in INSTANTS),
        "day": tuple(as_text(one) for one in DAYS),
    }
    strange = st.sampled_from((*odd.get(shape, (*TEXTS, *NUMBERS)), *NOTHING, DEEP, DEEPER))
    return st.integers(0, 11).flatmap(lambda n: strange if n == 0 else good[shape])


@st.composite
def payloads(draw: st.DrawFn, shape: Shape) -> str:
    """The text of a payload of a shape: members may be missing, doubled, renamed or strange."""
    if isinstance(shape, str):
        return draw(values(shape))
    if isinstance(shape, list):
        items = [draw(payloads(shape[0])) for _ in range(draw(st.integers(0, 2)))]
        return f"[{','.join(items)}]"
    members: Members = []
    for name, inner in shape.items():
        fate = draw(st.integers(0, 59))
        if fate == 0:
            continue
        members.append((as_text(name), draw(payloads(inner))))
        if fate == 1:
            members.append((as_text(name), draw(payloads(inner))))
        elif fate == 2:
            members.append((as_text(name), draw(st.sampled_from(NOTHING[:-1]))))
        elif fate == 3:
            members[-1] = (f'"\\u{ord(name[:1] or "x"):04x}{name[1:]}"', members[-1][1])
        elif fate == 4:
            members.append(('"more"', draw(st.sampled_from((*NOTHING[:-1], *NUMBERS)))))
    return written(members, draw(st.sampled_from(("", "", "", " ", "\t", "\r"))))


def written(members: Members, space: str = "") -> str:
    """An object of members."""
    inside = f",{space}".join(f"{key}{space}:{space}{value}" for key, value in members)
    return f"{{{space}{inside}{space}}}"


@st.composite
def flawed_attributes(draw: st.DrawFn, given: Members) -> Members:
    """The members of an event with one flaw, or one oddity that is none."""
    members = list(given)
    place = draw(st.integers(0, len(members) - 1))
    key, value = members[place]
    choice = draw(st.sampled_from(_FLAWS))
    strange = draw(st.sampled_from(_STRANGE[choice])) if choice in _STRANGE else ""
    match choice:
        case "missing":
            del members[place]
        case "value":
            members[place] = (key, strange)
        case "twice" | "twice-other":
            members.insert(draw(st.integers(0, len(members))), (key, strange or value))
        case "escaped":
            name = json.loads(key)
            members[place] = (as_text(name).replace(name[0], f"\\u{ord(name[0]):04x}", 1), value)
        case "base64" | "extra" | "protocol" | "extension":
            members.insert(draw(st.integers(0, len(members))), _pair(strange))
        case _:
            key = f'"{choice}"'
            members = [member for member in members if member[0] != key]
            members.insert(draw(st.integers(0, len(members))), (key, as_text(strange)))
    return members


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition(":")
    return f'"{key}"', value


_FLAWS = (
    *("missing", "value", "twice", "twice-other", "escaped", "base64", "extra", "protocol"),
    *("extension", "extension", "time", "source", "subject", "datacontenttype", "type"),
)
_STRANGE: Mapping[str, tuple[str, ...]] = {
    "value": (*NOTHING, *TEXTS, *NUMBERS[:12], DEEP, DEEPER),
    "twice-other": NOTHING[:-1],
    "base64": ('data_base64:"e30="', 'data_base64:"?"', "data_base64:5", "data_base64:null"),
    "extra": ("Upper:1", "payload:{}", "a_b:1", "metadata:{}", "datax:1", "x" * 30 + ":1"),
    "protocol": (
        *('protocol:"MQTT/5.0"', 'protocol:"KAFKA"', 'protocol:"AMQP"', 'protocol:"NATS"'),
        *("protocol:null", 'protocol:"COAP"'),
    ),
    "extension": (
        *('trace:"t"', 'trace:""', "trace:5", "trace:null", 'other:"o"', "other:true", "ext1:{}"),
        *(
            'link:"urn:x:1"',
            'link:"no uri"',
            "level:5",
            'level:"5"',
            "level:3000000000",
            "hot:true",
        ),
        *('hot:"yes"', 'zone:"%41"', r'esc:"\u0041\""', 'tenant:""', 'dataschema:"not a uri"'),
    ),
    "time": INSTANTS,
    "source": SOURCES,
    "subject": SUBJECTS,
    "datacontenttype": KINDS_OF_DATA,
    "type": ("shop.none", "shop.ORDER", "shop.order ", "shop.", "shop.a/b", "", "shop.%6Frder"),
}


@st.composite
def events(draw: st.DrawFn, kinds: Mapping[str, Kind], flaws: int = 2) -> bytes:
    """One line: an event of one of the kinds with at most so many flaws besides its payload's."""
    one = kinds[draw(st.sampled_from(sorted(kinds)))]
    members: Members = [('"specversion"', '"1.0"'), ('"id"', as_text(draw(st.text(max_size=5))))]
    members += [(as_text(name), as_text(value)) for name, value in one.attributes.items()]
    if one.data is not None:
        members.append(('"data"', draw(payloads(one.data))))
    for _ in range(max(0, draw(st.integers(-2, flaws)))):
        if members:
            members = draw(flawed_attributes(members))
    if draw(st.booleans()):
        members = draw(st.permutations(members))
    text = written(members, draw(st.sampled_from(("", "", "", "", " ", "\r", "\u00a0"))))
    return draw(damaged(text.encode("utf-8", "surrogatepass")))


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """A line as it is in most cases, else with a damage to its bytes."""
    fate = draw(st.integers(0, 39))
    at = draw(st.integers(0, len(good))) if fate < 5 else 0
    match fate:
        case 0:
            return good[:at]
        case 1:
            return (
                good[:at]
                + draw(st.sampled_from((b"\xff", b"\xc0\x80", b"\xed\xa0\x80")))
                + good[at:]
            )
        case 2:
            return good[:at] + b"\x00" + good[at:]
        case 3:
            return draw(
                st.sampled_from((b"", b" ", b"\r", b"\xef\xbb\xbf" + good, b"[" + good + b"]"))
            )
        case 4:
            return good + draw(st.sampled_from((b" ", b"\r", b"{}", good, b",", b"\x0b", b" 1")))
        case 5:
            return draw(st.binary(max_size=40))
    return good


def native_lines() -> st.SearchStrategy[bytes]:
    """Lines of messages that name a protocol: readings of belts over MQTT, events over Kafka."""
    payload = payloads({"value": "number", "at": "instant"})
    topics = st.sampled_from(
        ("belts/1/sensors/t", "belts/1", "belts//sensors/t", "belts/%41/sensors/t")
    )
    belt = st.builds(
        '{{"protocol":"MQTT/5.0","metadata":{{"topic_name":"{}","user_properties":{}}},"payload":{}}}'.format,
        topics,
        st.sampled_from(('[{"name":"unit","value":"K"}]', "[]", "null", '"no"')),
        payload,
    )
    record = st.builds(
        '{{"protocol":"KAFKA","metadata":{{"topic":"{}","key":{},"headers":{{"ce_specversion":"1.0",'
        '"ce_id":"1","ce_type":"shop.keyed","ce_source":"/shops/a"}}}},"payload":{}}}'.format,
        st.sampled_from(("orders", "other")),
        st.sampled_from(('"k"', "null", '""', "5")),
        payloads({"name": "text"}),
    )
    return (belt | record).map(lambda text: text.encode("utf-8", "surrogatepass")).flatmap(damaged)
