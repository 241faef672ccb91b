"""Changes of XML Schemas: each named change with its verdicts, its rule and its place."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.errors import SchemaError
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema
from tests.schemas.xsd.documents import document, element, facet, order, restricted
from tests.schemas.xsd.generated import schemas_and_values

A = element("a")
B = element("b")
INT = element("a", "xs:int")
OPTIONAL = 'minOccurs="0"'
MANY = 'maxOccurs="unbounded"'
LAX = '<xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/>'
OTHER = '<xs:any namespace="##other" processContents="lax" minOccurs="0"/>'
NOTHING = "compatible", "compatible"
BACK = "compatible", "incompatible"
FORTH = "incompatible", "compatible"
BREAKS = "incompatible", "incompatible"
BASE = '<xs:complexType name="t"><xs:sequence><xs:element name="a"/></xs:sequence></xs:complexType>'
MORE = (
    '<xs:complexType name="u"><xs:complexContent><xs:extension base="t"><xs:sequence>'
    '<xs:element name="c"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>'
)
ROOT = '<xs:element name="order" type="t"/>'


def attribute(more: str) -> str:
    return f'<xs:attribute name="q" {more}/>'


def enum(*values: str) -> str:
    return order(restricted("a", "xs:string", facet("enumeration", *values)))


def limited(base: str, **facets: object) -> str:
    return order(restricted("a", base, "".join(facet(k, v) for k, v in facets.items())))


# id, old, new, (verdict backward, verdict forward), rule, place
CASES = [
    ("same", order(A), order(A), NOTHING, None, None),
    ("optional element added", order(A), order(A + element("b", more=OPTIONAL)), BACK,
     "element-added", "/order/b"),
    ("required element added", order(A), order(A + B), BREAKS, "element-added", "/order/b"),
    ("optional element removed", order(A + element("b", more=OPTIONAL)), order(A), FORTH,
     "element-removed", "/order/b"),
    ("required element removed", order(A + B), order(A), BREAKS, "element-removed", "/order/b"),
    ("element renamed", order(A), order(B), BREAKS, "element-removed", "/order/a"),
    ("element became optional", order(A), order(element("a", more=OPTIONAL)), BACK,
     "became-optional", "/order/a"),
    ("element became required", order(element("a", more=OPTIONAL)), order(A), FORTH,
     "became-required", "/order/a"),
    ("element became a list", order(A), order(element("a", more=MANY)), BACK,
     "occurs-changed", "/order/a"),
    ("list became a single one", order(element("a", more=MANY)), order(A), FORTH,
     "occurs-changed", "/order/a"),
    ("fewer occurrences", order(element("a", more='maxOccurs="9"')),
     order(element("a", more='maxOccurs="3"')), FORTH, "occurs-changed", "/order/a"),
    ("more at least", order(element("a", more=MANY)),
     order(element("a", more='minOccurs="2" maxOccurs="unbounded"')), FORTH,
     "occurs-changed", "/order/a"),
    ("order of elements", order(A + B), order(B + A), BREAKS, "order-changed", "/order"),
    ("sequence to all", order(A + B), order(A + B, group="all"), BACK, "order-changed", "/order"),
    ("all in another order", order(A + B, group="all"), order(B + A, group="all"), NOTHING,
     None, None),
    ("sequence to choice", order(A + B), order(A + B, group="choice"), BREAKS,
     "content-changed", "/order"),
    ("branch added", order(A, group="choice"), order(A + B, group="choice"), BACK,
     "element-added", "/order/b"),
    ("branch removed", order(A + B, group="choice"), order(A, group="choice"), FORTH,
     "element-removed", "/order/b"),
    ("repeated choice", order(f'<xs:choice maxOccurs="unbounded">{A}{B}</xs:choice>'),
     order(f"<xs:choice>{A}{B}</xs:choice>"), FORTH, "occurs-changed", "/order/a"),
    ("group around the same", order(A + B), order(f"<xs:sequence>{A}{B}</xs:sequence>"), NOTHING,
     None, None),
    ("wildcard added", order(A), order(A + OTHER), BACK, "wildcard-added", "/order"),
    ("wildcard removed", order(A + OTHER), order(A), FORTH, "wildcard-removed", "/order"),
    ("wildcard stricter", order(A + LAX), order(A + LAX.replace("lax", "strict")), FORTH,
     "wildcard-checks-changed", "/order"),
    ("wildcard of fewer namespaces", order(A + LAX),
     order(A + LAX.replace("<xs:any", '<xs:any namespace="##other"')), FORTH,
     "wildcard-changed", "/order"),
    ("element added where any is let in", order(A + LAX),
     order(A + f"<xs:choice {OPTIONAL}>{B}</xs:choice>"), FORTH, "wildcard-removed", "/order"),
    ("element removed where any is let in", order(A + B),
     order(A + LAX), BACK, "element-removed", "/order/b"),
    ("int to long", order(INT), order(element("a", "xs:long")), BACK, "type-widened", "/order/a"),
    ("long to int", order(element("a", "xs:long")), order(INT), FORTH, "type-narrowed",
     "/order/a"),
    ("int to unsigned", order(INT), order(element("a", "xs:unsignedInt")), BREAKS,
     "range-changed", "/order/a"),
    ("int to string", order(INT), order(A), BACK, "type-changed", "/order/a"),
    ("string to int", order(A), order(INT), FORTH, "type-changed", "/order/a"),
    ("int to decimal", order(INT), order(element("a", "xs:decimal")), BACK, "type-changed",
     "/order/a"),
    ("decimal to double", order(element("a", "xs:decimal")), order(element("a", "xs:double")),
     BACK, "type-changed", "/order/a"),
    ("float to double", order(element("a", "xs:float")), order(element("a", "xs:double")),
     NOTHING, "type-changed", "/order/a"),
    ("date to dateTime", order(element("a", "xs:date")), order(element("a", "xs:dateTime")),
     BREAKS, "type-changed", "/order/a"),
    ("string to token", order(A), order(element("a", "xs:token")), NOTHING, "type-changed",
     "/order/a"),
    ("string to NMTOKEN", order(A), order(element("a", "xs:NMTOKEN")), FORTH, "type-changed",
     "/order/a"),
    ("enumeration value added", enum("x"), enum("x", "y"), BACK, "enum-value-added", "/order/a"),
    ("enumeration value removed", enum("x", "y"), enum("x"), FORTH, "enum-value-removed",
     "/order/a"),
    ("enumeration in another order", enum("x", "y"), enum("y", "x"), NOTHING, None, None),
    ("enumeration introduced", order(A), enum("x"), FORTH, "enum-added", "/order/a"),
    ("enumeration dropped", enum("x"), order(A), BACK, "enum-removed", "/order/a"),
    ("greater maximum", limited("xs:int", maxInclusive=5), limited("xs:int", maxInclusive=9),
     BACK, "range-changed", "/order/a"),
    ("greater minimum", limited("xs:int", minInclusive=5), limited("xs:int", minInclusive=6),
     FORTH, "range-changed", "/order/a"),
    ("bound excluded", limited("xs:decimal", minInclusive=5), limited("xs:decimal", minExclusive=5),
     FORTH, "range-changed", "/order/a"),
    ("shorter", limited("xs:string", maxLength=9), limited("xs:string", maxLength=5), FORTH,
     "length-changed", "/order/a"),
    ("longer", limited("xs:string", maxLength=5), limited("xs:string", maxLength=9), BACK,
     "length-changed", "/order/a"),
    ("fewer digits", limited("xs:decimal", totalDigits=9), limited("xs:decimal", totalDigits=5),
     FORTH, "digits-changed", "/order/a"),
    ("more digits of a fraction", limited("xs:decimal", fractionDigits=1),
     limited("xs:decimal", fractionDigits=3), BACK, "digits-changed", "/order/a"),
    ("pattern introduced", order(A), limited("xs:string", pattern="[a-c]+"), FORTH,
     "pattern-changed", "/order/a"),
    ("pattern dropped", limited("xs:string", pattern="[a-c]+"), order(A), BACK,
     "pattern-changed", "/order/a"),
    ("pattern narrowed", limited("xs:string", pattern="[a-c]+"),
     limited("xs:string", pattern="[a-b]+"), ("incompatible", "undecided"), "pattern-changed",
     "/order/a"),
    ("element became nillable", order(A), order(element("a", more='nillable="true"')), BACK,
     "nillable-changed", "/order/a"),
    ("element no longer nillable", order(element("a", more='nillable="true"')), order(A), FORTH,
     "nillable-changed", "/order/a"),
    ("default changed", order(element("a", more='default="x"')),
     order(element("a", more='default="y"')), NOTHING, "default-changed", "/order/a"),
    ("fixed value introduced", order(A), order(element("a", more='fixed="y"')), FORTH,
     "fixed-changed", "/order/a"),
    ("optional attribute added", order(A), order(A, attribute("")), BACK, "attribute-added",
     "/order/@q"),
    ("required attribute added", order(A), order(A, attribute('use="required"')), BREAKS,
     "attribute-added", "/order/@q"),
    ("attribute removed", order(A, attribute("")), order(A), FORTH, "attribute-removed",
     "/order/@q"),
    ("attribute became required", order(A, attribute("")), order(A, attribute('use="required"')),
     FORTH, "became-required", "/order/@q"),
    ("attribute became optional", order(A, attribute('use="required"')), order(A, attribute("")),
     BACK, "became-optional", "/order/@q"),
    ("type of an attribute", order(A, attribute('type="xs:string"')),
     order(A, attribute('type="xs:date"')), FORTH, "type-changed", "/order/@q"),
    ("attribute wildcard added", order(A), order(A, "<xs:anyAttribute/>"), BACK,
     "attribute-wildcard-added", "/order"),
    ("name changed", order(A), order(A).replace('"order"', '"bill"'), BREAKS, "name-changed",
     "/bill"),
    ("namespace changed", order(A), order(A, head='targetNamespace="urn:x"'), BREAKS,
     "namespace-changed", "/order"),
    ("text to elements", order(A), order('<xs:element name="a"><xs:complexType><xs:sequence>'
     '<xs:element name="c"/></xs:sequence></xs:complexType></xs:element>'), BREAKS,
     "type-changed", "/order/a"),
    ("text to anything", order(A), order('<xs:element name="a"/>'), BACK, "type-changed",
     "/order/a"),
    ("became mixed", document(BASE + ROOT),
     document(BASE.replace('"t"', '"t" mixed="true"') + ROOT), BACK, "mixed-changed", "/order"),
    ("derived type added", document(BASE + ROOT), document(BASE + MORE + ROOT), BACK,
     "derived-type-added", "/order"),
    ("list to single", order(element("a", "xs:NMTOKENS")), order(element("a", "xs:NMTOKEN")),
     FORTH, "type-changed", "/order/a"),
    ("condition introduced", document(BASE + ROOT), document(
        BASE.replace("</xs:complexType>", '<xs:assert test="a"/></xs:complexType>') + ROOT),
     ("undecided", "compatible"), "condition-changed", "/order"),
    ("nested element added", order(f'<xs:element name="i"><xs:complexType><xs:sequence>{A}'
     "</xs:sequence></xs:complexType></xs:element>"),
     order(f'<xs:element name="i"><xs:complexType><xs:sequence>{A}{B}'
     "</xs:sequence></xs:complexType></xs:element>"), BREAKS, "element-added", "/order/i/b"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "verdicts", "rule", "place"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_change_has_its_verdicts_its_rule_and_its_place(
    old: str, new: str, verdicts: tuple[str, str], rule: str | None, place: str | None
) -> None:
    before, after = compile_schema("XSD", old), compile_schema("XSD", new)
    found = changes(before, after)
    given = tuple(compare([("1", before)], after, mode).verdict for mode in ("backward", "forward"))
    assert given == verdicts, found
    if rule is None:
        assert found == ()
    else:
        assert (rule, place) in {(one.rule, one.new or one.old) for one in found}
    assert all(one.message.endswith(".") for one in found)


def test_a_recursive_type_is_compared_once() -> None:
    def tree(kind: str) -> str:
        body = (
            '<xs:complexType name="t"><xs:sequence><xs:element name="n" type="t" minOccurs="0"/>'
            f'<xs:element name="v" type="{kind}"/></xs:sequence></xs:complexType>'
        )
        return document(body + ROOT)

    found = changes(compile_schema("XSD", tree("xs:int")), compile_schema("XSD", tree("xs:short")))
    assert [(one.rule, one.new) for one in found] == [("type-narrowed", "/order/v")]


_SWAPS = [
    ('minOccurs="0"', 'minOccurs="1"'),
    ('minOccurs="1"', 'minOccurs="0"'),
    ('maxOccurs="3"', 'maxOccurs="unbounded"'),
    ('maxOccurs="unbounded"', 'maxOccurs="1"'),
    ('nillable="true"', ""),
    ('use="required"', 'use="optional"'),
    ("xs:int", "xs:long"),
    ("xs:long", "xs:int"),
    ("xs:decimal", "xs:string"),
    ("xs:token", "xs:NMTOKEN"),
    ("xs:sequence", "xs:choice"),
]


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(schemas_and_values(), st.sampled_from(_SWAPS), st.booleans())
def test_what_is_called_safe_is_safe_for_messages(
    case: tuple[str, Any], swap: tuple[str, str], once: bool
) -> None:
    old, value = case
    new = old.replace(*swap, 1 if once else -1)
    try:
        before, after = compile_schema("XSD", old), compile_schema("XSD", new)
    except SchemaError:
        return
    for reader, writer, mode in ((after, before, "backward"), (before, after, "forward")):
        if compare([("1", before)], after, mode).verdict != "compatible":
            continue
        for seed in range(5):
            reader.decode(writer.encode(writer.sample(Random(seed), {})))
        if writer is before:
            reader.decode(writer.encode(value))


def test_counters_too_large_to_walk_are_never_called_safe_wrongly() -> None:
    old, new = (
        compile_schema("XSD", order(element("a", more=f'maxOccurs="{most}"') + B))
        for most in (90000, 5)
    )
    assert compare([("1", old)], new, "backward").verdict == "incompatible"
    assert compare([("1", new)], old, "backward").verdict in ("compatible", "undecided")
