"""Hostile JSON Schema documents, and payloads that are hostile to a schema."""

from __future__ import annotations

import json
from typing import Any

FORMAT = "JSONSchema/draft-07"
MODERN = "https://json-schema.org/draft/2020-12/schema"
Document = bytes | str


def _text(document: Any) -> str:
    return json.dumps(document)


def _deep(levels: int, key: str = "not") -> str:
    return f'{{"{key}":' * levels + "{}" + "}" * levels


def _chain(levels: int, *, doubled: str = "", member: str = "") -> dict[str, Any]:
    """Definitions that lead on to one another, in place or through a member, once or twice."""
    parts: dict[str, Any] = {f"a{levels}": {"type": "integer"}}
    for number in range(levels):
        on: dict[str, Any] = {"$ref": f"#/definitions/a{number + 1}"}
        on = {doubled: [on, on]} if doubled else on
        parts[f"a{number}"] = {"properties": {member: on}} if member else on
    return {"definitions": parts, "allOf": [{"$ref": "#/definitions/a0"}]}


def _complete(count: int, key: str) -> dict[str, Any]:
    """Definitions each of which leads to all the others."""
    parts = {
        f"a{n}": {key: [{"$ref": f"#/definitions/a{m}"} for m in range(count) if m != n]}
        for n in range(count)
    }
    return {"definitions": parts, "allOf": [{"$ref": "#/definitions/a0"}]}


def _nested_identities(levels: int) -> dict[str, Any]:
    """References that multiply, each hidden behind an identity of its own."""
    parts = {
        f"a{n}": {
            "$id": f"http://example.com/a{n}",
            "allOf": [{"$ref": f"a{n + 1}"}, {"$ref": f"a{n + 1}#"}],
        }
        for n in range(levels)
    }
    parts[f"a{levels}"] = {"$id": f"http://example.com/a{levels}"}
    return {"$id": "http://example.com/", "definitions": parts, "allOf": [{"$ref": "a0"}]}


COMBINING = ("allOf", "anyOf", "oneOf")
ADDRESSES = (
    "http://127.0.0.1:9/schema.json",
    "https://169.254.169.254/latest/meta-data",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "//169.254.169.254/x",
    "ftp://127.0.0.1/x",
    "jar:file:///tmp/x.jar!/schema.json",
    "urn:example:schema",
    "data:application/json,{}",
    "/etc/passwd",
    "..\\..\\etc\\passwd",
    "http://[",
    "http://user:password@127.0.0.1/x#/definitions/a",
)

DOCUMENTS: list[tuple[str, Document]] = [
    *((f"$ref {one}", _text({"items": {"$ref": one}})) for one in ADDRESSES),
    *((f"$dynamicRef {one}", _text({"$schema": MODERN, "$dynamicRef": one})) for one in ADDRESSES),
    *((f"$id {one}", _text({"$id": one, "items": {"$ref": "next"}})) for one in ADDRESSES),
    *((f"$schema {one}", _text({"$schema": one, "type": "string"})) for one in ADDRESSES),
    ("nothing", b""),
    ("no UTF-8", b"\xff\xfe{}"),
    ("lone surrogate", '{"pattern": "\\ud800"}'),
    ("null character", '{"properties": {"\\u0000": {"$ref": "#/\\u0000"}}}'),
    ("deep schema", _deep(190)),
    ("deeper schema", _deep(5_000)),
    ("deepest schema", _deep(500_000)),
    ("deep properties", _text(_chain(90, member="x"))),
    ("deep const", '{"const":' + "[" * 190 + "]" * 190 + "}"),
    ("deep enum", '{"enum":[' + "[" * 5_000 + "]" * 5_000 + "]}"),
    ("more than four megabytes", b'{"title": "' + b"x" * (4 * 1024 * 1024) + b'"}'),
    ("many properties", _text({"properties": {f"p{n}": {} for n in range(100_000)}})),
    ("many properties, allowed", _text({"properties": {f"p{n}": {} for n in range(19_000)}})),
    ("many required", _text({"required": [f"p{n}" for n in range(29_000)]})),
    ("huge enum", _text({"enum": [f"v{n}" for n in range(300_000)]})),
    ("huge enum, allowed", _text({"enum": [f"v{n}" for n in range(29_000)]})),
    ("huge enum of objects", _text({"enum": [{"v": n} for n in range(100_000)]})),
    ("huge enum of objects, allowed", _text({"enum": [{"v": n} for n in range(29_000)]})),
    ("huge const", '{"const": [' + "0," * 2_000_000 + "0]}"),
    ("huge integers", '{"minLength": 1' + "0" * 4_000 + ', "maximum": 1' + "0" * 4_000 + "}"),
    ("huge multiple", '{"multipleOf": 1' + "0" * 4_000 + "}"),
    ("tiny multiple", '{"multipleOf": 1e-307}'),
    ("number beyond a double", '{"maximum": 1e999}'),
    ("itself", '{"$ref": "#"}'),
    ("itself twice", _text({"allOf": [{"$ref": "#"}, {"$ref": "#"}]})),
    ("itself by the back door", _text({"not": {"anyOf": [{"$ref": "#"}, {"$ref": "#/not"}]}})),
    ("long chain", _text(_chain(5_000))),
    ("long chain, met from its end", _text({
        "properties": {f"p{n}": {"$ref": f"#/definitions/a{n}"} for n in range(4_950, 0, -50)},
        "definitions": _chain(5_000)["definitions"]})),
    *((f"doubling by {key}", _text(_chain(60, doubled=key))) for key in COMBINING),
    *((f"doubling members by {key}", _text(_chain(60, doubled=key, member="x")))
      for key in COMBINING),
    *((f"all lead to all by {key}", _text(_complete(12, key))) for key in COMBINING),
    ("doubling behind identities", _text(_nested_identities(60))),
    ("pattern with look-ahead", '{"pattern": "(?=a)b"}'),
    ("pattern with back-reference", '{"pattern": "(a)\\\\1"}'),
    ("pattern that repeats repeats", '{"pattern": "a{1000}{1000}"}'),
    ("pattern of nested groups", _text({"pattern": "(" * 40 + "a" + "){9}" * 40})),
    ("pattern of open groups", _text({"pattern": "(" * 100_000})),
    ("pattern of scripts", _text({"pattern": r"\p{L}{1000}"})),
    ("many large patterns",
     _text({"allOf": [{"pattern": rf"\p{{L}}{{{n}}}"} for n in range(1, 200)]})),
    ("many pattern properties",
     _text({"patternProperties": {f"^a{n}(b|c)*$": {} for n in range(5_000)}})),
    ("patterns of names that repeat", _text({"patternProperties": {"(x{500}){500}": {}}})),
    ("recursive anchors", _text({"$schema": MODERN, "$dynamicAnchor": "a", "allOf": [
        {"$dynamicRef": "#a"}, {"$dynamicRef": "#a"}]})),
    ("many anchors", _text({"$schema": MODERN, "$defs": {
        f"a{n}": {"$anchor": f"a{n}"} for n in range(19_000)}})),
]  # fmt: skip


def _objects(levels: int, leaf: str = '"x"') -> bytes:
    return ('{"x":' * levels + leaf + "}" * levels).encode()


def _arrays(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


TWICE = [{"$ref": "#/definitions/n"}, {"$ref": "#/definitions/n"}]
TREE = _text({
    "definitions": {"n": {"type": "object", "properties": {"x": {"anyOf": TWICE}}}},
    "allOf": [{"$ref": "#/definitions/n"}],
})  # fmt: skip
EXCLUSIVE = TREE.replace("anyOf", "oneOf")
NESTED = _text({"items": {"$ref": "#"}})
TEXTS = _text({"items": {"type": "string"}})
KINDS = _text(
    {"items": {"anyOf": [{"properties": {f"p{n}": {"type": "null"}}} for n in range(50)]}}
)

PAYLOADS: list[tuple[str, Document, bytes, str | None]] = [
    ("nothing", "{}", b"", None),
    ("no UTF-8", "{}", b"\xff\xfe\x00", None),
    ("magic byte alone", "{}", b"\x00\x00\x00\x00\x01", None),
    ("compressed rubbish", "{}", b"\x03\x05" + b"\x00" * 16 + b"rubbish", None),
    *((f"{n} levels, any schema", "{}", _arrays(n), None) for n in (201, 5_000, 500_000)),
    *((f"{n} levels, recursive schema", NESTED, _arrays(n), None) for n in (200, 201, 500_000)),
    ("alternatives that multiply", TREE, _objects(60), None),
    ("alternatives that multiply to the limit", TREE, _objects(199), None),
    ("exclusive alternatives that multiply", EXCLUSIVE, _objects(60), None),
    ("exclusive alternatives, and valid", EXCLUSIVE, _objects(18, "{}"), None),
    ("alternatives without recursion", _text(_chain(60, doubled="anyOf", member="x")),
     _objects(60), None),
    ("demands without recursion", _text(_chain(60, doubled="allOf", member="x")),
     _objects(60, "1"), None),
    ("a million errors", TEXTS, b"[" + b"1," * 1_000_000 + b"1]", None),
    ("many errors of many members", _text({"items": {"required": [f"p{n}" for n in range(100)]}}),
     b"[" + b"{}," * 20_000 + b"{}]", None),
    ("many errors of alternatives", KINDS, b"[" + b'{"p0":1,"p1":1},' * 5_000 + b"1]", None),
    ("unique numbers", _text({"uniqueItems": True}),
     ("[" + ",".join(map(str, range(100_000))) + "]").encode(), None),
    ("unique objects", _text({"uniqueItems": True}),
     ("[" + ",".join(f'{{"a":[{n}]}}' for n in range(100_000)) + "]").encode(), None),
    ("enum of numbers with fractions", _text({"items": {"enum": [n + 0.5 for n in range(5_000)]}}),
     b"[" + b"4999.5," * 20_000 + b"0.5]", None),
    ("enum of objects", _text({"items": {"enum": [{"a": n} for n in range(5_000)]}}),
     b"[" + b'{"a":4999},' * 20_000 + b"{}]", None),
    ("enum of texts", _text({"items": {"enum": [f"v{n}" for n in range(29_000)]}}),
     b"[" + b'"w",' * 50_000 + b'"w"]', None),
    ("patterns and names", _text({"patternProperties": {f"^a{n}(b|c)*$": {} for n in range(500)}}),
     ("{" + ",".join(f'"a{n}":1' for n in range(20_000)) + "}").encode(), None),
    ("a pattern that explodes elsewhere", _text({"pattern": "^(a+)+$"}),
     b'"' + b"a" * 1_000_000 + b'!"', None),
    ("a pattern that repeats", _text({"pattern": "(a|aa){4000}$"}),
     b'"' + b"a" * 100_000 + b'"', None),
    ("a pattern of many states", _text({"pattern": "[ab]*a[ab]{3000}c"}),
     b'"' + b"ab" * 100_000 + b'"', None),
    ("everything demanded a thousand times",
     _text({"allOf": [{"items": {"type": "integer", "minimum": 0}}] * 1_000}),
     b"[" + b"1," * 100_000 + b"1]", None),
    ("huge integer", _text({"type": "integer", "multipleOf": 7}), b"1" + b"0" * 4_000, None),
    ("huger integer", _text({"type": "integer"}), b"1" + b"0" * 1_000_000, None),
    ("number beyond a double", _text({"type": "number"}), b"1e999999999", None),
    ("huge exponent, tiny multiple", _text({"multipleOf": 1e-300}), b"1e300", None),
    ("one key a million times", _text({"properties": {"a": {"type": "string"}}}),
     b"{" + b'"a":1,' * 500_000 + b'"a":1}', None),
]  # fmt: skip
