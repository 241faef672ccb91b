"""JSON Schema: drafts, links, isolation from the network, patterns, limits."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.json_schema.schema import JsonSchema

DRAFT_7 = "JSONSchema/Draft-07"
# prefixItems is of 2020-12, dependentRequired of 2019-09, const of draft 6, if of draft 7.
PROBES = {
    "prefixItems": ({"prefixItems": [{"type": "string"}]}, [1]),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    "if": ({"if": True, "then": False}, 1),
    "const": ({"const": 1}, 2),
}
KNOWN = {
    "4": set(),
    "6": {"const"},
    "7": {"const", "if"},
    "2019": {"const", "if", "dependentRequired"},
    "2020": {"const", "if", "dependentRequired", "prefixItems"},
}


def draft_of(name, dialect=None):
    head = {"$schema": dialect} if dialect else {}
    refused = {
        probe
        for probe, (schema, value) in PROBES.items()
        if not compile_schema(name, {**head, **schema}).is_valid(value)
    }
    return next(draft for draft, known in KNOWN.items() if known == refused)


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        pytest.param("JSONSchema/Draft-04", "4", id="4"),
        pytest.param("JSONSchema/draft-06", "6", id="6"),
        pytest.param("JSONSchema/Draft-07", "7", id="7"),
        pytest.param("JsonSchema/draft-07", "7", id="7 in other case"),
        pytest.param("JSONSCHEMA/DRAFT-07", "7", id="7 in upper case"),
        pytest.param("JSONSchema/draft7", "7", id="7 in short"),
        pytest.param("JSONSchema/7.0", "7", id="7 as a number"),
        pytest.param("JSONSchema/2019-09", "2019", id="2019-09"),
        pytest.param("JSONSchema/Draft/2019-09", "2019", id="2019-09 as in its URL"),
        pytest.param("JSONSchema/2020-12", "2020", id="2020-12"),
        pytest.param("JSONSchema/draft-2020-12", "2020", id="2020-12 as a draft"),
        pytest.param("JSONSchema/Draft-2020-12", "2020", id="2020-12 as a draft in other case"),
        pytest.param("JSONSchema/draft2020-12", "2020", id="2020-12 in one word"),
        pytest.param("JSONSchema/draft/2020-12", "2020", id="2020-12 as in its URL"),
        pytest.param("JSONSchema/draft2019-09", "2019", id="2019-09 in one word"),
        pytest.param("JSONSchema/2020", "2020", id="2020-12 by its year"),
        pytest.param("JSONSchema/v7", "7", id="7 as a version"),
        pytest.param("JSONSchema/draft_07", "7", id="7 with an underscore"),
        pytest.param("json-schema/draft-07", "7", id="family with a hyphen"),
        pytest.param("JSONSchema/http://json-schema.org/draft-04/schema#", "4", id="URL of 4"),
        pytest.param("JSONSchema/http://json-schema.org/draft-07/schema#", "7", id="URL of 7"),
        pytest.param("JSONSchema/http://json-schema.org/draft-07/schema", "7", id="URL, no hash"),
        pytest.param(
            "JSONSchema/https://json-schema.org/draft/2019-09/schema", "2019", id="URL of 2019-09"
        ),
        pytest.param(
            "JSONSchema/https://json-schema.org/draft/2020-12/schema", "2020", id="URL of 2020-12"
        ),
        pytest.param("JSONSchema", "7", id="default"),
    ],
)
def test_the_draft_of_a_format(name, draft):
    assert draft_of(name) == draft


@pytest.mark.parametrize(
    ("dialect", "draft"),
    [
        pytest.param("http://json-schema.org/draft-04/schema#", "4", id="4"),
        pytest.param("http://json-schema.org/draft-06/schema#", "6", id="6"),
        pytest.param("http://json-schema.org/draft-07/schema", "7", id="7 without fragment"),
        pytest.param("https://json-schema.org/draft/2019-09/schema", "2019", id="2019-09"),
        pytest.param("https://json-schema.org/draft/2020-12/schema", "2020", id="2020-12"),
    ],
)
def test_the_dialect_of_the_document_goes_first(dialect, draft):
    assert draft_of("JSONSchema/Draft-06", dialect) == draft
    assert draft_of("JSONSchema", dialect) == draft


def test_an_unknown_dialect_leaves_the_draft_to_the_format_and_says_so():
    assert draft_of("JSONSchema/2019-09", "http://example.com/own-dialect") == "2019"
    schema = compile_schema("JSONSchema/2019-09", {"$schema": "http://example.com/own-dialect"})
    assert isinstance(schema, JsonSchema)
    assert schema.warnings == (
        "the dialect 'http://example.com/own-dialect' is not known: read as draft 2019-09",
    )


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        pytest.param("JSONSchema/Draft-03", "4", id="3"),
        pytest.param("JSONSchema/Draft-05", "4", id="5, which is 4"),
        pytest.param("JSONSchema/draft-08", "2019", id="8, which became 2019-09"),
        pytest.param("JSONSchema/2021-06", "2020", id="later"),
        pytest.param("JSONSchema/v1/2026", "2020", id="a numbering to come"),
        pytest.param("JSONSchema/next", "7", id="no number"),
    ],
)
def test_an_unknown_draft_is_read_as_the_nearest_one_and_says_so(name, draft):
    assert draft_of(name) == draft
    unknown, known = compile_schema(name, {}), compile_schema("JSONSchema/Draft-07", {})
    assert isinstance(unknown, JsonSchema)
    assert isinstance(known, JsonSchema)
    assert "is not known: read as draft" in unknown.warnings[0]
    assert known.warnings == ()


# Links

CONTAINER = {
    "definitions": {"weight": {"type": "number"}, "a b/c~d%": {"type": "integer"}},
    "messages": {
        "STATEBirth": {"type": "object", "properties": {"w": {"$ref": "#/definitions/weight"}}}
    },
    "list": [{"type": "null"}],
    "text": "no schema",
}


@pytest.mark.parametrize(
    ("link", "good", "bad"),
    [
        pytest.param("#/messages/STATEBirth", {"w": 1}, {"w": "x"}, id="fragment"),
        pytest.param("/messages/STATEBirth", {"w": 1}, {"w": "x"}, id="pointer"),
        pytest.param("messages/STATEBirth", {"w": 1}, {"w": "x"}, id="slash added (C43)"),
        pytest.param("/definitions/a b~1c~0d%", 1, "x", id="escapes"),
        pytest.param("#/definitions/a%20b~1c~0d%25", 1, "x", id="escapes of a fragment"),
        pytest.param("/list/0", None, 1, id="in a list"),
    ],
)
def test_a_link_names_a_part_and_its_references_stay_local(link, good, bad):
    schema = compile_schema(DRAFT_7, CONTAINER, link)
    assert schema.is_valid(good)
    assert not schema.is_valid(bad)


def test_the_columns_of_a_linked_part():
    (column,) = compile_schema(DRAFT_7, CONTAINER, "messages/STATEBirth").columns
    assert (column.name, column.type.name) == ("w", "number")


@pytest.mark.parametrize("link", ["/nope", "#/messages/nope", "/text", "/list/1", "/list/x"])
def test_a_link_to_nothing(link):
    with pytest.raises(SchemaError, match="no schema at this place"):
        compile_schema(DRAFT_7, CONTAINER, link)


@pytest.mark.parametrize("name", ["http://example.com/root.json", "root.json", "urn:x:root"])
def test_a_link_into_a_document_with_an_identity(name):
    reference = {"$ref": f"{name}#/definitions/n"}
    document = {"$id": name, "definitions": {"n": {"type": "integer"}, "m": reference}}
    schema = compile_schema(DRAFT_7, document, "/definitions/m")
    assert schema.is_valid(1)
    assert not schema.is_valid("x")


def test_a_linked_part_with_an_identity_of_its_own():
    part = {
        "$id": "http://example.com/part",
        "type": "object",
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "definitions": {"n": {"type": "integer"}},
    }
    document = {"messages": {"M": part}, "definitions": {"n": {"type": "string"}}}
    schema = compile_schema(DRAFT_7, document, "/messages/M")
    assert schema.is_valid({"n": 1})
    assert schema.columns[0].type.name == "integer"


def test_a_link_into_a_document_of_an_unknown_dialect():
    document = {"$schema": "http://example.com/own", "$defs": {"a": {"type": "integer"}}}
    assert not compile_schema("JSONSchema/2020-12", document, "/$defs/a").is_valid("x")


# Nothing is fetched

LINKS = pytest.mark.parametrize(
    "link", [pytest.param("", id="whole"), pytest.param("/x", id="part")]
)


@LINKS
def test_http_references_are_never_fetched(link):
    hits = []

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    server = HTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/schema.json"
        for document in (
            {"x": {"properties": {"a": {"$ref": url}}}, "properties": {"a": {"$ref": url}}},
            {
                "x": {"$ref": "schema.json"},
                "$id": url.replace("schema", "root"),
                "$ref": "schema.json",
            },
            {"x": {"type": "object"}, "definitions": {"a": {"$ref": url}}},
        ):
            with pytest.raises(SchemaError):
                compile_schema(DRAFT_7, document, link)
        compile_schema(DRAFT_7, {"x": {}, "$schema": url}, link).is_valid(1)
    finally:
        server.shutdown()
        server.server_close()
    assert hits == []


@LINKS
def test_file_references_are_never_read(tmp_path, link):
    file = tmp_path / "schema.json"
    file.write_text('{"type": "integer"}')
    for reference in (file.as_uri(), str(file), f"file://localhost{file}"):
        part = {"properties": {"a": {"$ref": reference}}}
        with pytest.raises(SchemaError):
            compile_schema(DRAFT_7, {"x": part, **part}, link)


@LINKS
def test_a_reference_to_nothing(link):
    with pytest.raises(SchemaError):
        compile_schema(
            DRAFT_7, {"x": {"$ref": "#/nope"}, "properties": {"a": {"$ref": "#/nope"}}}, link
        )


# Patterns


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
@pytest.mark.parametrize("pattern", ["(?=a)b", "(?<!a)b", r"(a)\1", "["])
def test_patterns_that_need_backtracking_do_not_compile(keyword, pattern):
    value = pattern if keyword == "pattern" else {pattern: True}
    with pytest.raises(SchemaError, match="linear time") as caught:
        compile_schema(DRAFT_7, {"properties": {"a": {keyword: value}}})
    assert caught.value.location.startswith(f"/properties/a/{keyword}")


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
@pytest.mark.parametrize(
    "pattern",
    ["((x{1,1000}){1,1000}){1,9}", "a{1000}{1000}", r"\p{L}{900}", "(" * 9 + "a" + "){999}" * 9],
)
def test_patterns_that_repeat_too_much_do_not_compile(keyword, pattern):
    value = pattern if keyword == "pattern" else {pattern: True}
    with pytest.raises(SchemaError, match="repeat too much") as caught:
        compile_schema(DRAFT_7, {"properties": {"a": {keyword: value}}})
    assert caught.value.location == f"/properties/a/{keyword}"


def test_a_pattern_runs_in_linear_time():
    schema = compile_schema(DRAFT_7, {"pattern": "^(a+)+$"})
    started = time.perf_counter()
    assert not schema.is_valid("a" * 100_000 + "!")
    assert time.perf_counter() - started < 8


def test_patterns_are_ecma_262():
    assert not compile_schema(DRAFT_7, {"pattern": r"^\d$"}).is_valid("٣")
    assert compile_schema(DRAFT_7, {"pattern": r"^\p{L}\/$"}).is_valid("ä/")


# Schemas that are wrong, or a trap


@pytest.mark.parametrize(
    ("document", "location"),
    [
        pytest.param({"type": "text"}, "/type", id="type"),
        pytest.param(
            {"properties": {"a": {"minimum": "1"}}}, "/properties/a/minimum", id="minimum"
        ),
        pytest.param({"required": "a"}, "/required", id="required"),
    ],
)
def test_a_wrong_schema_is_located(document, location):
    with pytest.raises(SchemaError) as caught:
        compile_schema(DRAFT_7, document)
    assert caught.value.location == location


def doubling(levels, key):
    parts = {f"a{n}": {key: [{"$ref": f"#/definitions/a{n + 1}"}] * 2} for n in range(levels)}
    parts[f"a{levels}"] = {"type": "integer"}
    return {"definitions": parts, "allOf": [{"$ref": "#/definitions/a0"}]}


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_references_that_multiply_are_refused(key):
    with pytest.raises(SchemaError, match="apply to one value"):
        compile_schema(DRAFT_7, doubling(60, key))
    compile_schema(DRAFT_7, doubling(5, key))


def test_a_long_chain_of_references_is_refused():
    parts = {f"a{n}": {"$ref": f"#/definitions/a{n + 1}"} for n in range(5000)}
    with pytest.raises(SchemaError):
        compile_schema(DRAFT_7, {"definitions": {**parts, "a5000": {}}, "$ref": "#/definitions/a0"})


def test_a_long_chain_of_references_is_refused_whichever_part_is_met_first():
    parts = {f"a{n}": {"$ref": f"#/definitions/a{n + 1}"} for n in range(500)}
    members = {f"p{n}": {"$ref": f"#/definitions/a{n}"} for n in range(450, 0, -50)}
    with pytest.raises(SchemaError, match="apply to one value"):
        compile_schema(DRAFT_7, {"properties": members, "definitions": {**parts, "a500": {}}})


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"$ref": "#"}, id="itself"),
        pytest.param({"allOf": [{"$ref": "#"}]}, id="allOf"),
        pytest.param({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}, id="anyOf"),
        pytest.param({"not": {"not": {"$ref": "#"}}}, id="not"),
    ],
)
def test_a_schema_that_only_leads_to_itself_ends(document):
    schema = compile_schema(DRAFT_7, document)
    assert schema.is_valid(1) == (schema.check(1) == ())
    assert schema.columns[0].type.name == "json"


# Values


def nested(levels):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [pytest.param(n, id=str(n)) for n in (300, 5_000, 200_000)])
@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"items": {"$ref": "#"}, "type": "array"}, id="recursive"),
        pytest.param({"type": "string"}, id="flat"),
        pytest.param({"uniqueItems": True, "minItems": 2}, id="unique"),
    ],
)
def test_deep_values_are_a_problem_and_no_crash(document, levels):
    schema = compile_schema(DRAFT_7, document)
    value = nested(levels)
    assert not schema.is_valid(value)
    assert [problem.rule for problem in schema.check(value)] == ["depth"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({"a": "\udfff"}, id="lone surrogate inside"),
        pytest.param(b"x", id="bytes"),
        pytest.param({1, 2}, id="set"),
        pytest.param(object(), id="object"),
        pytest.param({"a": object()}, id="object inside"),
    ],
)
def test_what_is_no_json_value_is_not_valid_and_raises_nothing(value):
    for document in ({"type": "integer"}, {}, {"type": "object", "properties": {"b": {}}}):
        schema = compile_schema(DRAFT_7, document)
        assert not schema.is_valid(value)
        assert schema.check(value)
        with pytest.raises(MessageError):
            schema.encode(value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(sign * 2**bits, id=f"{sign * bits} bits")
        for sign in (1, -1)
        for bits in (63, 64, 127, 128, 200, 1300)
    ],
)
def test_big_integers(value):
    assert compile_schema(DRAFT_7, {"type": "integer"}).is_valid(value)
    assert compile_schema(DRAFT_7, {"enum": [value]}).is_valid(value)
    assert not compile_schema(DRAFT_7, {"enum": [value + 1]}).is_valid(value)
    assert compile_schema(DRAFT_7, {"maximum": value}).is_valid(value)
    (problem,) = compile_schema(DRAFT_7, {"maximum": value}).check(value + 1)
    assert problem.rule == "maximum"
    assert compile_schema(DRAFT_7, {"type": "string"}).check(value)[0].rule == "type"


def test_decode_is_the_parser_of_the_product():
    schema = compile_schema(DRAFT_7, {})
    assert schema.decode(b'{"a": 18446744073709551617}') == {"a": 2**64 + 1}
    with pytest.raises(MessageError) as caught:
        schema.decode(b"{")
    assert caught.value.problems[0].rule == "json"
