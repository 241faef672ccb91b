"""Avro schemas and payloads made to exhaust or to mislead whoever reads them."""

from __future__ import annotations

import json
from typing import Any


def _long(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes((number,))


def _record(name: str, *types: Any) -> dict[str, Any]:
    fields = [{"name": f"f{index}", "type": one} for index, one in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


def _doubling(levels: int) -> list[Any]:
    """Records of two of the one before: the last has 2 to the power of levels parts."""
    records: list[Any] = [_record("R0")]
    records += [_record(f"R{n}", f"R{n - 1}", f"R{n - 1}") for n in range(1, levels)]
    return records


def _chain(length: int) -> list[Any]:
    return [_record("R0"), *(_record(f"R{n}", f"R{n - 1}") for n in range(1, length))]


def _cycle(length: int) -> dict[str, Any]:
    inner: Any = ["null", "R0"]
    for number in range(length, -1, -1):
        inner = _record(f"R{number}", inner)
    made: dict[str, Any] = inner
    return made


def _reference(address: str) -> dict[str, Any]:
    return _record("R", address)


_NODE = {"type": "record", "name": "N", "fields": [{"name": "n", "type": ["null", "N"]}]}
_TREE = {
    "type": "record",
    "name": "T",
    "fields": [{"name": "t", "type": {"type": "array", "items": "T"}}],
}
_TWINS_TOP = {
    "type": "record",
    "name": "A",
    "fields": [
        {
            "name": "f0",
            "type": ["null", "A", {**_record("B", ["null", "A", "B"], "string")}],
        },
        {"name": "f1", "type": "int"},
    ],
}


def _twins(depth: int) -> bytes:
    """A value that fits no type at its innermost part only."""
    value: Any = None
    for number in range(depth):
        value = {"f0": value, "f1": 1.5 if not number else None}
    return json.dumps(value).encode()


DOCUMENTS: list[tuple[str, bytes | str]] = [
    ("nested arrays", '{"type":"array","items":' * 5_000 + '"int"' + "}" * 5_000),
    ("arrays nested to the limit of JSON", '{"type":"array","items":' * 190 + '"int"' + "}" * 190),
    ("nested lists", "[" * 100_000),
    ("nested types", '{"type":' * 150 + '"int"' + "}" * 150),
    ("records that double", json.dumps(_doubling(60))),
    ("a long chain of records", json.dumps(_chain(2_000))),
    ("a cycle of many records", json.dumps(_cycle(60))),
    ("a record of itself", json.dumps(_record("R", "R"))),
    ("records of each other", json.dumps(_record("R", _record("S", "R")))),
    ("a large document", json.dumps("x" * (5 * 1024 * 1024))),
    ("many fields", json.dumps(_record("R", *["int"] * 100_000))),
    ("fields up to the limit", json.dumps(_record("R", *["int"] * 4_900))),
    ("many types", json.dumps([_record(f"R{n}") for n in range(50_000)])),
    ("a union up to the limit", json.dumps([_record(f"R{n}", "int") for n in range(500)])),
    ("many symbols", json.dumps({"type": "enum", "name": "E",
                                 "symbols": [f"S{n}" for n in range(300_000)]})),
    ("symbols up to the limit", json.dumps({"type": "enum", "name": "E",
                                            "symbols": [f"S{n}" for n in range(50_000)]})),
    ("a huge fixed", json.dumps({"type": "fixed", "name": "F", "size": 2**62})),
    ("a negative fixed", json.dumps({"type": "fixed", "name": "F", "size": -1})),
    ("a huge number", '{"type":"fixed","name":"F","size":1' + "0" * 100_000 + "}"),
    ("a huge precision", json.dumps({"type": "bytes", "logicalType": "decimal",
                                     "precision": 10**9, "scale": 0})),
    ("a huge scale", json.dumps({"type": "bytes", "logicalType": "decimal",
                                 "precision": 10**9, "scale": 10**9})),
    ("a deep default", '{"type":"record","name":"R","fields":[{"name":"a","type":"R","default":'
     + '{"a":' * 180 + "{}" + "}" * 180 + "}]}"),
    ("a default that fills itself", '{"type":"record","name":"R","fields":'
     '[{"name":"a","type":"R","default":{}}]}'),
    ("defaults that double", json.dumps({"type": "record", "name": "R", "fields": [
        {"name": "a", "type": ["R", "null"], "default": {}},
        {"name": "b", "type": ["R", "null"], "default": {}}]})),
    ("reference by http", json.dumps(_reference("http://169.254.169.254/latest/meta-data"))),
    ("reference by file", json.dumps(_reference("file:///etc/passwd"))),
    ("reference by path", json.dumps(_reference("/etc/passwd"))),
    ("reference to another folder", json.dumps(_reference("../../secret"))),
    ("not text", b"\xff\xfe\x00\x01" * 100),
    ("nothing", b""),
    ("a lone surrogate", '{"type":"record","name":"\\ud800","fields":[]}'),
    ("a name of spaces", json.dumps(_record(" ", "int"))),
    ("names without end", json.dumps(_record("a." * 100_000 + "b", "int"))),
    ("a name that almost matches", json.dumps(_record("a" * 1_000_000 + "!", "int"))),
]  # fmt: skip
"""Identifiers and documents; each is compiled or refused, quickly, and fetches nothing."""

_FLAT = _record("R", "int", "string", ["null", "bytes"])

PAYLOADS: list[tuple[str, Any, bytes, str | None]] = [
    ("a list without end", _NODE, b"\x02" * 1_000_000, None),
    ("a list without end in JSON", _NODE, b'{"n":{"N":' * 100_000, "application/json"),
    ("a list to the limit of JSON", _NODE,
     b'{"n":{"N":' * 95 + b'{"n":null}' + b"}}" * 95, "application/json"),
    ("a tree without end", _TREE, b"\x02" * 1_000_000, None),
    ("a tree that is wide", _TREE, _long(10**9) + b"\x00" * 100, None),
    ("a billion nulls", {"type": "array", "items": "null"}, _long(10**9) + b"\x00", None),
    ("blocks of nulls", {"type": "array", "items": "null"}, _long(50_000) * 1_000 + b"\x00", None),
    ("a billion empty records", {"type": "array", "items": _record("R")},
     _long(10**9) + b"\x00", None),
    ("a billion empty fixed", {"type": "array", "items": {"type": "fixed", "name": "F",
                                                          "size": 0}}, _long(10**9), None),
    ("many nulls for a byte", {"type": "array", "items": _record("R", "boolean", *["null"] * 999)},
     _long(100_000) + b"\x00" * 100_000 + b"\x00", None),
    ("a long text", "string", _long(2**60) + b"abc", None),
    ("a text of negative length", "string", _long(-5) + b"abc", None),
    ("bytes without end", "bytes", _long(2**62), None),
    ("a list of 2^62 items", {"type": "array", "items": "int"}, _long(2**62) + b"\x02" * 9, None),
    ("a block of the least count", {"type": "array", "items": "int"}, _long(-(2**63)) + b"\x02",
     None),
    ("a map of 2^62 items", {"type": "map", "values": "null"}, _long(2**62) + b"\x02a", None),
    ("a number without end", "long", b"\xff" * 1_000_000, None),
    ("a number of eleven bytes", "long", b"\x80" * 10 + b"\x01", None),
    ("a number beyond its type", "int", _long(2**40), None),
    ("a symbol that is none", {"type": "enum", "name": "E", "symbols": ["A"]}, _long(7), None),
    ("a symbol from the end", {"type": "enum", "name": "E", "symbols": ["A", "B"]}, _long(-1),
     None),
    ("a type that is none", ["null", "string"], _long(7), None),
    ("not UTF-8", "string", _long(2) + b"\xff\xfe", None),
    ("a year beyond all", {"type": "long", "logicalType": "timestamp-millis"}, _long(2**62), None),
    ("a day beyond all", {"type": "int", "logicalType": "date"}, _long(2**31 - 1), None),
    ("a time before midnight", {"type": "int", "logicalType": "time-millis"}, _long(-1), None),
    ("a decimal of a million digits", {"type": "bytes", "logicalType": "decimal", "precision": 9,
                                       "scale": 2}, _long(1_000_000) + b"\x7f" * 1_000_000, None),
    ("a number of a million digits in JSON", "long", b"1" * 1_000_000, "application/json"),
    ("a decimal of a huge exponent in JSON", {"type": "bytes", "logicalType": "decimal",
                                              "precision": 9, "scale": 2}, b"1e999999999",
     "application/json"),
    ("a container file", _FLAT, b"Obj\x01" + b"\x00" * 100, None),
    ("another schema's fingerprint", _FLAT, b"\xc3\x01" + b"\x01" * 8 + b"\x02\x02a\x00", None),
    ("types that are tried again and again", _TWINS_TOP, _twins(60), "application/json"),
    ("types that are tried at the limit", _TWINS_TOP, _twins(190), "application/json"),
    ("a bomb in a Glue frame", _FLAT, b"\x03\x05" + b"\x00" * 16 + b"x\x9c" + b"\xff" * 100, None),
]  # fmt: skip
"""Identifiers, schemas, payloads and content types; each is decoded or refused, quickly."""
