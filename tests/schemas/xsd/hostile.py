"""Documents and payloads made to hurt: each must end quickly, in an error or not."""

from __future__ import annotations

from tests.schemas.xsd.documents import HEAD, document, element, facet, order, restricted


def _bomb(prolog: str, inner: str = "&d;") -> str:
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {name} "' + f"&{other};" * 10 + '">'
        for other, name in zip("abc", "bcd", strict=True)
    )
    return f"<!DOCTYPE {prolog} [{entities}]>{inner}"


def _pattern(value: str) -> str:
    return document(restricted("a", "xs:string", facet("pattern", value)))


def _doubled(tag: str, inner: str, end: str) -> str:
    def ref(at: int) -> str:
        return f'<xs:{tag} ref="g{at + 1}"/>' * 2

    def wrapped(text: str) -> str:
        return f"<xs:sequence>{text}</xs:sequence>" if tag == "group" else text

    groups = "".join(f'<xs:{tag} name="g{i}">{wrapped(ref(i))}</xs:{tag}>' for i in range(40))
    last = f'<xs:{tag} name="g40">{wrapped(inner)}</xs:{tag}>'
    return document(groups + last + end)


_USE = '<xs:element name="a"><xs:complexType><xs:{} ref="g0"/></xs:complexType></xs:element>'
_UNIONS = "".join(
    f'<xs:simpleType name="u{i + 1}"><xs:union memberTypes="u{i} u{i}"/></xs:simpleType>'
    for i in range(30)
)
_INT = '<xs:simpleType name="u0"><xs:restriction base="xs:int"/></xs:simpleType>'
_MANY = "".join(element(f"e{i}", "xs:int", 'minOccurs="0"') for i in range(2500))

_THOUSAND = element("a", more='maxOccurs="1000"')

DOCUMENTS: list[tuple[str, bytes | str]] = [
    ("empty", b""),
    ("no XML", b"\x00\xff\xfe"),
    ("no schema", b"<a/>"),
    ("JSON", b'{"type": "object"}'),
    ("entity bomb", _bomb("xs:schema", document("<xs:annotation>&d;</xs:annotation>"))),
    ("external entity", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + order("&x;")),
    ("external DTD", '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">' + order("")),
    ("DTD in UTF-16", ('<!DOCTYPE a [<!ENTITY x "y">]>' + order("")).encode("utf-16")),
    ("odd encoding", b'<?xml version="1.0" encoding="UTF-7"?>' + order("").encode()),
    ("include of a file", document('<xs:include schemaLocation="file:///etc/passwd"/>')),
    ("include of a page", document('<xs:include schemaLocation="http://127.0.0.1:9/a.xsd"/>')),
    ("import of a file", document('<xs:import namespace="u" schemaLocation="/etc/passwd"/>')),
    ("redefine of a file", document('<xs:redefine schemaLocation="../../etc/passwd"/>')),
    ("override of a page", document('<xs:override schemaLocation="https://127.0.0.1:9/"/>')),
    ("import of xlink", document('<xs:import namespace="http://www.w3.org/1999/xlink"/>')),
    ("pattern nested", _pattern("(a+)+b")),
    ("pattern too large", _pattern("((a{1,99}){1,99}){1,99}")),
    ("pattern deep", _pattern("(" * 900 + "a" + ")" * 900)),
    ("pattern long", _pattern("a" * 100_000)),
    ("pattern unbalanced", _pattern("[a-z")),
    ("default against a pattern", document(
        '<xs:simpleType name="p"><xs:restriction base="xs:string"><xs:pattern value="(a+)+b"/>'
        f'</xs:restriction></xs:simpleType><xs:element name="a" type="p" default="{"a" * 60}"/>')),
    ("deep nesting", order("<xs:sequence>" * 3000 + "</xs:sequence>" * 3000)),
    ("deep model", order("<xs:sequence>" * 80 + element("a") + "</xs:sequence>" * 80)),
    ("groups doubled", _doubled("group", "", _USE.format("group"))),
    ("attribute groups doubled", _doubled(
        "attributeGroup", '<xs:attribute name="q"/>', _USE.format("attributeGroup"))),
    ("unions doubled", document(_INT + _UNIONS + '<xs:element name="a" type="u30"/>')),
    ("type circle", document(
        '<xs:simpleType name="a"><xs:restriction base="b"/></xs:simpleType>'
        '<xs:simpleType name="b"><xs:restriction base="a"/></xs:simpleType>'
        '<xs:element name="c" type="a"/>')),
    ("group circle", document(
        '<xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>'
        + _USE.replace("g0", "g").format("group"))),
    ("substitution circle", document(
        '<xs:element name="a" substitutionGroup="b"/><xs:element name="b" substitutionGroup="a"/>'
    )),
    ("long chain of types", document(
        '<xs:simpleType name="x0"><xs:restriction base="xs:int"/></xs:simpleType>' + "".join(
            f'<xs:simpleType name="x{i + 1}"><xs:restriction base="x{i}"/></xs:simpleType>'
            for i in range(2000)) + '<xs:element name="a" type="x2000"/>')),
    ("too many elements in a type", order(_MANY)),
    ("too many branches", order(_MANY, group="choice")),
    ("huge maxOccurs", order(element("a", more='maxOccurs="100000"') + element("b"))),
    ("absurd maxOccurs", order(element("a", more=f'maxOccurs="{"9" * 5000}"'))),
    ("nested maxOccurs", order(
        f'<xs:sequence maxOccurs="1000" minOccurs="1000">{_THOUSAND}'
        "</xs:sequence>")),
    ("huge length", order(restricted("a", "xs:string", facet("minLength", "9" * 4000)))),
    ("huge bound", order(restricted("a", "xs:decimal", facet("minInclusive", "9" * 9000)))),
    ("too large", HEAD + ">" + " " * (5 * 1024 * 1024) + "</xs:schema>"),
    ("too many components", document(
        "".join(f'<xs:element name="e{i}"/>' for i in range(20_000)))),
    ("condition that reads", order(
        element("a"), "<xs:assert test=\"doc('file:///etc/passwd')\"/>")),
    ("condition that repeats", order(
        element("a"), '<xs:assert test="every $i in 1 to 1000000000 satisfies $i"/>')),
    ("condition that matches", order(element("a"), "<xs:assert test=\"matches(a, '(a+)+b')\"/>")),
    ("condition on pairs", order(element("a"), '<xs:assert test="a[. = ../a[. = ../a]]"/>')),
    ("recursive without end", document(
        '<xs:complexType name="t"><xs:sequence><xs:element name="n" type="t"/></xs:sequence>'
        '</xs:complexType><xs:element name="a" type="t"/>')),
    ("elements up to the limit", document("".join(
        f'<xs:element name="e{i}" type="xs:string"/>' for i in range(2_490)))),
]  # fmt: skip

_ANY = document('<xs:element name="a"/>')
_LIST = order(element("a", "xs:int", 'maxOccurs="unbounded"'))
_TREE = document(
    '<xs:complexType name="t"><xs:sequence><xs:element name="n" type="t" minOccurs="0"/>'
    '</xs:sequence></xs:complexType><xs:element name="a" type="t"/>'
)
_OPTIONAL = order(
    '<xs:sequence minOccurs="0" maxOccurs="unbounded">' * 10
    + element("a", more='minOccurs="0"')
    + "</xs:sequence>" * 10
)
_CONDITION = order(
    element("a", "xs:int", 'maxOccurs="unbounded"'), '<xs:assert test="not(a != a)"/>'
)

PAYLOADS: list[tuple[str, bytes | str, bytes, str | None]] = [
    ("empty", _ANY, b"", None),
    ("no XML", _ANY, b"\x00\x01\x02\x03\x04\x05\x06", None),
    ("entity bomb", _ANY, _bomb("a", "<a>&d;</a>").encode(), None),
    ("entity bomb in an attribute", _ANY, _bomb("a", '<a b="&d;"/>').encode(), None),
    ("external entity", _ANY,
     b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', None),
    ("external DTD", _ANY, b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a"><a/>', None),
    ("DTD behind comments", _ANY, b"<!-- x -->" * 20_000 + b"<!DOCTYPE a><a/>", None),
    ("DTD in UTF-16", _ANY, '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'.encode("utf-16"), None),
    ("location of a schema", _ANY,
     b'<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
     b'xsi:noNamespaceSchemaLocation="file:///etc/passwd" xsi:schemaLocation="u http://127.0.0.1:9/"/>',
     None),
    ("unknown xsi:type", _ANY,
     b'<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x:y"/>', None),
    ("inclusion", _ANY,
     b'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="/etc/passwd"/></a>', None),
    ("deep", _ANY, b"<a>" * 100_000 + b"</a>" * 100_000, None),
    ("deep and valid", _TREE, b"<a>" + b"<n>" * 99 + b"</n>" * 99 + b"</a>", None),
    ("deeper and valid", _TREE, b"<a>" + b"<n>" * 250 + b"</n>" * 250 + b"</a>", None),
    ("pattern nested", _pattern("(a+)+b"), b"<a>" + b"a" * 50_000 + b"</a>", None),
    ("pattern alternatives", _pattern("(a|a)*b"), b"<a>" + b"a" * 50_000 + b"</a>", None),
    ("pattern repeated", _pattern("(.*a){20}"), b"<a>" + b"a" * 20_000 + b"b</a>", None),
    ("huge integer", order(element("a", "xs:integer")),
     b"<order><a>" + b"9" * 1_000_000 + b"</a></order>", None),
    ("huge decimal", order(element("a", "xs:decimal")),
     b"<order><a>" + b"9" * 1_000_000 + b".5</a></order>", None),
    ("huge exponent", order(element("a", "xs:double")),
     b"<order><a>1e999999999999</a></order>", None),
    ("many attributes", _ANY,
     ("<a " + " ".join(f'a{i}="1"' for i in range(20_000)) + "/>").encode(), None),
    ("many errors", _LIST, b"<order>" + b"<a>x</a>" * 20_000 + b"</order>", None),
    ("errors up to the limit", _LIST, b"<order>" + b"<a>x</a>" * 9_990 + b"</order>", None),
    ("many elements", _LIST, b"<order>" + b"<a>1</a>" * 50_000 + b"</order>", None),
    ("ambiguous optional", _OPTIONAL, b"<order>" + b"<a/>" * 500 + b"<b/></order>", None),
    ("pairs", _CONDITION, b"<order>" + b"<a>1</a>" * 5_000 + b"</order>", None),
    ("glue bomb", _ANY, b"\x03\x05" + b"\x00" * 16 + b"\x78\x9c\x00", None),
    ("bad UTF-8", _ANY, b"<a>\xff\xfe</a>", "text/xml"),
    ("bad declared encoding", _ANY, b'<?xml version="1.0" encoding="x-none"?><a/>', None),
]  # fmt: skip
