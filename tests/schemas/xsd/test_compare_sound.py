"""Pairs of versions with a message of the one that the other refuses: never called safe."""

from __future__ import annotations

import pytest

from heraldry.errors import MessageError
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import compile as compile_schema
from tests.schemas.xsd.documents import document, element

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def o(content: str, attributes: str = "", more: str = "") -> str:
    inner = f"<xs:sequence>{content}</xs:sequence>{attributes}"
    return f'<xs:element name="o"><xs:complexType>{inner}</xs:complexType></xs:element>{more}'


def kind(more: str = "") -> str:
    return (
        f'<xs:complexType name="t" {more}><xs:sequence><xs:element name="a"/></xs:sequence>'
        '</xs:complexType><xs:complexType name="u"><xs:complexContent><xs:extension base="t">'
        '<xs:sequence><xs:element name="c"/></xs:sequence></xs:extension></xs:complexContent>'
        "</xs:complexType>"
    )


def opened(content: str) -> str:
    return (
        '<xs:element name="o"><xs:complexType><xs:openContent><xs:any processContents="lax"/>'
        f"</xs:openContent><xs:sequence>{content}</xs:sequence></xs:complexType></xs:element>"
    )


def keyed(name: str) -> str:
    return (
        f'<xs:element name="o"><xs:complexType><xs:sequence>{element("a", name, MANY)}'
        '</xs:sequence></xs:complexType><xs:unique name="u"><xs:selector xpath="a"/>'
        '<xs:field xpath="."/></xs:unique></xs:element>'
    )


def anything(how: str) -> str:
    return f'<xs:any processContents="{how}" minOccurs="0" maxOccurs="unbounded"/>'


def attributes(how: str) -> str:
    return f'<xs:anyAttribute processContents="{how}"/>'


def compared(name: str) -> str:
    return o(element("a", name) + element("b", name), '<xs:assert test="a gt b"/>')


MANY = 'maxOccurs="unbounded"'
OPTIONAL = 'minOccurs="0"'
INT = element("g", "xs:int")
ROOT = '<xs:element name="o" type="t"/>'
DERIVED = f'<o {XSI} xsi:type="u"><a>x</a><c>y</c></o>'
NONE = (
    '<xs:element name="a"><xs:simpleType><xs:restriction><xs:simpleType><xs:list '
    'itemType="xs:string"/></xs:simpleType><xs:maxLength value="0"/></xs:restriction>'
    "</xs:simpleType></xs:element>"
)

# old, new, a message of the old version
BROKEN = {
    "default dropped": (
        o(element("a", "xs:int", 'default="5"')), o(element("a", "xs:int")), "<o><a/></o>"),
    "fixed value dropped": (
        o(element("a", "xs:int", 'fixed="5"')), o(element("a", "xs:int")), "<o><a/></o>"),
    "type became abstract": (
        ROOT + kind(), ROOT + kind('abstract="true"'), "<o><a>x</a></o>"),
    "type blocks extensions": (ROOT + kind(), ROOT + kind('block="extension"'), DERIVED),
    "element blocks all": (
        ROOT + kind(), ROOT.replace("/>", ' block="#all"/>') + kind(), DERIVED),
    "global declared where all is let in": (
        o(anything("lax")), o(anything("lax"), "", INT), "<o><g>x</g></o>"),
    "global no longer declared": (
        o(anything("strict"), "", INT), o(anything("strict")), "<o><g>1</g></o>"),
    "global narrowed": (
        o(anything("strict"), "", element("g")), o(anything("strict"), "", INT),
        "<o><g>x</g></o>"),
    "global of anyType narrowed": (
        o('<xs:element name="a"/>', "", element("g")), o('<xs:element name="a"/>', "", INT),
        "<o><a><g>x</g></a></o>"),
    "global attribute declared": (
        o("", attributes("lax")), o("", attributes("lax"),
        '<xs:attribute name="g" type="xs:int"/>'), '<o g="x"/>'),
    "global attribute no longer declared": (
        o("", attributes("strict"), '<xs:attribute name="g" type="xs:int"/>'),
        o("", attributes("strict")), '<o g="1"/>'),
    "duration of years": (
        o(element("a", "xs:duration")), o(element("a", "xs:yearMonthDuration")),
        "<o><a>P1D</a></o>"),
    "duration of days": (
        o(element("a", "xs:duration")), o(element("a", "xs:dayTimeDuration")),
        "<o><a>P1Y</a></o>"),
    "id no longer one": (
        o(element("a", "xs:ID") + element("b", "xs:IDREF")),
        o(element("a") + element("b", "xs:IDREF")), "<o><a>x</a><b>x</b></o>"),
    "element added to open content": (
        opened(""), opened(element("b", "xs:int", OPTIONAL)), "<o><b>x</b></o>"),
    "condition over another type": (
        compared("xs:int"), compared("xs:string"), "<o><a>10</a><b>9</b></o>"),
    "unique values of another type": (
        keyed("xs:string"), keyed("xs:token"), "<o><a>1</a><a> 1</a></o>"),
    "list without items": (o(element("a", "xs:NMTOKEN")), o(NONE), "<o><a>x</a></o>"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_is_not_called_safe(name: str) -> None:
    one, other, message = BROKEN[name]
    old, new = (compile_schema("XSD", document(body), "#o") for body in (one, other))
    old.decode(message.encode())
    with pytest.raises(MessageError):
        new.decode(message.encode())
    assert compare([("1", old)], new, "backward").verdict != "compatible"
    assert compare([("1", new)], old, "forward").verdict != "compatible"


CALM = {
    "int to long next to a key": (
        keyed("xs:int"), keyed("xs:long")),
    "default changed": (
        o(element("a", more='default="x"')), o(element("a", more='default="y"'))),
    "global added where only others are let in": (
        o('<xs:any namespace="##other" processContents="lax" minOccurs="0"/>'),
        o('<xs:any namespace="##other" processContents="lax" minOccurs="0"/>', "", INT)),
    "global added where all is let in, unchecked": (
        o(anything("skip")), o(anything("skip"), "", INT)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALM)
def test_everyday_changes_stay_safe(name: str) -> None:
    old, new = (
        compile_schema("XSD", document(body, 'targetNamespace="urn:t"'), "#o")
        for body in CALM[name]
    )
    assert compare([("1", old)], new, "backward").verdict == "compatible"
