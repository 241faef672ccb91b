"""Compiling JSON Structure documents: links, imports, what is refused and where."""

from __future__ import annotations

import json
import pickle

import pytest

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.formats import references_of
from heraldry.schemas.json_structure.document import SIZE_LIMIT
from heraldry.schemas.source import Reference

HEAD = {"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "urn:example:t", "name": "T"}
TEXT = {"type": "string"}


def document(uses=(), **schema):
    head = {**HEAD, "$uses": list(uses)} if uses else HEAD
    return {**head, **schema}


def load(schema, link="", **options):
    return compile_schema("JsonStructure/draft-02", schema, link, **options)


def ref(name):
    return {"type": {"$ref": f"#/definitions/{name}"}}


@pytest.mark.parametrize(
    "format_",
    ["JsonStructure/draft-02", "JsonStructure/draft-04", "JsonStructure", "JSONStructure/1.0",
     "json-structure/9"],
)  # fmt: skip
def test_every_spelling_of_the_format_compiles(format_):
    assert compile_schema(format_, document(**TEXT)).decode(b'"x"') == "x"


def test_a_schema_pickles_by_its_source():
    schema = load(document(type="object", properties={"a": TEXT}))
    assert pickle.loads(pickle.dumps(schema)).source == schema.source


SPACES = document(
    **{"$root": "#/definitions/A"},
    definitions={
        "A": {"type": "object", "properties": {"x": TEXT}, "required": ["x"]},
        "Space": {"B": {"type": "int64"}},
        "Base": {"type": "object", "abstract": True, "properties": {"x": TEXT}},
    },
)


@pytest.mark.parametrize(
    ("link", "payload", "value"),
    [
        ("", b'{"x":"1"}', {"x": "1"}),
        ("#", b'{"x":"1"}', {"x": "1"}),
        ("A", b'{"x":"1"}', {"x": "1"}),
        ("/definitions/Space/B", b'"7"', 7),
        ("#/definitions/Space/B", b'"7"', 7),
        ("Space/B", b'"7"', 7),
        ("Space.B", b'"7"', 7),
    ],
)
def test_a_link_names_a_type(link, payload, value):
    assert load(SPACES, link).decode(payload) == value


def test_the_name_of_the_root_is_a_link_and_a_target():
    schema = document(type="object", properties={"next": ref("T")})
    assert load(schema, "T").decode(b'{"next":{"next":{}}}') == {"next": {"next": {}}}


@pytest.mark.parametrize("link", ["/definitions/Z", "Z", "/definitions/Space", "Base"])
def test_a_link_to_no_usable_type_is_refused(link):
    with pytest.raises(SchemaError):
        load(SPACES, link)


REFUSED = {
    "not json": (b"{", ""),
    "not an object": (b"[]", ""),
    "no type": (document(), ""),
    "unknown type": (document(type="strnig"), "/type"),
    "a float16": (document(type="float16"), "/type"),
    "type and $root": (document(type="string", **{"$root": "#/definitions/A"}), "/$root"),
    "$root to nowhere": (document(**{"$root": "#/definitions/A"}), "/$root"),
    "$root abstract": (SPACES | {"$root": "#/definitions/Base"}, "/$root"),
    "definitions no object": (document(**TEXT, definitions=[]), "/definitions"),
    "definition no object": (document(**TEXT, definitions={"A": 1}), "/definitions/A"),
    "$uses no array": (document(**TEXT, **{"$uses": "x"}), "/$uses"),
    "$offers to nowhere": (document(**TEXT, **{"$offers": {"a": "#/definitions/A"}}), "/$offers/a"),
    "no properties": (document(type="object"), ""),
    "empty properties": (document(type="object", properties={}), ""),
    "properties no object": (document(type="object", properties=[]), "/properties"),
    "property no identifier": (
        document(type="object", properties={"a-b": TEXT}),
        "/properties/a-b",
    ),
    "property no schema": (document(type="object", properties={"a": True}), "/properties/a"),
    "bare $ref": (
        document(type="object", properties={"a": {"$ref": "#"}}),
        "/properties/a/$ref",
    ),
    "$ref to nowhere": (
        document(type="object", properties={"a": ref("A")}),
        "/properties/a/type/$ref",
    ),
    "$ref outside": (
        document(type="object", properties={"a": {"type": {"$ref": "http://169.254.169.254/"}}}),
        "/properties/a/type/$ref",
    ),
    "$ref to itself": (document(**TEXT, definitions={"A": ref("A")}), "/definitions/A/type/$ref"),
    "$ref in a circle": (
        document(**TEXT, definitions={"A": ref("B"), "B": ref("A")}),
        "/definitions/B/type/$ref",
    ),
    "union in a circle": (
        document(**TEXT, definitions={"A": {"type": ["null", {"$ref": "#/definitions/A"}]}}),
        "/definitions/A",
    ),
    "$ref to an abstract type": (
        SPACES | {"definitions": SPACES["definitions"] | {"C": ref("Base")}},
        "/definitions/C/type/$ref",
    ),
    "required unknown": (
        document(type="object", properties={"a": TEXT}, required=["b"]),
        "/required",
    ),
    "required no array": (
        document(type="object", properties={"a": TEXT}, required="a"),
        "/required",
    ),
    "required on a string": (document(**TEXT, required=[]), "/required"),
    "array without items": (document(type="array"), ""),
    "map without values": (document(type="map"), ""),
    "tuple without order": (document(type="tuple", properties={"a": TEXT}), "/tuple"),
    "tuple incomplete": (
        document(type="tuple", properties={"a": TEXT, "b": TEXT}, tuple=["a"]),
        "/tuple",
    ),
    "choice without choices": (document(type="choice"), "/choices"),
    "inline choice without selector": (
        document(type="choice", choices={"A": ref("A")}, **{"$extends": "#/definitions/Base"},
                 definitions=SPACES["definitions"]),
        "/selector",
    ),
    "enum empty": (document(**TEXT, enum=[]), "/enum"),
    "enum twice": (document(**TEXT, enum=["a", "a"]), "/enum"),
    "enum of another type": (document(**TEXT, enum=[1]), "/enum/0"),
    "enum on a union": (document(type=["string", "null"], enum=["a"]), "/enum"),
    "const on an object": (document(type="object", properties={"a": TEXT}, const={}), "/const"),
    "const of another type": (document(type="int8", const=300), "/const"),
    "minimum on a string": (document(**TEXT, minimum=1), "/minimum"),
    "minLength on a number": (document(type="int32", minLength=1), "/minLength"),
    "minLength negative": (document(**TEXT, minLength=-1), "/minLength"),
    "minLength above maxLength": (document(**TEXT, minLength=2, maxLength=1), ""),
    "minimum above maximum": (document(type="int8", minimum=2, maximum=1), ""),
    "multipleOf zero": (document(type="int8", multipleOf=0), "/multipleOf"),
    "minimum no number": (document(type="int64", minimum="x"), "/minimum"),
    "pattern broken": (document(**TEXT, pattern="["), "/pattern"),
    "pattern of look-around in force": (
        document(**TEXT, pattern="(?=a)", uses=["JSONStructureValidation"]),
        "/pattern",
    ),
    "minContains alone": (
        document(type="array", items=TEXT, minContains=1),
        "/minContains",
    ),
    "union empty": (document(type=[]), "/type"),
    "union of an inline object": (
        document(type=["null", {"type": "object", "properties": {"a": TEXT}}]),
        "/type/1",
    ),
    "extends itself": (
        document(**TEXT, definitions={"A": {"type": "object", "$extends": "#/definitions/A",
                                            "properties": {"a": TEXT}}}),
        "/definitions/A/$extends",
    ),
    "extends a string": (
        document(type="object", properties={"a": TEXT}, **{"$extends": "#/definitions/A"},
                 definitions={"A": TEXT}),
        "/$extends",
    ),
    "inherited declared again": (
        document(type="object", properties={"x": TEXT}, **{"$extends": "#/definitions/Base"},
                 definitions=SPACES["definitions"]),
        "/properties/x",
    ),
    "composition not in use": (document(anyOf=[TEXT]), ""),
    "allOf no array": (document(**TEXT, allOf={}), "/allOf"),
    "unknown encoding": (document(type="binary", contentEncoding="rot13"), "/contentEncoding"),
    "precision no number": (document(type="decimal", precision="x"), "/precision"),
    "import of nothing": (
        document(**TEXT, **{"$import": "https://example.com/a"}),
        "/$import",
    ),
    "too large": (b'{"type":"string","x":"' + b"x" * SIZE_LIMIT + b'"}', ""),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "location"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_document_is_refused_with_its_place(schema, location):
    with pytest.raises(SchemaError) as caught:
        load(schema)
    assert caught.value.location == location
    assert caught.value.reason


PEOPLE = {
    "$id": "https://example.com/people.json",
    "name": "Person",
    "type": "object",
    "properties": {"name": TEXT, "address": ref("Address"), "best": {"type": {"$ref": "#"}}},
    "definitions": {
        "Address": {"type": "object", "properties": {"city": TEXT}, "required": ["city"]},
    },
}
URL = "https://example.com/people.json"
LIBRARY = (Reference(URL, json.dumps(PEOPLE).encode()),)


def test_an_import_into_a_namespace_keeps_its_references_inside():
    schema = document(
        type="object",
        properties={"person": ref("People/Person"), "to": ref("People/Address")},
        definitions={"People": {"$import": URL}, "Address": {"type": "int8"}},
    )
    assert references_of("JsonStructure", schema) == (URL,)
    compiled = load(schema, references=LIBRARY)
    assert compiled.is_valid({"person": {"best": {"address": {"city": "x"}}}})
    (problem,) = compiled.check({"person": {"best": {"address": {}}}})
    assert (problem.path, problem.rule) == ("/person/best/address", "required")


def test_an_import_at_the_root_is_shadowed_by_local_definitions():
    schema = document(
        type="object",
        properties={"person": ref("Person")},
        definitions={"Address": {"type": "string"}},
        **{"$import": URL + "#x"},
    )
    assert references_of("JsonStructure", schema) == (URL,)
    assert load(schema, references=LIBRARY).is_valid({"person": {"address": "here"}})


def test_importdefs_leaves_the_root_type_out():
    schema = document(
        type="object", properties={"a": ref("P/Person")}, definitions={"P": {"$importdefs": URL}}
    )
    with pytest.raises(SchemaError, match="no type at"):
        load(schema, references=LIBRARY)


def test_an_import_that_is_missing_or_comes_back_is_refused():
    schema = document(**TEXT, definitions={"A": {"$import": "/schemagroups/g/schemas/a"}})
    with pytest.raises(SchemaError, match="not in the catalog, and nothing is fetched"):
        load(schema)
    other = Reference("/schemagroups/g/schemas/a", json.dumps(schema).encode())
    with pytest.raises(SchemaError, match="comes back to itself"):
        load(schema, references=(other,))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"1", b"\xff", b'{"definitions":1}'])
def test_references_of_anything_raise_nothing(content):
    assert references_of("JsonStructure", content) == ()


INHERITING = document(
    type="object",
    properties={"c": TEXT},
    required=["c"],
    **{"$extends": ["#/definitions/B", "#/definitions/A"]},
    definitions={
        "A": {"type": "object", "abstract": True, "properties": {"a": TEXT, "both": TEXT}},
        "B": {
            "type": "object",
            "abstract": True,
            "$extends": "#/definitions/Z",
            "properties": {"b": {"type": "int8"}, "both": {"type": "int8"}},
            "required": ["b"],
        },
        "Z": {"type": "object", "abstract": True, "properties": {"z": TEXT}, "required": ["z"]},
    },
)


def test_a_type_inherits_from_several_and_the_first_wins():
    schema = load(INHERITING)
    assert [column.name for column in schema.columns] == ["z", "b", "both", "a", "c"]
    assert schema.is_valid({"z": "", "b": 1, "both": 2, "c": ""})
    found = {(problem.path, problem.rule) for problem in schema.check({"both": "x", "b": 1})}
    assert found == {("/", "required"), ("/both", "type")}


ADDRESS = document(
    type="object",
    properties={"street": TEXT},
    additionalProperties=False,
    **{"$offers": {"Notes": "#/definitions/Notes", "Both": ["#/definitions/Notes"]}},
    definitions={
        "Notes": {
            "type": "object",
            "abstract": True,
            "$extends": "#/definitions/T",
            "properties": {"weight": {"type": "int64"}},
        }
    },
)


def test_an_add_in_applies_where_the_payload_uses_it():
    schema = load(ADDRESS)
    with pytest.raises(MessageError):
        schema.decode(b'{"weight":"5"}')
    used = schema.decode(b'{"$schema":"urn:x","$uses":["Notes"],"weight":"5"}')
    assert used == {"$schema": "urn:x", "$uses": ["Notes"], "weight": 5}
    assert schema.decode(schema.encode(used)) == used
    assert schema.check({"$uses": ["Both"], "weight": "x"})[0].path == "/weight"
    assert schema.check({"$uses": ["Other"]})[0].rule == "$uses"
    assert schema.check({"$uses": "Notes"})[0].rule == "$uses"
