"""Compiling documents: versions, links, imports, and what is said about a wrong one."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from heraldry.errors import SchemaError, UsageError
from heraldry.schemas import formats
from heraldry.schemas.protobuf import protoc
from heraldry.schemas.protobuf.compiled import SIZE_LIMIT
from heraldry.schemas.source import Reference

P3 = 'syntax = "proto3"; '
TWO = P3 + "package shop.v1; message Order { message Line { int32 count = 1; } } message Bill {}"


def names(schema) -> list[str]:
    return [column.name for column in schema.columns]


def chosen(document: str, link: str = "", name: str = "") -> str:
    schema: Any = formats.compile("Protobuf/3", document, link, name=name)
    return schema.message.full_name


@pytest.mark.parametrize(
    ("format_", "document", "has_presence"),
    [
        ("Protobuf/3", "message A { int32 a = 1; }", False),
        ("Protobuf/3.0", "// a comment\nmessage A { int32 a = 1; }", False),
        ("Protobuf/2", "message A { optional int32 a = 1; }", True),
        ("Protobuf", "message A { optional int32 a = 1; }", True),
        ("Protobuf/2023", "message A { int32 a = 1; }", True),
        ("protobuf/2", P3 + "message A { int32 a = 1; }", False),
        ("Protobuf/3", 'syntax = "proto2"; message A { optional int32 a = 1; }', True),
        ("Protobuf/3", '/* x */ edition = "2023"; message A { int32 a = 1; }', True),
        ("Protobuf/3", 'edition = "2024"; message A { int32 a = 1; }', True),
    ],
)
def test_the_statement_of_the_document_decides_then_the_version(format_, document, has_presence):
    schema = formats.compile(format_, document)
    assert schema.columns[0].nullable is has_presence
    assert schema.decode(b"") == ({} if has_presence else {"a": 0})


@pytest.mark.parametrize(
    ("link", "full_name"),
    [
        ("Order", "shop.v1.Order"),
        ("shop.v1.Bill", "shop.v1.Bill"),
        ("#Bill", "shop.v1.Bill"),
        (":Bill", "shop.v1.Bill"),
        ("#/Bill", "shop.v1.Bill"),
        ("messages/Bill", "shop.v1.Bill"),
        ("Order.Line", "shop.v1.Order.Line"),
        ("Order/Line", "shop.v1.Order.Line"),
        ("shop.v1.Order.Line", "shop.v1.Order.Line"),
        ("Line", "shop.v1.Order.Line"),
        (".shop.v1.Order", "shop.v1.Order"),
    ],
)
def test_a_link_names_a_message(link, full_name):
    assert chosen(TWO, link) == full_name


@pytest.mark.parametrize(
    ("name", "full_name"),
    [("shop.Bill", "shop.v1.Bill"), ("Order", "shop.v1.Order"), ("x.order", "shop.v1.Order")],
)
def test_without_a_link_the_message_named_like_the_schema(name, full_name):
    assert chosen(TWO, name=name) == full_name


def test_without_a_link_the_only_message():
    document = P3 + "message A { message B {} enum C { D = 0; } } enum E { F = 0; }"
    assert chosen(document, name="other") == "A"


@pytest.mark.parametrize(
    ("document", "link", "location", "reason"),
    [
        (TWO, "", "", "a link must name one of shop.v1.Order, shop.v1.Bill, shop.v1.Order.Line"),
        (TWO, "Nothing", "Nothing", "it has shop.v1.Order, shop.v1.Bill, shop.v1.Order.Line"),
        (P3 + "enum A { B = 0; }", "", "", "the document has no message"),
        (P3 + "\nmessage A {\n  Foo a = 1;\n}", "", "3:3", '"Foo" is not defined.'),
        ("message A { Foo a = 1; }", "", "1:13", '"Foo" is not defined.'),
        (P3 + "message A { int32 a = 1; int32 b = 1; }", "", "1:55", "already been used"),
        (P3 + 'import "b.proto"; message A {}', "", "", "'b.proto' is not in the catalog"),
        ("  \n ", "", "", "the document is empty"),
        ("{}", "", "1:1", "Expected top-level statement"),
        (P3 + "//" + "x" * SIZE_LIMIT, "", "", f"larger than {SIZE_LIMIT} bytes"),
    ],
)
def test_a_wrong_document_says_where_and_why(document, link, location, reason):
    with pytest.raises(SchemaError) as caught:
        formats.compile("Protobuf/3", document, link)
    assert caught.value.location == location
    assert reason in caught.value.reason
    assert "/tmp" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["common.proto", "/schemagroups/g/schemas/common", "../../x.proto", "./a/b.proto", "a b?:*"],
)
def test_imports_are_taken_from_the_catalog_by_their_text(name):
    document = P3 + f'import  public /* x */ "{name}" ; message A {{ Line line = 1; }}'
    common = Reference(name, b'syntax = "proto3"; message Line { int32 count = 1; }')
    schema = formats.compile("Protobuf/3", document, references=(common,))
    assert schema.decode(schema.encode({"line": {"count": 3}})) == {"line": {"count": 3}}
    assert formats.references_of("Protobuf/3", document) == (name,)


def test_imports_of_imports():
    references = (
        Reference("b.proto", b'syntax = "proto3"; import "c.proto"; message B { C c = 1; }'),
        Reference("c.proto", b'syntax = "proto3"; message C { int32 x = 1; }'),
    )
    document = P3 + 'import "b.proto"; message A { B b = 1; }'
    schema = formats.compile("Protobuf/3", document, references=references)
    assert schema.decode(schema.encode({"b": {"c": {"x": 1}}})) == {"b": {"c": {"x": 1}}}


@pytest.mark.parametrize(
    ("common", "location", "reason"),
    [
        (b'syntax = "proto3";\nmessage B { X x = 1; }', "b.proto:2:13", '"X" is not defined.'),
        (b'syntax = "proto3"; import "a.proto";', "", "'a.proto' is not in the catalog"),
        (b'syntax = "proto3"; import "b.proto";', "b.proto:1:20", "recursively imports itself"),
    ],
)
def test_what_is_wrong_in_an_import_is_located_there(common, location, reason):
    document = P3 + 'import "b.proto"; message A {}'
    with pytest.raises(SchemaError) as caught:
        formats.compile("Protobuf/3", document, references=(Reference("b.proto", common),))
    assert caught.value.location == location
    assert reason in caught.value.reason


def test_one_document_under_two_names_is_one_file():
    text = b'syntax = "proto3"; message B {}'
    references = (Reference("b.proto", text), Reference("/x/b", text))
    document = P3 + 'import "b.proto"; import "c.proto"; message A { B b = 1; }'
    other = Reference("c.proto", b'syntax = "proto3"; import "/x/b"; message C { B b = 1; }')
    schema = formats.compile("Protobuf/3", document, references=(*references, other))
    assert names(schema) == ["b"]


def test_well_known_types_come_with_the_compiler():
    fake = Reference("google/protobuf/timestamp.proto", b"message Fake {}")
    document = P3 + (
        'import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp t = 1; }'
    )
    schema = formats.compile("Protobuf/3", document, references=(fake,))
    assert schema.columns[0].type.name == "timestamp"


def test_a_compiler_that_takes_too_long_is_stopped(monkeypatch):
    """A machine that is too slow says nothing about the document: it is no SchemaError."""
    monkeypatch.setattr(protoc, "WALL_LIMIT", 0.0)
    # Long enough for a look at the clock, on any machine.
    document = P3 + "message Slow {" + "".join(f"int32 f{n}={n};" for n in range(1, 18_000)) + "}"
    with pytest.raises(UsageError, match=r"did not end within 0\.0 seconds"):
        formats.compile("Protobuf/3", document)


def test_a_schema_pickles_by_its_source_and_compiles_once():
    schema = formats.compile("Protobuf/3", TWO, "Order.Line")
    assert formats.compile("Protobuf/3", TWO, "Order.Line") is schema
    again = pickle.loads(pickle.dumps(schema))
    assert again.source == schema.source
    assert again.columns == schema.columns
    assert schema.media_type == "application/protobuf"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'import "a.proto";', ("a.proto",)),
        (b'import public \'a.proto\'; import weak "b"; import option "c";', ("a.proto", "b", "c")),
        (b'// import "a";\n/* import "b"; */ import "c";', ("c",)),
        (b'option x = "import \\"a\\";"; import "b";', ("b",)),
        (b'import "a"; import "a";', ("a",)),
        (b'message import { string import = 1; } x.import "a";', ()),
        (b"\xff\xfe\x00", ()),
        (b'import "', ()),
        (b"/* import", ()),
    ],
)
def test_references(content, found):
    assert formats.references_of("Protobuf", content) == found
