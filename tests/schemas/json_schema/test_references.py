"""References to other schemas of the catalog: found by name, followed everywhere, never fetched."""

from __future__ import annotations

import json
import pickle
import sys
from random import Random

import pytest

import heraldry
from heraldry.dialects.load import load_bytes
from heraldry.errors import MessageError, SchemaError
from heraldry.messages.compile import compile_definition
from heraldry.messages.verdict import Accepted, Rejected
from heraldry.model.xid import Xid
from heraldry.schemas.columns import Scalar, Struct
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.json_schema.references import references
from heraldry.schemas.source import Reference

FORMAT = "JSONSchema/draft-07"
ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "zip": {"$ref": "#/definitions/zip"}},
    "required": ["street"],
    "definitions": {"zip": {"type": "integer"}},
}


def named(document):
    return references(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("document", "names"),
    [
        pytest.param({"$ref": "common.json"}, ["common.json"], id="relative"),
        pytest.param({"$ref": "common.json#/definitions/a"}, ["common.json"], id="fragment"),
        pytest.param(
            {"items": {"$ref": "/schemagroups/g/schemas/x"}},
            ["/schemagroups/g/schemas/x"],
            id="xid",
        ),
        pytest.param(
            {"$ref": "/schemagroups/g/schemas/x/versions/1#/definitions/a"},
            ["/schemagroups/g/schemas/x/versions/1"],
            id="xid with a version",
        ),
        pytest.param(
            {"$ref": "#/schemagroups/g/schemas/x"}, ["#/schemagroups/g/schemas/x"], id="pointer"
        ),
        pytest.param(
            {"$ref": "#/schemagroups/g/schemas/x/versions/1/schema/definitions/a"},
            ["#/schemagroups/g/schemas/x/versions/1"],
            id="pointer into a document",
        ),
        pytest.param(
            {
                "$ref": "#/schemagroups/g/schemas/x",
                "schemagroups": {"g": {"schemas": {"x": {"type": "string"}}}},
            },
            [],
            id="pointer that the document has",
        ),
        pytest.param({"$ref": "https://e.com/a#b"}, ["https://e.com/a"], id="absolute"),
        pytest.param(
            {"$id": "https://e.com/s/root", "$ref": "#", "items": {"$ref": "common"}},
            ["common"],
            id="identity beside a reference does not count",
        ),
        pytest.param(
            {"$id": "https://e.com/s/root", "items": {"$ref": "common"}},
            ["common", "https://e.com/s/common"],
            id="joined with the identity",
        ),
        pytest.param(
            {"$id": "https://e.com/root", "items": {"$ref": "https://e.com/root#/definitions/a"}},
            [],
            id="itself",
        ),
        pytest.param(
            {
                "$id": "https://e.com/root",
                "items": {"$ref": "inner"},
                "definitions": {"i": {"$id": "inner"}},
            },
            [],
            id="a part of itself",
        ),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://e.com/a/",
             "items": {"$ref": "b"}},
            ["b", "http://e.com/a/b"],
            id="draft 4",
        ),
        pytest.param({"$dynamicRef": "tree#node"}, ["tree"], id="dynamic"),
        pytest.param({"$ref": "http://json-schema.org/draft-07/schema#"}, [], id="a draft"),
        pytest.param(
            {"$ref": "https://json-schema.org/draft/2020-12/meta/core"}, [], id="a vocabulary"
        ),
        pytest.param({"enum": [{"$ref": "a"}], "const": {"$ref": "b"}}, [], id="values"),
        pytest.param({"properties": {"$ref": {"type": "string"}}}, [], id="a member so named"),
        pytest.param({"properties": {"enum": {"$ref": "a"}}}, ["a"], id="a member named enum"),
        pytest.param({"allOf": [{"$ref": "b"}, {"$ref": "a"}, {"$ref": "b"}]}, ["b", "a"],
                     id="order"),
        pytest.param({"$ref": "http://["}, ["http://["], id="no address"),
        pytest.param({"$ref": 5}, [], id="no text"),
        pytest.param([], [], id="no schema"),
    ],
)  # fmt: skip
def test_the_names_in_a_document(document, names):
    assert list(named(document)) == names


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 9999, b'{"$ref": "\\ud800"}'])
def test_what_is_unreadable_names_nothing(content):
    assert references(content) == ()


# In a catalog


def catalog_document(**groups):
    """A catalog of schemas by group and id, and one message for the first of them."""
    schemagroups = {
        group: {
            "schemas": {
                name: {"versions": {v: {"format": FORMAT, "schema": doc} for v, doc in one.items()}}
                for name, one in schemas.items()
            }
        }
        for group, schemas in groups.items()
    }
    group, (name, *_) = next(iter(groups.items()))
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "t"}},
        "dataschemaformat": FORMAT,
        "dataschemaxid": f"/schemagroups/{group}/schemas/{name}",
    }
    return {
        "specversion": "1.0-rc2",
        "registryid": "r",
        "self": "https://registry.example.com/",
        "messagegroups": {"m": {"messages": {"m": message}}},
        "schemagroups": schemagroups,
    }


def outcome(**groups):
    content = json.dumps(catalog_document(**groups)).encode()
    xid = Xid.parse("/messagegroups/m/messages/m")
    return compile_definition(load_bytes(content, "catalog.json"), xid).outcome


def person(reference, **more):
    return {"1": {"type": "object", "properties": {"home": {"$ref": reference}}, **more}}


@pytest.mark.parametrize(
    "reference",
    [
        "/schemagroups/b/schemas/address",
        "/schemagroups/b/schemas/address/versions/1",
        "#/schemagroups/b/schemas/address",
        "#/schemagroups/b/schemas/address/versions/1",
        "#/schemagroups/b/schemas/address/versions/1/schema",
        "https://registry.example.com/schemagroups/b/schemas/address",
        "/schemagroups/b/schemas/address#",
    ],
)
@pytest.mark.parametrize("identity", [None, "https://example.com/person.json", "urn:x:person"])
def test_a_schema_of_another_group(reference, identity):
    more = {"$id": identity} if identity else {}
    found = outcome(a={"person": person(reference, **more)}, b={"address": {"1": ADDRESS}})
    assert (found.state, found.detail) == ("usable", "")
    schema = found.schema
    assert schema.is_valid({"home": {"street": "x", "zip": 1}})
    assert not schema.is_valid({"home": {"zip": 1}})
    with pytest.raises(MessageError) as caught:
        schema.decode(b'{"home": {"street": "x", "zip": "y"}}')
    assert caught.value.problems[0].path == "/home/zip"
    (column,) = schema.columns
    assert isinstance(column.type, Struct)
    assert [field.type for field in column.type.fields] == [Scalar("string"), Scalar("integer")]
    sample = schema.sample(Random(1), {})
    assert set(sample["home"]) == {"street", "zip"}
    copy = pickle.loads(pickle.dumps(schema))
    assert copy.columns == schema.columns
    assert copy.check({"home": 1}) == schema.check({"home": 1})


@pytest.mark.parametrize("reference", ["address", "./address", "address#"])
def test_a_schema_of_the_same_group_by_its_id(reference):
    found = outcome(a={"person": person(reference), "address": {"1": ADDRESS}})
    assert not found.schema.is_valid({"home": {}})
    assert found.schema.is_valid({"home": {"street": "x"}})


@pytest.mark.parametrize(
    "reference",
    [
        "/schemagroups/b/schemas/address#/definitions/zip",
        "#/schemagroups/b/schemas/address/versions/1/schema/definitions/zip",
        "#/schemagroups/b/schemas/address/schema/definitions/zip",
    ],
)
def test_a_part_of_another_schema(reference):
    found = outcome(a={"person": person(reference)}, b={"address": {"1": ADDRESS}})
    assert found.schema.is_valid({"home": 5})
    assert found.schema.columns[0].type == Scalar("integer")


def test_each_version_is_a_document_of_its_own_though_both_have_one_identity():
    one, two = (
        {
            "$id": "https://e.com/n",
            "allOf": [{"$ref": "#/definitions/n"}],
            "definitions": {"n": {"type": name}},
        }
        for name in ("string", "integer")
    )
    both = {
        "type": "object",
        "properties": {n: {"$ref": f"/schemagroups/a/schemas/n/versions/{n}"} for n in "12"},
    }
    schema = outcome(a={"both": {"1": both}, "n": {"1": one, "2": two}}).schema
    assert schema.is_valid({"1": "x", "2": 5})
    assert not schema.is_valid({"1": 5})
    assert not schema.is_valid({"2": "x"})
    assert [column.type for column in schema.columns] == [Scalar("string"), Scalar("integer")]


def test_references_go_on_from_document_to_document():
    middle = {"type": "object", "properties": {"in": {"$ref": "last"}}}
    schema = outcome(
        a={"person": person("/schemagroups/b/schemas/middle")},
        b={"middle": {"1": middle}, "last": {"1": {"type": "integer"}}},
    ).schema
    assert schema.is_valid({"home": {"in": 1}})
    assert not schema.is_valid({"home": {"in": "x"}})
    assert schema.columns[0].type.fields[0].type == Scalar("integer")


def test_a_document_is_found_by_its_own_identity_where_it_is_at_hand():
    schema = compile_schema(
        FORMAT,
        {"properties": {"a": {"$ref": "one"}, "b": {"$ref": "https://e.com/one#/definitions/n"}}},
        references=(
            Reference(
                "one", b'{"$id": "https://e.com/one", "definitions": {"n": {"type": "null"}}}'
            ),
        ),
    )
    assert schema.is_valid({"b": None})
    assert not schema.is_valid({"b": 1})


@pytest.mark.parametrize(
    ("person", "friend"),
    [
        pytest.param("/schemagroups/a/schemas/person", None, id="itself"),
        pytest.param(
            "/schemagroups/b/schemas/friend", "/schemagroups/a/schemas/person", id="each other"
        ),
        pytest.param(
            "#/schemagroups/b/schemas/friend",
            "#/schemagroups/a/schemas/person/versions/1",
            id="each other by pointers",
        ),
    ],
)
def test_cycles(person, friend):
    def document(reference):
        members = {"name": {"type": "string"}, "next": {"$ref": reference}}
        return {"1": {"type": "object", "properties": members, "required": ["name"]}}

    groups = {"a": {"person": document(person)}}
    if friend:
        groups["b"] = {"friend": document(friend)}
    schema = outcome(**groups).schema
    value = {"name": "a", "next": {"name": "b", "next": {"name": "c"}}}
    assert schema.decode(schema.encode(value)) == value
    del value["next"]["next"]["name"]
    assert [problem.path for problem in schema.check(value)] == ["/next/next"]
    assert schema.columns[0].type == Scalar("string")
    assert schema.check(schema.sample(Random(1), {})) == ()


def test_a_catalog_opened_from_a_file(tmp_path):
    whole = catalog_document(
        a={"person": person("/schemagroups/b/schemas/address")}, b={"address": {"1": ADDRESS}}
    )
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps(whole))
    catalog = heraldry.open(file)
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
    good, bad = (
        catalog.judge(json.dumps({**event, "data": {"home": home}}).encode())
        for home in ({"street": "x"}, {"zip": 1})
    )
    assert isinstance(good, Accepted)
    assert isinstance(bad, Rejected)
    assert bad.problems[0].rule == "required"


def test_what_is_not_there_is_named():
    found = outcome(a={"person": person("/schemagroups/b/schemas/nope#/definitions/x")})
    assert found.state == "invalid"
    assert "'/schemagroups/b/schemas/nope#/definitions/x'" in found.detail
    assert "not in this catalog; nothing is fetched" in found.detail
    assert "at /properties/home" in found.detail


def test_what_a_document_referred_to_misses_is_named_too():
    middle = {"items": {"$ref": "https://elsewhere.example.com/x"}}
    found = outcome(
        a={"person": person("/schemagroups/b/schemas/middle")}, b={"middle": {"1": middle}}
    )
    assert "'/schemagroups/b/schemas/middle' refers to 'https://elsewhere" in found.detail


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        pytest.param(b"{", "is not JSON", id="no JSON"),
        pytest.param(b"5", "neither an object nor a boolean", id="no schema"),
        pytest.param(b'{"type": "text"}', "in the document 'other'", id="wrong type"),
        pytest.param(b'{"pattern": "("}', "linear time", id="wrong pattern"),
        pytest.param(b'{"$ref": "#/nope"}', "nope", id="pointer to nothing"),
        pytest.param(b" " * (4 * 1024 * 1024 + 1), "more than 4194304 bytes", id="too large"),
    ],
)
def test_a_wrong_document_referred_to(document, reason):
    with pytest.raises(SchemaError, match=reason):
        compile_schema(FORMAT, {"$ref": "other"}, references=(Reference("other", document),))


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        pytest.param(
            b'{"title": "' + b"x" * 2_000_000 + b'"}', "more than 4194304 bytes", id="bytes"
        ),
        pytest.param(
            b'{"enum": [' + b"[[[]]]," * 9_000 + b"1]}", "objects and arrays", id="values"
        ),
        pytest.param(b'{"anyOf": [' + b"{}," * 9_000 + b"{}]}", "20000 sub-schemas", id="schemas"),
    ],
)
def test_many_documents_are_not_larger_than_one(part, reason):
    parts = tuple(Reference(f"s{n}", part + b" " * n) for n in range(3))
    document = {"properties": {one.name: {"$ref": one.name} for one in parts}}
    with pytest.raises(SchemaError, match=reason):
        compile_schema(FORMAT, document, references=parts)


def test_a_document_that_nothing_refers_to_does_not_matter():
    assert compile_schema(FORMAT, {}, references=(Reference("other", b"{"),)).is_valid(1)


def test_documents_of_other_drafts():
    other = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "prefixItems": [{"type": "string"}],
    }
    content = json.dumps(other).encode()
    schema = compile_schema(
        FORMAT,
        {"properties": {"a": {"$ref": "other"}, "b": {"prefixItems": [{"type": "string"}]}}},
        references=(Reference("other", content),),
    )
    assert not schema.is_valid({"a": [1]})
    assert schema.is_valid({"b": [1]})


def test_a_link_into_a_document_with_references():
    document = {"messages": {"m": {"properties": {"a": {"$ref": "other"}}}}}
    schema = compile_schema(
        FORMAT, document, "#/messages/m", references=(Reference("other", b'{"type": "null"}'),)
    )
    assert schema.is_valid({"a": None})
    assert not schema.is_valid({"a": 1})


def test_a_linked_part_with_an_identity_and_references():
    part = {"$id": "https://e.com/m", "properties": {"a": {"$ref": "other"}}}
    schema = compile_schema(
        FORMAT,
        {"messages": {"m": part}},
        "#/messages/m",
        references=(Reference("other", b'{"type": "null"}'),),
    )
    assert schema.is_valid({"a": None})
    assert not schema.is_valid({"a": 1})


def test_the_metaschema_in_either_scheme():
    for address in (
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
    ):
        schema = compile_schema(FORMAT, {"$ref": address})
        assert schema.is_valid({"type": "string"})
        assert not schema.is_valid({"type": "text"})


SEEN: list[str] = []
WATCHING: list[bool] = []


def watch(event, arguments):
    if WATCHING and event.startswith(("socket.", "open", "urllib", "subprocess", "os.")):
        SEEN.append(f"{event} {arguments}")


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:9/x",
        "https://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "//169.254.169.254/x",
        "ftp://127.0.0.1/x",
        "jar:file:///x.jar!/a",
        "urn:example:x",
        "data:application/json,{}",
        "/etc/passwd",
        "../../etc/passwd",
        "C:\\x",
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$id", "$schema"])
def test_no_socket_and_no_file_is_opened(reference, keyword):
    if watch not in HOOKED:
        sys.addaudithook(watch)
        HOOKED.append(watch)
    compile_schema("JSONSchema/2020-12", {"$ref": "#/$defs/warm", "$defs": {"warm": {}}})
    document = {"properties": {"a": {keyword: reference}}, "items": {keyword: reference}}
    SEEN.clear()
    WATCHING.append(True)
    try:
        compile_schema("JSONSchema/2020-12", document).is_valid({"a": 1})
    except SchemaError as error:
        message = str(error)
    else:
        message = ""
    finally:
        WATCHING.clear()
    assert SEEN == []
    if keyword in ("$ref", "$dynamicRef"):
        assert "nothing is fetched" in message


HOOKED: list[object] = []
