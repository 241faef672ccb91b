"""JSON Structure documents and payloads that try to stall, exhaust or lead astray."""

from __future__ import annotations

import json
from typing import Any

HEAD = {"$schema": "https://json-structure.org/meta/validation/v0/#", "$id": "urn:t", "name": "T"}
TEXT = {"type": "string"}


def document(**schema: Any) -> bytes:
    return json.dumps({**HEAD, **schema}).encode()


def named(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def ref(name: str) -> dict[str, Any]:
    return {"type": {"$ref": f"#/definitions/{name}"}}


def nested(depth: int) -> bytes:
    start = b'{"type":"array","items":' * depth
    return start + b'{"type":"string"}' + b"}" * depth


def chain(count: int, link: Any) -> dict[str, Any]:
    parts = {f"D{number}": link(f"D{number + 1}") for number in range(count)}
    return {**parts, f"D{count}": TEXT}


def following(name: str) -> dict[str, Any]:
    return named(next=ref(name))


def twice(name: str) -> dict[str, Any]:
    return {"allOf": [ref(name), ref(name)]}


def forked(name: str) -> dict[str, Any]:
    return {"type": "object", "abstract": True, "$extends": [f"#/definitions/{name}"] * 2,
            "properties": {f"p{name}": TEXT}}  # fmt: skip


WIDE = {f"p{number}": TEXT for number in range(9_000)}
HEIRS = {
    f"H{number}": {"type": "object", "$extends": "#/definitions/W", "properties": {"own": TEXT}}
    for number in range(5_000)
}
LINKED = document(
    **named(value=ref("A")),
    definitions={
        "A": named(next={"type": [{"$ref": "#/definitions/B"}, {"$ref": "#/definitions/C"}]}),
        "B": {**named(next=ref("A"), x=TEXT), "required": ["x"]},
        "C": named(next=ref("A"), y={"type": "int8"}),
    },
)
TREE = document(**named(next=ref("T")))
ANY = document(type="any")


def deep(count: int, key: bytes = b"next") -> bytes:
    return b'{"' + key + b'":' * 1 + (b'{"next":' * (count - 1)) + b"{}" + b"}" * count


DOCUMENTS: list[tuple[str, bytes | str]] = [
    ("empty", b""),
    ("not utf-8", b"\xff\xfe\x00"),
    ("null", b"null"),
    ("deep json", b"[" * 100_000),
    ("nested beyond the limit", nested(5_000)),
    ("nested near the limit", nested(95)),
    ("chain of references", document(**TEXT, definitions=chain(5_000, ref))),
    ("chain of records", document(**ref("D0"), definitions=chain(4_000, following))),
    ("reference to itself", document(**TEXT, definitions={"A": ref("A")})),
    ("union with itself", document(**TEXT, definitions={"A": {"type": [ref("A")["type"]]}})),
    ("conditions that double", document(**TEXT, definitions=chain(60, twice))),
    ("condition on itself", document(**TEXT, definitions={"A": {"not": ref("A")}})),
    ("heirs that double", document(**TEXT, definitions=chain(40, forked))),
    ("heirs of a wide type", document(**TEXT, definitions={"W": named(**WIDE), **HEIRS})),
    ("wide type", document(**named(**WIDE))),
    ("wider type", document(**named(**{f"q{number}": TEXT for number in range(19_000)}))),
    ("too wide type", document(**named(**{f"q{number}": TEXT for number in range(90_000)}))),
    ("huge enum", document(**TEXT, enum=[str(number) for number in range(100_000)])),
    ("huge number", b'{"type":"int32","minimum":1' + b"0" * 100_000 + b"}"),
    ("huge exponent", b'{"type":"number","minimum":1e999999}'),
    ("huge decimal limit", document(type="decimal", minimum="9" * 1_000_000)),
    ("huge precision", document(type="decimal", precision=10**18, scale=10**18)),
    ("exponential pattern", document(**TEXT, pattern="^(a+)+$")),
    ("huge pattern", document(**TEXT, pattern="((a{1,1000}){1,1000}){1,1000}")),
    ("nested pattern", document(**TEXT, pattern="(" * 50_000 + ")" * 50_000)),
    ("look-around", document(**TEXT, pattern="(?<=a)b(?=c)\\1")),
    ("fetch by http", document(**TEXT, **{"$import": "http://169.254.169.254/latest/meta-data"})),
    ("fetch a file", document(**TEXT, **{"$import": "file:///etc/passwd"})),
    ("fetch into a namespace", document(**TEXT, definitions={"A": {"$importdefs": "//evil"}})),
    ("reference by http", document(**named(a={"type": {"$ref": "http://evil.example/x"}}))),
    ("too large", b'{"type":"string","description":"' + b"x" * 5_000_000 + b'"}'),
    ("too many objects", document(**TEXT, examples=[{}] * 150_000)),
    ("wrong kinds everywhere", document(type={"$ref": 5}, definitions={"A": {"type": {}}})),
    ("pointer with escapes", document(**named(a=ref("~2~0~1")))),
    ("names of objects", document(**named(__proto__=TEXT, __class__=TEXT, constructor=TEXT))),
]  # fmt: skip

PAYLOADS: list[tuple[str, bytes | str, bytes, str | None]] = [
    ("deep json", ANY, b"[" * 100_000, None),
    ("deep json, closed", ANY, b"[" * 50_000 + b"]" * 50_000, None),
    ("deep value of a recursive type", TREE, deep(5_000), None),
    ("as deep as allowed", TREE, deep(190), None),
    ("alternatives that double", LINKED, deep(150, b"value"), None),
    ("huge number", document(type="number"), b"1" + b"0" * 200_000, None),
    ("huge exponent", document(type="double"), b"1e999999999", None),
    ("huge integer text", document(type="int64"), b'"' + b"9" * 1_000_000 + b'"', None),
    ("huge decimal", document(type="decimal"), b'"' + b"9" * 1_000_000 + b'"', None),
    ("multiple of a decimal", document(type="decimal", multipleOf="0.01"), b'"1.005"', None),
    ("pattern", document(**TEXT, pattern="^(a+)+$"), b'"' + b"a" * 100_000 + b'!"', None),
    ("pattern of words", document(**TEXT, pattern="^([a-z]+)*$"), b'"' + b"a" * 999 + b' "', None),
    ("duration", document(type="duration"), b'"P' + b"1" * 100_000 + b'"', None),
    ("json pointer", document(type="jsonpointer"), b'"' + b"/~0" * 100_000 + b'~"', None),
    ("uuid", document(type="uuid"), b'"' + b"0" * 100_000 + b'"', None),
    ("set of many", document(type="set", items={"type": "any"}), b"[" + b"1," * 999 + b"0]", None),
    ("many problems", document(type="array", items=TEXT), b"[" + b"1," * 100_000 + b"1]", None),
    ("many unknown members", document(**named(a=TEXT), additionalProperties=False),
     json.dumps({f"k{number}": 0 for number in range(20_000)}).encode(), None),
    ("lone surrogate", document(**TEXT, minLength=1), b'"\\ud800"', None),
    ("not utf-8", document(**TEXT), b'"\xff"', None),
    ("empty", document(**TEXT), b"", None),
    ("compressed bomb of a registry", document(**TEXT), b"\x03\x05" + b"u" * 16 + b"x\x9c", None),
    ("add-ins of a stranger", document(**named(a=TEXT)), b'{"$uses":["x","' + b"x" * 9_999 + b'"]}',
     None),
]  # fmt: skip
