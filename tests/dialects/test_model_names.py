from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.model_names import canonical_source, wire_model, wire_source
from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.errors import RegistryError
from heraldry.model.model_reading import read_model
from heraldry.model.model_showing import show_model


def model(resource: dict[str, Any], **group: Any) -> dict[str, Any]:
    return {"groups": {"dirs": {"singular": "dir", **group, "resources": {"files": resource}}}}


def resource_of(source: Any) -> Any:
    return source["groups"]["dirs"]["resources"]["files"]


def test_a_source_keeps_its_order_and_unknown_parts() -> None:
    source = {"$schema": "x", "groups": {"b": 1, "$include": "y"}, "labels": {}, "attributes": []}
    assert list(canonical_source(source, RC4).items()) == list(source.items())


def test_ancestor_is_ancestorid_inside() -> None:
    given = {"attributes": {"ancestor": {"name": "ancestor", "type": "string"}, "x": {}}}
    read = resource_of(canonical_source(model(given), RC2))
    assert list(read["attributes"]) == ["ancestorid", "x"]
    assert read["attributes"]["ancestorid"]["name"] == "ancestorid"
    shown = resource_of(wire_model(model(read), RC2))
    assert list(shown["attributes"]) == ["ancestor", "x"]
    assert shown["attributes"]["ancestor"]["name"] == "ancestor"


def test_ancestor_is_an_ordinary_name_in_rc4() -> None:
    given = {"attributes": {"ancestor": {"name": "ancestor", "type": "string"}}}
    assert resource_of(canonical_source(model(given), RC4)) == given


@pytest.mark.covers("MD-47")
def test_consistentformat_is_matchversions_on_format() -> None:
    read = resource_of(canonical_source(model({"consistentformat": True}), RC2))
    assert read == {"attributes": {"format": {"type": "string", "matchversions": True}}}
    assert resource_of(wire_model(model(read), RC2))["consistentformat"] is True
    assert resource_of(canonical_source(model({"consistentformat": False}), RC2)) == {}


@pytest.mark.covers("MD-43")
def test_a_default_that_cannot_be_chosen_is_an_override_in_rc4() -> None:
    shown = resource_of(wire_model(model({"setdefaultversionsticky": False}), RC4))
    assert "setdefaultversionsticky" not in shown
    sticky = shown["metaattributes"]["defaultversionsticky"]
    assert (sticky["enum"], sticky["required"], sticky["default"]) == ([False], True, False)


@pytest.mark.covers("MD-01")
@pytest.mark.parametrize(
    ("source", "wire"),
    [
        pytest.param(
            model({"consistentformat": True}),
            RC4,
            id="consistentformat",
            marks=pytest.mark.covers("MD-47"),
        ),
        pytest.param(
            model({"setdefaultversionsticky": True}),
            RC4,
            id="sticky",
            marks=pytest.mark.covers("MD-43"),
        ),
        pytest.param(
            {"attributes": {"a": {"type": "string", "matchcase": True}}},
            RC4,
            id="matchcase",
            marks=pytest.mark.covers("MD-15"),
        ),
        pytest.param(model({}, constraints={}), RC2, id="constraints"),
        pytest.param(
            model({"attributes": {"a": {"type": "string", "matchversions": True}}}),
            RC2,
            id="matchversions",
        ),
        pytest.param(
            {"attributes": {"a": {"type": "map", "item": {"type": "string", "matchcase": True}}}},
            RC4,
            id="in-an-item",
        ),
        pytest.param(
            {
                "attributes": {
                    "a": {
                        "type": "string",
                        "ifvalues": {"x": {"siblingattributes": {"b": {"matchcase": True}}}},
                    }
                }
            },
            RC4,
            id="in-ifvalues",
        ),
    ],
)
def test_an_aspect_of_the_other_generation_is_an_error(source: dict[str, Any], wire: Wire) -> None:
    with pytest.raises(RegistryError) as raised:
        canonical_source(source, wire)
    assert (raised.value.name, raised.value.subject) == ("model_error", "/model")


@pytest.mark.covers("MD-32", "MD-15", "MD-16")
def test_a_generation_shows_only_its_own_aspects() -> None:
    attribute = {"type": "string", "matchcase": True, "matchversions": True}
    whole = model(
        {"attributes": {"a": attribute}}, constraints={"c": {}}, ximportresources=["/x/y"]
    )
    rc2, rc4 = wire_model(whole, RC2), wire_model(whole, RC4)
    assert resource_of(rc2)["attributes"]["a"] == {"type": "string", "matchcase": True}
    assert resource_of(rc4)["attributes"]["a"] == {"type": "string", "matchversions": True}
    assert "constraints" not in rc2["groups"]["dirs"]
    assert "ximportresources" in rc2["groups"]["dirs"]
    assert "constraints" in rc4["groups"]["dirs"]
    assert "ximportresources" not in rc4["groups"]["dirs"]


@pytest.mark.covers("RG-06")
def test_a_source_is_returned_as_given_in_its_own_generation() -> None:
    given = model({"consistentformat": True, "attributes": {"ancestor": {"type": "string"}}})
    assert wire_source(given, RC2, RC2) is given
    other = resource_of(wire_source(given, RC2, RC4))
    assert other["attributes"] == {
        "ancestorid": {"type": "string"},
        "format": {"type": "string", "matchversions": True},
    }
    assert wire_source(wire_source(given, RC2, RC4), RC4, RC2) == {
        **model(
            {
                "attributes": {"ancestor": {"type": "string"}, "format": {"type": "string"}},
                "consistentformat": True,
            }
        )
    }


def test_an_older_name_of_an_aspect_is_read() -> None:
    read = canonical_source(model({"compatiblewith": "https://x"}), RC2)
    assert resource_of(read) == {"modelcompatiblewith": "https://x"}


def test_references_have_the_types_of_their_generation() -> None:
    source = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}
    shown = show_model(read_model(source))
    for wire, kinds in ((RC2, ("uri", "xid")), (RC4, ("url", "url"))):
        files = wire_model(shown, wire)["groups"]["dirs"]["resources"]["files"]
        found = files["attributes"]["fileurl"]["type"], files["metaattributes"]["xref"]["type"]
        assert found == kinds
