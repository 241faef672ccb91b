"""Attributes of entities, judged by the attributes that their type has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import RegistryError
from heraldry.model.conform import conform, read_text, writable
from heraldry.model.metamodel import Attribute, GroupType, Model, ResourceType

covers = pytest.mark.covers

FILES = ResourceType(plural="files", singular="file")
MODEL = Model(groups={"dirs": GroupType(plural="dirs", singular="dir", resources={"files": FILES})})


def of(kind, **aspects):
    return Attribute(name="", type=kind, **aspects)


def named(name, kind, **aspects):
    return Attribute(name=name, type=kind, **aspects)


def table(*attributes, **kinds):
    return {found.name: found for found in attributes} | {
        name: named(name, kind) for name, kind in kinds.items()
    }


def judged(attributes, values, **aspects):
    return conform(attributes, values, subject="/x", model=MODEL, **aspects)


def error_of(attributes, values, **aspects):
    with pytest.raises(RegistryError) as caught:
        judged(attributes, values, **aspects)
    assert caught.value.subject == "/x"
    return caught.value


def invalid(attributes, values, **aspects):
    """The name that an ``invalid_attribute`` is about, and why."""
    error = error_of(attributes, values, **aspects)
    assert error.name == "invalid_attribute"
    return error.arguments["name"], error.arguments["error_detail"]


PLAIN = table(
    named("tags", "map", item=of("string")),
    named("sizes", "array", item=of("integer")),
    named("grid", "array", item=of("array", item=of("integer"))),
    named("info", "object", attributes=table(at="timestamp", deep="string")),
    named("boxes", "map", item=of("object", attributes=table(weight="uinteger"))),
    named("rows", "array", item=of("object", attributes=table(weight="uinteger"))),
    text="string",
    at="timestamp",
    number="integer",
    free="any",
)


def test_values_are_normalised_and_keep_their_order():
    values = {
        "number": 5.0,
        "at": "2024-01-01T01:00:00+01:00",
        "info": {"at": "2024-01-01T00:00:00.50Z"},
        "tags": {"b": "", "a": "x"},
        "text": "",
    }
    found = judged(PLAIN, values)
    assert list(found) == list(values)
    assert found == values | {
        "number": 5,
        "at": "2024-01-01T00:00:00Z",
        "info": {"at": "2024-01-01T00:00:00.5Z"},
    }
    assert str(values["at"]).endswith("+01:00"), "the values that were given stay as they are"


@covers("A-03")
def test_null_is_absent_and_an_empty_text_is_not():
    values = {"text": "", "number": None, "tags": {"a": None, "b": ""}, "info": {"deep": None}}
    assert judged(PLAIN, values) == {"text": "", "tags": {"b": ""}, "info": {}}


@pytest.mark.parametrize(
    ("values", "name", "detail"),
    [
        pytest.param({"text": 5}, "text", "must be a string", id="scalar"),
        pytest.param({"tags": []}, "tags", "must be a map", id="map"),
        pytest.param({"sizes": {}}, "sizes", "must be an array", id="array"),
        pytest.param({"info": "x"}, "info", "must be an object", id="object"),
        pytest.param({"tags": {"a.b": 1}}, "tags['a.b']", "must be a string", id="map-item"),
        pytest.param({"sizes": [1, "2"]}, "sizes[1]", "must be an integer", id="array-item"),
        pytest.param(
            {"grid": [[1], [2, "3"]]}, "grid[1][1]", "must be an integer", id="nested-array"
        ),
        pytest.param(
            {"boxes": {"a": {"weight": -1}}}, "boxes.a.weight", "must be a uinteger", id="deep"
        ),
        pytest.param(
            {"rows": [{}, {"weight": "1"}]}, "rows[1].weight", "must be a uinteger", id="row"
        ),
        pytest.param(
            {"sizes": [1, None]},
            "sizes[1]",
            "must be an integer",
            marks=covers("T-03"),
            id="null-item",
        ),
        pytest.param(
            {"rows": [None]}, "rows[0]", "must be an object", marks=covers("T-03"), id="null-row"
        ),
    ],
)
@covers("A-12")
def test_ill_typed_values_are_named_by_their_path(values, name, detail):
    assert invalid(PLAIN, values) == (name, detail)


@covers("T-06", "CA-12")
@pytest.mark.parametrize("key", ["", "A", "-a", "a b", "@a", "x" * 64])
def test_keys_of_maps(key):
    labels = table(named("labels", "map", item=of("string")))
    name, detail = invalid(labels, {"labels": {key: "x"}})
    assert name == "labels"
    assert repr(key) in detail
    assert judged(labels, {"labels": {"a-b:c.d_1": ""}}) == {"labels": {"a-b:c.d_1": ""}}


@covers("A-12", "GN-07")
def test_unknown_attributes():
    error = error_of(PLAIN, {"zeta": 1, "text": "x", "alpha": 2})
    assert (error.name, error.arguments) == ("unknown_attribute", {"name": "alpha"})
    assert "alpha, zeta" in error.detail
    nested = error_of(PLAIN, {"boxes": {"a": {"x": 1}}})
    assert (nested.name, nested.arguments) == ("unknown_attribute", {"name": "boxes.a.x"})


@covers("A-01", "A-02")
@pytest.mark.parametrize("name", ["", "A", "aB", "1a", "a-b", "#a", "_ _", "a" * 64])
@pytest.mark.parametrize("attributes", [{}, {"*": named("*", "any")}], ids=["closed", "open"])
def test_malformed_names(name, attributes):
    assert invalid(attributes, {name: 1})[0] == name


@covers("A-12", "MD-11")
def test_a_star_admits_names_with_values_of_its_type():
    open_to = {"*": named("*", "integer")} | table(text="string")
    assert judged(open_to, {"text": "x", "other": 5}) == {"text": "x", "other": 5}
    assert invalid(open_to, {"other": "5"}) == ("other", "must be an integer")
    texts = {"*": named("*", "string")}
    assert "4096" in invalid(texts, {"other": "x" * 4092})[1]


@covers("T-12", "A-12")
def test_below_any_nothing_is_checked():
    value = {"A b": [None, {"": {"c": None}}], "x": "y" * 5000}
    assert judged(PLAIN, {"free": value}) == {"free": value}


@covers("T-07", "MD-13")
def test_the_names_in_an_object_may_have_an_extended_charset():
    inside = {"*": named("*", "any"), "a-b": named("a-b", "string")}
    strict = table(named("o", "object", attributes=inside))
    extended = table(named("o", "object", attributes=inside, namecharset="Extended"))
    values = {"o": {"a-b": "x", "c.d": 1, "1": 2}}
    assert judged(extended, values) == values
    assert invalid(strict, values)[0] == "o['c.d']"
    assert invalid(extended, {"o": {"B": 1}})[0] == "o.B"


@covers("A-04")
def test_scalars_are_not_longer_than_a_header():
    values = {"text": "x" * 4092}
    assert judged(PLAIN, values) == values
    assert invalid(PLAIN, {"text": "x" * 4093})[0] == "text"
    assert invalid(PLAIN, {"tags": {"key": "x" * 4094}})[0] == "tags.key"


ENUMS = table(
    named("color", "string", enum=("Red", "blue")),
    named("exact", "string", enum=("Red",), matchcase=True),
    named("hint", "string", enum=("a",), strict=False),
    named("count", "integer", enum=(1, 2)),
    named("flag", "boolean", enum=(False,)),
    named("at", "timestamp", enum=("2024-01-01T01:00:00+01:00",)),
    named("usage", "array", item=of("string"), enum=("in", "out")),
    named("uses", "map", item=of("string"), enum=("in", "out")),
)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        pytest.param({"color": "RED"}, None, id="case", marks=covers("MD-14", "MD-15")),
        pytest.param({"color": "pink"}, "color", id="other", marks=covers("MD-14")),
        pytest.param({"exact": "red"}, "exact", id="matchcase", marks=covers("MD-15")),
        pytest.param({"exact": "Red"}, None, id="exact", marks=covers("MD-15")),
        pytest.param({"hint": "anything"}, None, id="hint", marks=covers("MD-14")),
        pytest.param({"count": 2}, None, id="number", marks=covers("MD-14")),
        pytest.param({"count": 3}, "count", id="other-number", marks=covers("MD-14")),
        pytest.param({"flag": True}, "flag", id="boolean", marks=covers("MD-14")),
        pytest.param({"at": "2024-01-01T00:00:00Z"}, None, id="same-time", marks=covers("MD-14")),
        pytest.param({"usage": ["in", "no"]}, "usage[1]", id="items", marks=covers("MD-14")),
        pytest.param({"uses": {"a": "no"}}, "uses.a", id="members", marks=covers("MD-14")),
    ],
)
def test_enums(values, name):
    if name is None:
        assert judged(ENUMS, values) == values
    else:
        assert "must be one of" in invalid(ENUMS, values)[1]
        assert invalid(ENUMS, values)[0] == name


@covers("MD-12")
def test_targets():
    to_file = named("file", "xid", target="/dirs/files")
    attributes = table(to_file, named("all", "array", item=of("xid", target="/dirs/files")))
    values = {"file": "/dirs/d/files/f", "all": ["/dirs/d/files/g"]}
    assert judged(attributes, values) == values
    assert invalid(attributes, {"file": "/dirs/d"}) == ("file", "must match the target /dirs/files")
    assert invalid(attributes, {"all": ["/dirs/d"]})[0] == "all[0]"


REQUIRED = table(
    named("must", "string", required=True),
    named("also", "integer", required=True),
    named("known", "string", required=True),
    named("level", "integer", required=True, default=3),
    named("flag", "boolean", required=True, default=False),
    named(
        "o",
        "object",
        attributes=table(
            named("in_", "string", required=True), named("d", "string", required=True, default="x")
        ),
    ),
)


@covers("MD-18", "WR-07")
def test_all_missing_attributes_are_named():
    error = error_of(REQUIRED, {"must": None}, computed=("known",))
    assert error.name == "required_attribute_missing"
    assert error.arguments == {"list": "must,also"}
    nested = error_of(REQUIRED, {"must": "", "also": 0, "known": "", "o": {}})
    assert (nested.name, nested.arguments) == ("required_attribute_missing", {"list": "o.in_"})


@covers("MD-19", "A-05")
def test_defaults_are_set_where_the_owner_is_there():
    values = {"must": "a", "also": 1, "level": None}
    set_here = {"level": 3, "flag": False}
    assert judged(REQUIRED, values, computed=("known",)) == {"must": "a", "also": 1} | set_here
    inside = judged(REQUIRED, values | {"o": {"in_": "y"}}, computed=("known", "flag"))
    assert inside == {"must": "a", "also": 1, "level": 3, "o": {"in_": "y", "d": "x"}}


SWITCHED = table(
    named(
        "kind",
        "string",
        ifvalues={
            "Http": table(named("method", "string", required=True), path="string"),
            "Kafka": table(
                named(
                    "mode",
                    "integer",
                    ifvalues={"5": table(named("five", "boolean", required=True, default=True))},
                ),
                topic="string",
            ),
            "open": {"*": named("*", "any")},
        },
    ),
    named("other", "boolean", ifvalues={"true": table(path="integer", extra="string")}),
    named("preset", "string", default="on", required=True, ifvalues={"ON": table(power="integer")}),
)


@covers("MD-21")
@pytest.mark.parametrize(
    ("values", "error"),
    [
        pytest.param({"kind": "HTTP", "method": "GET", "path": "/"}, None, id="brought-along"),
        pytest.param({"kind": "HTTP"}, "required_attribute_missing", id="required-sibling"),
        pytest.param({"kind": "kafka", "path": "/"}, "unknown_attribute", id="of-another-value"),
        pytest.param({"path": "/"}, "unknown_attribute", id="of-no-value"),
        pytest.param({"kind": "none", "path": "/"}, "unknown_attribute", id="of-a-plain-value"),
        pytest.param({"kind": "kafka", "topic": "t", "mode": 4}, None, id="nested-off"),
        pytest.param(
            {"kind": "kafka", "mode": 4, "five": True}, "unknown_attribute", id="nested-not"
        ),
        pytest.param({"kind": "open", "whatever": [1]}, None, id="star", marks=covers("MD-11")),
        pytest.param({"other": True, "path": 5, "extra": ""}, None, id="boolean"),
        pytest.param({"power": 5}, None, id="by-default"),
        pytest.param({"preset": "off", "power": 5}, "unknown_attribute", id="not-by-default"),
    ],
)
def test_ifvalues(values, error):
    if error is None:
        assert judged(SWITCHED, values) == {"preset": "on"} | values
    else:
        assert error_of(SWITCHED, values).name == error


@covers("MD-21", "MD-19")
def test_nested_ifvalues_bring_their_defaults():
    found = judged(SWITCHED, {"kind": "kafka", "mode": 5})
    assert found == {"kind": "kafka", "mode": 5, "five": True, "preset": "on"}


@pytest.mark.parametrize(
    "value", [10**5000, [["http"]], {"a": 1}, 1.5], ids=["huge", "array", "object", "float"]
)
def test_values_of_other_types_bring_nothing_along(value):
    assert invalid(SWITCHED, {"kind": value}) == ("kind", "must be a string")


@covers("MD-22")
def test_two_values_must_not_bring_in_the_same_attribute():
    name, detail = invalid(SWITCHED, {"kind": "http", "method": "GET", "other": True})
    assert name == "other"
    assert "'path'" in detail
    nested = table(named("o", "object", attributes=SWITCHED))
    assert invalid(nested, {"o": {"kind": "http", "method": "x", "other": True}})[0] == "o.other"


@covers("MD-23")
def test_the_attributes_in_force_follow_the_values_of_each_entity():
    for _ in range(2):
        assert judged(SWITCHED, {"kind": "http", "method": "x"})["method"] == "x"
        assert error_of(SWITCHED, {"kind": "kafka", "method": "x"}).name == "unknown_attribute"


GROUP = table(
    named(
        "deprecated",
        "object",
        attributes=table(effective="timestamp", removal="timestamp", alternative="url"),
    ),
    name="string",
    description="string",
    documentation="url",
    icon="url",
    format="string",
)
VERSION = table(ancestorid="string", format="string", name="string")
META = table(defaultversionid="string", compatibility="string", name="string")


@covers("CA-11")
@pytest.mark.parametrize(
    ("attributes", "name", "legal"),
    [
        pytest.param(GROUP, "name", False, id="name"),
        pytest.param(GROUP, "documentation", False, id="documentation"),
        pytest.param(GROUP, "icon", False, id="icon"),
        pytest.param(GROUP, "description", True, id="description"),
        pytest.param(GROUP, "format", True, id="extension-format"),
        pytest.param(VERSION, "format", False, id="format", marks=covers("VE-10")),
        pytest.param(META, "compatibility", False, id="compatibility", marks=covers("ME-06")),
        pytest.param(META, "name", True, id="extension-name"),
    ],
)
def test_some_attributes_must_not_be_empty(attributes, name, legal):
    if legal:
        assert judged(attributes, {name: ""}) == {name: ""}
    else:
        assert invalid(attributes, {name: ""}) == (name, "must not be empty")


@covers("CA-15")
def test_nothing_is_removed_before_it_is_deprecated():
    early = {"effective": "2024-01-01T00:00:00.5Z", "removal": "2024-01-01T01:00:00+01:00"}
    name, detail = invalid(GROUP, {"deprecated": early})
    assert name == "deprecated.removal"
    assert "sooner" in detail
    for legal in ({}, {"removal": early["removal"]}, early | {"removal": early["effective"]}):
        assert judged(GROUP, {"deprecated": legal})["deprecated"].keys() == legal.keys()
    assert invalid(GROUP, {"deprecated": {"effective": "soon"}})[0] == "deprecated.effective"


def test_an_extension_called_deprecated_has_its_own_rules():
    inside = table(effective="integer", removal="integer")
    attributes = table(named("deprecated", "object", attributes=inside))
    values = {"deprecated": {"effective": 2, "removal": 1}}
    assert judged(attributes, values) == values


@covers("GN-08", "MD-17")
def test_values_of_readonly_attributes_are_ignored():
    inside = table(named("sys", "string", readonly=True), own="string")
    attributes = table(
        named("sys", "integer", readonly=True),
        named("epoch", "uinteger", readonly=True),
        named("spec", "string", immutable=True),
        named("o", "object", attributes=inside),
        named("m", "map", item=of("object", attributes=inside)),
        named("a", "array", item=of("object", attributes=inside)),
        named("k", "string", ifvalues={"on": table(named("late", "string", readonly=True))}),
        own="string",
    )
    both = {"sys": 1, "own": "x"}
    given = {"sys": "bad", "epoch": 5, "spec": "s", "own": "x", "k": "ON", "late": 7, "unknown": 1}
    nested = {"o": both, "m": {"a": both}, "a": [both, 5]}
    assert writable(attributes, given | nested, keep=("epoch",)) == {
        "epoch": 5,
        "own": "x",
        "k": "ON",
        "unknown": 1,
        "o": {"own": "x"},
        "m": {"a": {"own": "x"}},
        "a": [{"own": "x"}, 5],
    }


@covers("T-12")
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        pytest.param("boolean", "true", True, id="true"),
        pytest.param("boolean", "false", False, id="false"),
        pytest.param("integer", "-5", -5, id="integer"),
        pytest.param("uinteger", "5", 5, id="uinteger"),
        pytest.param("decimal", "5", 5, id="whole-decimal"),
        pytest.param("decimal", "-0.5e1", -5.0, id="decimal"),
        pytest.param("string", "5", "5", id="string"),
        pytest.param("timestamp", "soon", "soon", id="judged-later"),
        pytest.param("any", "5", "5", id="any-is-a-string"),
        pytest.param(None, "5", "5", id="unknown-is-a-string"),
    ],
)
def test_texts_of_headers(kind, text, value):
    attribute = None if kind is None else named("x", kind)
    found = read_text(attribute, text, subject="/x")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("boolean", "TRUE"), ("boolean", "1"), ("integer", "5.0"), ("integer", ""), ("map", "x")),
        *(
            ("uinteger", "2x"),
            ("decimal", "0x1"),
            ("decimal", "inf"),
            ("integer", "٣"),
            ("array", ""),
        ),
    ],
)
@covers("A-12")
def test_ill_typed_texts_of_headers(kind, text):
    with pytest.raises(RegistryError) as caught:
        read_text(named("size", kind), text, subject="/x")
    assert (caught.value.name, caught.value.arguments["name"]) == ("invalid_attribute", "size")
    with pytest.raises(RegistryError) as caught:
        read_text(of(kind), text, subject="/x", name="sizes.a")
    assert caught.value.arguments["name"] == "sizes.a"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside),
    max_leaves=10,
)
EVERYTHING = PLAIN | REQUIRED | SWITCHED | ENUMS | GROUP
some_values = st.dictionaries(
    st.sampled_from(sorted(EVERYTHING)) | st.text(max_size=5), json_values
)


@covers("MD-23")
@given(values=some_values)
def test_what_conforms_does_so_again_and_the_rest_is_a_registry_error(values):
    try:
        found = judged(EVERYTHING, values, computed=REQUIRED)
    except RegistryError as error:
        assert error.name in (  # noqa: PT017
            *("invalid_attribute", "unknown_attribute", "required_attribute_missing"),
        )
    else:
        assert judged(EVERYTHING, found, computed=REQUIRED) == found
