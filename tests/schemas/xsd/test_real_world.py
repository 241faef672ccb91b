"""What catalogs of banks, invoices and travel have: locations, columns, sizes, sentences."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from heraldry.errors import MessageError
from heraldry.schemas.columns import Fixed, Struct
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.source import Reference
from tests.schemas.xsd.documents import HEAD, document, element, order

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
KEYED = (
    '<xs:element name="order"><xs:complexType><xs:sequence><xs:element name="a" '
    'maxOccurs="unbounded"><xs:complexType><xs:attribute name="i"/><xs:attribute name="r"/>'
    "</xs:complexType></xs:element></xs:sequence></xs:complexType>"
    '<xs:key name="k"><xs:selector xpath="a"/><xs:field xpath="@i"/></xs:key>'
    '<xs:keyref name="f" refer="k"><xs:selector xpath="a"/><xs:field xpath="@r"/></xs:keyref>'
    "</xs:element>"
)
ABSTRACT = (
    '<xs:complexType name="t" abstract="true"><xs:sequence/></xs:complexType>'
    '<xs:element name="order"><xs:complexType><xs:sequence>'
    '<xs:element name="k" type="t"/></xs:sequence></xs:complexType></xs:element>'
)

# schema, payload, path, rule, a part of the sentence
TOLD = {
    "id that is nowhere": (
        order(element("a", "xs:IDREF")), "<order><a>x</a></order>", "/", "xs:IDREF", "no element"),
    "id twice": (
        order(element("a", "xs:ID", 'maxOccurs="2"')), "<order><a>x</a><a>x</a></order>",
        "/a/1", "xs:ID", "another element"),
    "key twice": (
        document(KEYED), '<order><a i="1"/><a i="1"/></order>', "/a/1", "xs:unique", "unique"),
    "key missing": (document(KEYED), "<order><a/></order>", "/a/0", "xs:key", "lacks"),
    "key that is nowhere": (
        document(KEYED), '<order><a i="1" r="2"/></order>', "/", "xs:keyref", "no element"),
    "abstract type": (document(ABSTRACT), "<order><k/></order>", "/k", "xsi:type", "abstract"),
    "unknown type": (
        order(element("a")), f'<order><a {XSI} xsi:type="zork">x</a></order>', "/a", "xsi:type",
        "not known"),
    "nil": (
        order(element("a")), f'<order><a {XSI} xsi:nil="true"/></order>', "/a", "xsi:nil",
        "does not allow"),
    "text between elements": (
        order(element("a")), "<order>x<a/></order>", "/", "text", "text between"),
    "undeclared where only the declared is let in": (
        order("<xs:any/>"), "<order><z/></order>", "/any", "unexpected-element", "not an element"),
    "another namespace": (
        order(element("a")), '<order xmlns="urn:x"><a/></order>', "/", "root-element",
        "another namespace"),
    "left out in the middle": (
        order(element("a") + element("b") + element("c")), "<order><a/><c/></order>", "/b",
        "missing-element", "is missing"),
    "out of order": (
        order(element("a") + element("b")), "<order><b/><a/></order>", "/b",
        "unexpected-element", "no place"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_a_refusal_says_what_is_wrong_and_where(name: str) -> None:
    schema, payload, path, rule, part = TOLD[name]
    with pytest.raises(MessageError) as caught:
        compile_schema("XSD", schema).decode(payload.encode())
    problem = caught.value.problems[0]
    assert (problem.path, problem.rule) == (path, rule)
    assert part in problem.message


def test_a_missing_element_of_an_imported_namespace_is_located_by_its_key() -> None:
    other = f'{HEAD} targetNamespace="urn:b"><xs:element name="id" type="xs:int"/></xs:schema>'
    main = order('<xs:element ref="b:id"/>', head='xmlns:b="urn:b"').replace(
        "<xs:element name=", '<xs:import namespace="urn:b" schemaLocation="b"/><xs:element name=', 1
    )
    schema = compile_schema("XSD", main, references=(Reference("b", other.encode()),))
    with pytest.raises(MessageError) as caught:
        schema.decode(b'<order xmlns:b="urn:b"/>')
    assert [one.path for one in caught.value.problems] == ["/id"]


def test_the_text_of_a_restricted_simple_content_keeps_its_type() -> None:
    kinds = (
        '<xs:complexType name="q"><xs:simpleContent><xs:extension base="xs:decimal">'
        '<xs:attribute name="u"/></xs:extension></xs:simpleContent></xs:complexType>'
        '<xs:complexType name="r"><xs:simpleContent><xs:restriction base="q">'
        '<xs:attribute name="u" use="required"/></xs:restriction></xs:simpleContent>'
        "</xs:complexType>"
    )
    schema = compile_schema("XSD", order(element("a", "r")).replace("</xs:schema>", "") + kinds
                            + "</xs:schema>")  # fmt: skip
    (column,) = schema.columns
    assert isinstance(column.type, Struct)
    assert {one.name: one.type for one in column.type.fields}["value"] == Fixed(38, 18)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_outside_of_the_years_of_utc_is_its_text(text: str) -> None:
    schema = compile_schema("XSD", order(element("a", "xs:dateTime")))
    value = schema.decode(f"<order><a>{text}</a></order>".encode())
    assert value == {"a": text}
    assert isinstance(schema.to_row(value), tuple)
    near = schema.decode(b"<order><a>9999-12-31T23:59:59Z</a></order>")
    assert near == {"a": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)}


def test_an_empty_list_of_tokens_is_refused() -> None:
    with pytest.raises(MessageError):
        compile_schema("XSD", order(element("a", "xs:NMTOKENS"))).decode(b"<order><a/></order>")


UNION = (
    "<xs:element name='a'><xs:simpleType><xs:list><xs:simpleType><xs:union memberTypes="
    "'xs:int xs:date xs:NMTOKEN'/></xs:simpleType></xs:list></xs:simpleType></xs:element>"
)
BRANCHES = "".join(element(f"e{number}") for number in range(300))
WIDE = f'<xs:choice minOccurs="0" maxOccurs="unbounded">{BRANCHES}<xs:any namespace="##other"/>'

UNIQUE = "".join(
    f'<xs:unique name="u{n}"><xs:selector xpath=".//a"/><xs:field xpath="."/></xs:unique>'
    for n in range(20)
)

# schema, payload
HEAVY = {
    "unique values": (
        order(element("a", more='maxOccurs="unbounded"')).replace(
            "</xs:complexType>", f"</xs:complexType>{UNIQUE}"
        ),
        "<order>" + "".join(f"<a>{n}</a>" for n in range(9_000)) + "</order>",
    ),
    "list": (order(element("a", "xs:NMTOKENS")), "<order><a>" + "x " * 900_000 + "</a></order>"),
    "list of a union": (order(UNION), "<order><a>" + "x " * 900_000 + "</a></order>"),
    "choice": (order(f"{WIDE}</xs:choice>"), "<order>" + "<e299/>" * 9_000 + "</order>"),
}


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_too_much_to_check_is_refused_soon(name: str) -> None:
    schema, payload = HEAVY[name]
    compiled = compile_schema("XSD", schema)
    before = time.process_time()
    with pytest.raises(MessageError) as caught:
        compiled.decode(payload.encode())
    assert caught.value.problems[0].rule == "size"
    assert time.process_time() - before < 4


def test_lists_and_choices_of_everyday_size_are_read() -> None:
    words = compile_schema("XSD", order(UNION))
    assert len(words.decode(("<order><a>" + "1 " * 5_000 + "</a></order>").encode())["a"]) == 5_000
    wide = compile_schema("XSD", order(f"{WIDE}</xs:choice>"))
    assert wide.decode(("<order>" + "<e299/>" * 500 + "</order>").encode())


def _patterns(last: str) -> str:
    return order("".join(
        f'<xs:element name="e{n}"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern '
        f'value="[a-z]{{1,{n + 1}}}{last}"/></xs:restriction></xs:simpleType></xs:element>'
        for n in range(300)
    ))  # fmt: skip


def _all(count: int) -> str:
    return order("".join(element(f"e{n}", more='minOccurs="0"') for n in range(count)), group="all")


@pytest.mark.parametrize(
    ("old", "new"), [(_patterns("x*"), _patterns("y*")), (_all(200), _all(201))],
    ids=["many patterns", "many elements in any order"],
)  # fmt: skip
def test_large_schemas_are_compared_soon(old: str, new: str) -> None:
    one, other = compile_schema("XSD", old), compile_schema("XSD", new)
    before = time.process_time()
    found = changes(one, other)
    assert found
    assert time.process_time() - before < 6


def test_an_optional_element_of_many_in_any_order_is_safe_for_old_messages() -> None:
    found = changes(compile_schema("XSD", _all(200)), compile_schema("XSD", _all(201)))
    assert [(one.rule, one.backward, one.forward) for one in found] == [
        ("element-added", "safe", "breaking")
    ]


def test_changes_of_values_and_lengths_are_named() -> None:
    def limited(facets: str) -> str:
        kind = f'<xs:restriction base="xs:string">{facets}</xs:restriction>'
        return order(f'<xs:element name="a"><xs:simpleType>{kind}</xs:simpleType></xs:element>')

    enums = [limited(f'<xs:enumeration value="{one}"/>') for one in ("OLD", "NEW")]
    told = " ".join(one.message for one in changes(*(compile_schema("XSD", e) for e in enums)))
    assert "OLD" in told
    assert "NEW" in told
    sizes = [limited(f'<xs:maxLength value="{one}"/>') for one in (35, 70)]
    (change,) = changes(*(compile_schema("XSD", one) for one in sizes))
    assert "0 to 70" in change.message
