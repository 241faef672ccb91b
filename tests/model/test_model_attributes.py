"""The rules about single attributes of a model (MD-10..MD-22)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.datatypes import TYPES
from heraldry.model.model_reading import read_model
from tests.model.models import attribute, dirs, file_type, files, refused

TEXT = {"type": "string"}


def case(value: str, **siblings: Any) -> dict[str, Any]:
    """An ``ifvalues`` with one value."""
    return {"ifvalues": {value: {"siblingattributes": siblings}}}


@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.covers("T-01", "MD-10")
def test_every_type_is_read(kind: str) -> None:
    item = {"item": TEXT} if kind in ("array", "map") else {}
    assert attribute({"type": kind, **item}).type == kind


@pytest.mark.parametrize("kind", [None, "", "String", "urlx", "binary"])
@pytest.mark.covers("T-01", "MD-10")
def test_other_types_are_refused(kind: str | None) -> None:
    assert refused({"attributes": {"x": {"type": kind}}}).name == "model_error"


BAD = [
    pytest.param({"*": TEXT | {"readonly": True}}, marks=pytest.mark.covers("MD-11"), id="*ro"),
    pytest.param({"*": TEXT | {"required": True}}, marks=pytest.mark.covers("MD-11"), id="*req"),
    pytest.param({"*": TEXT | case("a", b=TEXT)}, marks=pytest.mark.covers("MD-11"), id="*if"),
    pytest.param(
        {"*": TEXT, "x": TEXT | case("a", **{"*": TEXT})},
        marks=pytest.mark.covers("MD-11"),
        id="second * by ifvalues",
    ),
    pytest.param(
        {"x": TEXT | {"target": "/dirs"}}, marks=pytest.mark.covers("MD-12"), id="target of a text"
    ),
    pytest.param(
        {"x": {"type": "urlabsolute", "target": "/dirs"}},
        marks=pytest.mark.covers("MD-12"),
        id="target of an absolute address",
    ),
    *(
        pytest.param(
            {"x": {"type": "xid", "target": target}},
            marks=pytest.mark.covers("MD-12"),
            id=f"target {target}",
        )
        for target in (
            "/",
            "dirs",
            "/dirs/",
            "/others",
            "/dirs/others",
            "/dirs/files/",
            "/dirs/files/meta",
            "/dirs/files[versions]",
            "/dirs[/versions]",
            "/dirs/files/versions/",
        )
    ),
    pytest.param(
        {"x": {"type": "array", "item": {"type": "xid", "target": "/others"}}},
        marks=pytest.mark.covers("MD-12"),
        id="target of an item",
    ),
    pytest.param(
        {"x": TEXT | {"namecharset": "extended"}},
        marks=pytest.mark.covers("MD-13"),
        id="charset of a text",
    ),
    pytest.param(
        {"x": {"type": "object", "namecharset": "wide"}},
        marks=pytest.mark.covers("MD-13"),
        id="unknown charset",
    ),
    pytest.param(
        {"x": {"type": "map", "item": {"type": "object", "namecharset": "wide"}}},
        marks=pytest.mark.covers("MD-13"),
        id="unknown charset of an item",
    ),
    pytest.param(
        {"x": {"type": "object", "enum": ["a"]}}, marks=pytest.mark.covers("MD-14"), id="enum"
    ),
    pytest.param(
        {"x": {"type": "any", "enum": ["a"]}}, marks=pytest.mark.covers("MD-14"), id="enum of any"
    ),
    pytest.param(
        {"x": {"type": "array", "item": {"type": "object"}, "enum": ["a"]}},
        marks=pytest.mark.covers("MD-14"),
        id="enum of objects",
    ),
    *(
        pytest.param(
            {"x": {"type": kind, "enum": [value]}},
            marks=pytest.mark.covers("MD-14"),
            id=f"enum {value!r} of {kind}",
        )
        for kind, value in (
            ("string", 0),
            ("string", None),
            ("boolean", "true"),
            ("integer", 3.1),
            ("integer", "3"),
            ("uinteger", -1),
            ("decimal", True),
            ("timestamp", "bad"),
            ("xid", "/others/a"),
        )
    ),
    pytest.param(
        {"x": {"type": "integer", "matchcase": True}},
        marks=pytest.mark.covers("MD-15"),
        id="matchcase of a number",
    ),
    pytest.param(
        {"x": TEXT | {"immutable": True}}, marks=pytest.mark.covers("MD-17"), id="immutable"
    ),
    pytest.param(
        {"x": {"type": "integer", "required": True, "default": "5"}},
        marks=pytest.mark.covers("MD-19"),
        id="default of another type",
    ),
    pytest.param(
        {"x": TEXT | {"required": True, "default": "c", "enum": ["a", "b"]}},
        marks=pytest.mark.covers("MD-19"),
        id="default outside of a strict enum",
    ),
    pytest.param({"x": TEXT | {"attributes": {}}}, marks=pytest.mark.covers("MD-20"), id="scalar"),
    pytest.param({"x": TEXT | {"item": TEXT}}, marks=pytest.mark.covers("MD-20"), id="text, item"),
    pytest.param(
        {"x": {"type": "any", "item": TEXT}}, marks=pytest.mark.covers("MD-20"), id="any, item"
    ),
    pytest.param(
        {"x": {"type": "object", "item": TEXT}},
        marks=pytest.mark.covers("MD-20"),
        id="object, item",
    ),
    pytest.param({"x": {"type": "map"}}, marks=pytest.mark.covers("MD-20"), id="map without item"),
    pytest.param({"x": {"type": "array"}}, marks=pytest.mark.covers("MD-20"), id="array, no item"),
    pytest.param(
        {"x": {"type": "map", "item": {}}}, marks=pytest.mark.covers("MD-20"), id="item, no type"
    ),
    pytest.param(
        {"x": {"type": "map", "item": {"type": "map"}}},
        marks=pytest.mark.covers("MD-20"),
        id="item without item",
    ),
    pytest.param(
        {"x": {"type": "map", "item": TEXT | {"attributes": {}}}},
        marks=pytest.mark.covers("MD-20"),
        id="item with attributes",
    ),
    pytest.param(
        {"x": {"type": "object"} | case("a", b=TEXT)},
        marks=pytest.mark.covers("MD-21"),
        id="ifvalues of an object",
    ),
    pytest.param({"x": TEXT | case("", b=TEXT)}, marks=pytest.mark.covers("MD-21"), id="no key"),
    pytest.param({"x": TEXT | case("^a", b=TEXT)}, marks=pytest.mark.covers("MD-21"), id="caret"),
    pytest.param(
        {"x": TEXT | {"ifvalues": {"ab": {}, "aB": {}}}},
        marks=pytest.mark.covers("MD-21"),
        id="keys that differ by case",
    ),
    pytest.param(
        {"x": TEXT | {"enum": ["a"]} | case("b", c=TEXT)},
        marks=pytest.mark.covers("MD-21"),
        id="key outside of the enum",
    ),
    pytest.param(
        {"x": TEXT | case("a", y=TEXT), "y": TEXT},
        marks=pytest.mark.covers("MD-22"),
        id="sibling that is there",
    ),
    pytest.param(
        {"x": TEXT | case("a", file={"type": "any"})},
        marks=pytest.mark.covers("MD-22", "A-10"),
        id="sibling of the specification",
    ),
    pytest.param(
        {"x": TEXT | case("a", y=TEXT | case("b", y=TEXT))},
        marks=pytest.mark.covers("MD-22"),
        id="sibling inside of its own",
    ),
]


@pytest.mark.parametrize("attributes", BAD)
def test_bad_attributes_are_refused(attributes: dict[str, Any]) -> None:
    assert refused(files(attributes=attributes)).name == "model_error"


GOOD = [
    pytest.param(
        {"x": TEXT | case("a", **{"*": TEXT})},
        marks=pytest.mark.covers("MD-11"),
        id="* by ifvalues",
    ),
    *(
        pytest.param(
            {"x": {"type": "xid", "target": target}},
            marks=pytest.mark.covers("MD-12"),
            id=f"target {target}",
        )
        for target in (
            "/dirs",
            "/dirs/files",
            "/dirs/files/versions",
            "/dirs/files[/versions]",
        )
    ),
    pytest.param(
        {"x": {"type": "uri", "target": "/others/things"}},
        marks=pytest.mark.covers("MD-12"),
        id="target in another registry",
    ),
    pytest.param(
        {"x": {"type": "array", "item": TEXT, "enum": ["a"]}},
        marks=pytest.mark.covers("MD-14"),
        id="enum of the items of an array",
    ),
    pytest.param(
        {"x": TEXT | {"enum": []}}, marks=pytest.mark.covers("MD-14"), id="an empty enum is none"
    ),
    pytest.param(
        {"x": {"type": "array", "item": TEXT, "matchcase": True}},
        marks=pytest.mark.covers("MD-15"),
        id="matchcase of items",
    ),
    pytest.param(
        {"x": TEXT | {"required": True, "default": "B", "enum": ["a", "b"]}},
        marks=pytest.mark.covers("MD-19"),
        id="default in the enum but for its case",
    ),
    pytest.param(
        {"x": TEXT | {"required": True, "default": "c", "enum": ["a"], "strict": False}},
        marks=pytest.mark.covers("MD-19"),
        id="default outside of hints",
    ),
    pytest.param(
        {"x": {"type": "boolean", "enum": [True]} | case("TRUE", b=TEXT)},
        marks=pytest.mark.covers("MD-21"),
        id="key of a boolean",
    ),
    pytest.param(
        {"x": TEXT | {"ifvalues": {v: case(v, y=TEXT)["ifvalues"][v] for v in "ab"}}},
        marks=pytest.mark.covers("MD-22"),
        id="the same sibling for two values",
    ),
    pytest.param(
        {"x": TEXT | case("a", y={"type": "object", "attributes": {"x": TEXT}})},
        marks=pytest.mark.covers("MD-22"),
        id="a name of another level",
    ),
]


@pytest.mark.parametrize("attributes", GOOD)
def test_good_attributes_are_read(attributes: dict[str, Any]) -> None:
    read = file_type(attributes=attributes).attributes["x"]
    assert read.type == attributes["x"]["type"]
    assert list(read.ifvalues) == list(attributes["x"].get("ifvalues", {}))


@pytest.mark.covers("MD-12")
def test_targets_may_lead_to_imported_types() -> None:
    source = files(attributes={"x": {"type": "xid", "target": "/boxes/files"}})
    source["groups"]["boxes"] = {"singular": "box", "ximportresources": ["/dirs/files"]}
    assert read_model(source).groups["boxes"].resources["files"].attributes["x"].target


@pytest.mark.covers("MD-13")
def test_an_extended_charset_holds_for_one_level_and_its_siblings() -> None:
    inner = {"type": "object", "attributes": {"c-d": TEXT}}
    source = {
        "type": "object",
        "namecharset": "EXTENDED",
        "attributes": {"a-b": TEXT | case("v", **{"e-f": TEXT})},
    }
    read = attribute(source)
    assert read.namecharset == "extended"
    assert list(read.attributes["a-b"].ifvalues["v"]) == ["e-f"]
    source["attributes"]["inner"] = inner
    error = refused({"attributes": {"x": source}})
    assert (error.name, error.arguments["name"]) == ("invalid_attribute", "c-d")
    items = {"type": "map", "item": {"type": "object", "namecharset": "extended"}}
    items["item"]["attributes"] = {"a b": TEXT}
    assert refused({"attributes": {"x": items}}).name == "invalid_attribute"


OBJECT = {"type": "object", "attributes": {"y": TEXT | {"matchversions": True}}}
MATCH = TEXT | {"matchversions": True}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"attributes": {"x": MATCH}}, id="registry"),
        pytest.param(dirs(attributes={"x": MATCH}), id="group"),
        pytest.param(files(metaattributes={"x": MATCH}), id="meta"),
        pytest.param(files(attributes={"*": MATCH}), id="wildcard"),
        pytest.param(files(attributes={"x": TEXT | case("a", y=MATCH)}), id="ifvalues"),
        pytest.param(files(attributes={"*": OBJECT}), id="below a wildcard"),
        pytest.param(files(attributes={"x": {"type": "any", "matchversions": True}}), id="any"),
        pytest.param(files(attributes={"x": OBJECT | {"matchversions": True}}), id="object"),
        pytest.param(
            files(attributes={"x": {"type": "map", "item": TEXT, "matchversions": True}}), id="map"
        ),
        pytest.param(files(attributes={"x": {"type": "map", "item": OBJECT}}), id="in a map"),
        pytest.param(files(attributes={"x": {"type": "array", "item": OBJECT}}), id="in an array"),
    ],
)
@pytest.mark.covers("MD-16")
def test_matchversions_is_for_static_scalars_of_versions(source: dict[str, Any]) -> None:
    error = refused(source)
    assert error.name == "model_error"
    assert "matchversions" in error.arguments["error_detail"]


@pytest.mark.covers("MD-16")
def test_matchversions_may_be_in_an_object() -> None:
    read = file_type(attributes={"x": OBJECT, "z": MATCH}).attributes
    assert read["x"].attributes["y"].matchversions
    assert read["z"].matchversions


@pytest.mark.parametrize(
    ("attributes", "name", "path"),
    [
        pytest.param({"x": TEXT | {"default": "a"}}, "model_required_true", "x", id="required"),
        pytest.param(
            {"x": {"type": "map", "item": TEXT, "required": True, "default": {}}},
            "model_scalar_default",
            "x",
            id="map",
        ),
        pytest.param({"x": {"type": "any", "default": 1}}, "model_scalar_default", "x", id="any"),
        pytest.param(
            {"x": {"type": "object", "attributes": {"y": TEXT | {"default": "a"}}}},
            "model_required_true",
            "x.y",
            id="nested",
        ),
    ],
)
@pytest.mark.covers("MD-19")
def test_defaults_are_for_required_scalars(
    attributes: dict[str, Any], name: str, path: str
) -> None:
    error = refused({"attributes": attributes})
    assert (error.name, error.arguments) == (name, {"name": path})
    error = refused(files(attributes=attributes))
    assert error.arguments == {"name": f"groups.dirs.resources.files.{path}"}
