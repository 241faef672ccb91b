"""Capabilities: what a registry shows, offers, and lets a client change."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, WIRES, Wire, normal_specversion
from heraldry.errors import RegistryError
from heraldry.registry.capabilities import (
    AVAILABLE,
    EVERYTHING,
    FLAGS,
    FORMATS,
    IGNORES,
    VERSIONMODES,
    Capabilities,
    offered,
    read_capabilities,
    require_available,
    show_capabilities,
    stored_capabilities,
)
from heraldry.registry.capabilities_change import change_capabilities
from heraldry.registry.request import Request, Target
from heraldry.schemas.compatibility import MODES


def put(given: Any, wire: Wire = RC4, current: Capabilities = EVERYTHING) -> Capabilities:
    """The capabilities after a PUT."""
    return change_capabilities(current, given, patch=False, wire=wire)


def patch(given: Any, wire: Wire = RC4, current: Capabilities = EVERYTHING) -> Capabilities:
    """The capabilities after a PATCH."""
    return change_capabilities(current, given, patch=True, wire=wire)


@pytest.mark.covers("CP-01", "CP-10")
def test_every_capability_of_a_generation_is_shown() -> None:
    bare = put({})
    names = [
        "available",
        "compatibilities",
        "flags",
        "formats",
        "ignores",
        "pagination",
        "shortself",
        "specversions",
    ]
    assert list(show_capabilities(bare, RC2)) == [*names, "stickyversions", "versionmodes"]
    assert list(show_capabilities(bare, RC4)) == [*names, "versionmodes"]


def test_a_new_registry_has_everything_that_is_offered() -> None:
    shown = show_capabilities(read_capabilities({}), RC2)
    assert shown["flags"] == list(FLAGS)
    assert shown["formats"] == list(FORMATS)
    assert shown["ignores"] == list(IGNORES)
    assert shown["versionmodes"] == list(VERSIONMODES)
    assert shown["specversions"] == ["1.0-rc2", "1.0-rc4"]
    assert shown["compatibilities"] == {name: list(MODES) for name in FORMATS}
    assert (shown["pagination"], shown["shortself"], shown["stickyversions"]) == (True, False, True)
    assert shown["available"]["entities"] == {"mutable": True}
    assert shown["available"]["export"] == {"mutable": False}


@pytest.mark.parametrize(
    ("wire", "available"),
    [
        pytest.param(RC2, {"entities": True}, id="rc2"),
        pytest.param(RC4, {"capabilities": False, "entities": True, "model": False}, id="rc4"),
    ],
)
@pytest.mark.covers("CP-02", "CP-04", "CP-05", "CP-06", "CP-07", "CP-08", "CP-13")
def test_put_sets_what_is_missing_to_the_defaults_of_the_specification(
    wire: Wire, available: dict[str, bool]
) -> None:
    bare = put({}, wire)
    assert bare.available == available
    assert bare.compatibilities == {}
    assert (bare.flags, bare.formats, bare.ignores) == ((), (), ())
    assert (bare.pagination, bare.shortself) == (False, False)
    assert bare.versionmodes == ("manual",)
    assert "1.0-rc4" in bare.specversions


@pytest.mark.covers("CP-09")
def test_the_newest_version_is_the_default_beside_the_one_that_is_spoken() -> None:
    assert put({}, RC4).specversions == ("1.0-rc4",)
    assert put({}, RC2).specversions == ("1.0-rc2", "1.0-rc4")


@pytest.mark.covers("CP-10", "CP-13")
def test_stickyversions_is_true_by_default_and_no_business_of_rc4() -> None:
    without = put({"stickyversions": False}, RC2)
    assert not without.stickyversions
    assert put({}, RC2, without).stickyversions
    assert not put({}, RC4, without).stickyversions


@pytest.mark.covers("CP-13")
def test_patch_leaves_what_it_does_not_name() -> None:
    changed = patch({"flags": ["Inline"], "shortself": True})
    assert changed == replace(EVERYTHING, flags=("inline",), shortself=True)


@pytest.mark.covers("CP-13")
def test_patch_with_null_sets_the_default_of_the_specification() -> None:
    changed = patch({"ignores": None, "pagination": None, "versionmodes": None})
    expected = replace(EVERYTHING, ignores=(), pagination=False, versionmodes=("manual",))
    assert changed == expected


@pytest.mark.parametrize("is_patch", [False, True], ids=["put", "patch"])
@pytest.mark.covers("RG-04", "CP-13")
def test_null_as_a_whole_is_what_a_new_registry_has(is_patch: bool) -> None:
    assert change_capabilities(put({}), None, patch=is_patch, wire=RC4) == EVERYTHING


@pytest.mark.parametrize("name", ["apis", "mutable"])
@pytest.mark.covers("CP-11")
def test_stale_names_are_ignored(name: str) -> None:
    assert patch({name: ["anything"]}) == EVERYTHING
    assert name not in show_capabilities(patch({name: ["*"]}), RC4)


@pytest.mark.parametrize(
    ("name", "everything"),
    [
        pytest.param("flags", FLAGS, id="flags"),
        pytest.param("formats", FORMATS, id="formats"),
        pytest.param("ignores", IGNORES, id="ignores"),
        pytest.param("specversions", ("1.0-rc2", "1.0-rc4"), id="specversions"),
        pytest.param("versionmodes", VERSIONMODES, id="versionmodes"),
    ],
)
@pytest.mark.covers("CP-12")
def test_a_star_alone_stands_for_everything_offered(name: str, everything: tuple[str, ...]) -> None:
    assert getattr(put({name: ["*"]}), name) == everything
    with pytest.raises(RegistryError) as caught:
        put({name: ["*", everything[0]]})
    assert caught.value.name == "capability_wildcard"
    assert caught.value.arguments == {"field": name}


@pytest.mark.covers("CP-04", "CP-12")
def test_a_star_stands_for_every_rule_of_a_format() -> None:
    changed = put({"formats": ["avro*"], "compatibilities": {"Avro*": ["*"]}})
    assert changed.compatibilities == {"avro*": MODES}
    with pytest.raises(RegistryError) as caught:
        put({"formats": ["avro*"], "compatibilities": {"avro*": ["*", "full"]}})
    assert caught.value.arguments == {"field": "compatibilities[avro*]"}


@pytest.mark.covers("CP-01", "CP-06")
def test_names_count_in_any_case_and_once() -> None:
    changed = put(
        {
            "available": {"Export": {"mutable": False}},
            "formats": ["Avro/1.11", "JsonSchema*", "avro/1.11"],
            "ignores": ["EPOCH", "id"],
        },
        RC2,
    )
    assert changed.available == {"entities": True, "export": False}
    assert changed.formats == ("avro/1.11", "jsonschema*")
    assert changed.ignores == ("epoch", "id")


@pytest.mark.covers("CP-09", "FL-05")
def test_a_patch_level_of_a_specversion_does_not_matter() -> None:
    assert put({"specversions": ["1.0.5-RC4"]}).specversions == ("1.0.5-rc4",)
    assert normal_specversion("1.0.5-RC4") == normal_specversion("1.0-rc4") == "1.0-rc4"


@pytest.mark.parametrize(
    ("given", "name", "arguments"),
    [
        pytest.param(
            {"specversions": []},
            "capability_missing_value",
            {"name": "specversions", "value": "1.0-rc4"},
            marks=pytest.mark.covers("CP-09"),
            id="no-specversion",
        ),
        pytest.param(
            {"versionmodes": ["semver"]},
            "capability_missing_value",
            {"name": "versionmodes", "value": "manual"},
            marks=pytest.mark.covers("CP-08"),
            id="not-manual",
        ),
        pytest.param(
            {"bad": True},
            "capability_unknown",
            {"field": "bad"},
            marks=pytest.mark.covers("CP-12", "KD-13"),
            id="unknown",
        ),
        pytest.param(
            {"stickyversions": True},
            "capability_unknown",
            {"field": "stickyversions"},
            marks=pytest.mark.covers("CP-10"),
            id="of-rc2-only",
        ),
        pytest.param(
            {"pagination": "false"},
            "capability_value",
            {"value": "false", "field": "pagination", "list": "false,true"},
            marks=pytest.mark.covers("CP-12"),
            id="no-boolean",
        ),
        pytest.param(
            {"flags": ["Foo"]},
            "capability_value",
            {"value": "foo", "field": "flags", "list": ",".join(FLAGS)},
            marks=pytest.mark.covers("CP-05", "CP-12"),
            id="unknown-flag",
        ),
        pytest.param(
            {"ignores": "epoch"},
            "capability_value",
            {"value": "epoch", "field": "ignores", "list": ",".join(IGNORES)},
            marks=pytest.mark.covers("CP-07", "CP-12"),
            id="no-list",
        ),
        pytest.param(
            {"specversions": ["0.5", "1.0-rc4"]},
            "capability_value",
            {"value": "0.5", "field": "specversions", "list": "1.0-rc2,1.0-rc4"},
            marks=pytest.mark.covers("CP-09", "CP-12"),
            id="old-specversion",
        ),
        pytest.param(
            {"available": {"entities": {"mutable": 1}}},
            "capability_value",
            {"value": "1", "field": "available.entities.mutable", "list": "false,true"},
            marks=pytest.mark.covers("CP-12"),
            id="mutable-number",
        ),
        pytest.param(
            {"available": {"entities": True}},
            "capability_value",
            {
                "value": "true",
                "field": "available.entities",
                "list": '{"mutable":false},{"mutable":true}',
            },
            marks=pytest.mark.covers("CP-02"),
            id="available-boolean",
        ),
    ],
)
def test_bad_capabilities_are_named(
    given: dict[str, Any], name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(RegistryError) as caught:
        put(given)
    error = caught.value
    assert (error.name, error.subject, error.arguments) == (name, "/capabilities", arguments)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param([], "a map", id="array"),
        pytest.param(
            {"available": {"foo": {}}}, "foo", marks=pytest.mark.covers("CP-02"), id="available"
        ),
        pytest.param(
            {"available": {"export": {"mutable": True}}},
            "never be mutable",
            marks=pytest.mark.covers("CP-02"),
            id="mutable-export",
        ),
        pytest.param(
            {"available": {"model": {"mutable": True}}},
            "never be mutable",
            marks=pytest.mark.covers("CP-02"),
            id="mutable-model",
        ),
        pytest.param(
            {"formats": ["cobol"]}, "cobol", marks=pytest.mark.covers("CP-06"), id="format"
        ),
        pytest.param(
            {"formats": ["avro*"], "compatibilities": {"xsd*": ["full"]}},
            "xsd*",
            marks=pytest.mark.covers("CP-04"),
            id="rules-without-format",
        ),
        pytest.param(
            {"formats": ["avro*"], "compatibilities": {"avro*": ["none"]}},
            "none",
            marks=pytest.mark.covers("CP-04"),
            id="unknown-rule",
        ),
    ],
)
@pytest.mark.covers("CP-12")
def test_what_cannot_be_supported_is_an_error_with_its_reason(given: Any, told: str) -> None:
    with pytest.raises(RegistryError) as caught:
        put(given)
    assert caught.value.name == "capability_error"
    assert told in caught.value.arguments["error_detail"]


@pytest.mark.covers("CP-04")
def test_a_format_does_not_go_while_it_has_rules() -> None:
    with pytest.raises(RegistryError, match="does not list"):
        patch({"formats": ["avro*"]})
    changed = patch({"formats": ["avro*"], "compatibilities": {"avro/1.11": ["full"]}})
    assert changed.compatibilities == {"avro/1.11": ("full",)}


@pytest.mark.covers("CP-16")
def test_every_capability_is_offered_with_its_values() -> None:
    for wire in WIRES:
        shown = offered(wire)
        assert list(shown) == list(show_capabilities(EVERYTHING, wire))
        assert shown["pagination"] == {"type": "boolean", "enum": [False, True]}
        assert shown["flags"] == {
            "type": "array",
            "enum": list(FLAGS),
            "item": {"type": "string"},
        }
        export = shown["available"]["attributes"]["export"]["attributes"]["mutable"]
        assert export == {"type": "boolean", "enum": [False]}
        assert shown["compatibilities"]["attributes"]["avro*"]["enum"] == list(MODES)


@pytest.mark.covers("CP-16")
def test_everything_offered_is_accepted() -> None:
    shown = offered(RC4)
    wanted: dict[str, Any] = {
        name: value["enum"] if value["type"] == "array" else value["enum"][-1]
        for name, value in shown.items()
        if "enum" in value
    }
    rules = shown["compatibilities"]["attributes"]
    wanted["compatibilities"] = {name: value["enum"] for name, value in rules.items()}
    wanted["available"] = {
        name: {"mutable": value["attributes"]["mutable"]["enum"][-1]}
        for name, value in shown["available"]["attributes"].items()
    }
    assert put(wanted) == replace(EVERYTHING, shortself=True)


def subsets(values: tuple[str, ...], always: tuple[str, ...] = ()) -> st.SearchStrategy[list[str]]:
    """Lists of some of the values, with those that must be there."""
    return st.sets(st.sampled_from(values)).map(lambda some: sorted({*some, *always}))


GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "available": st.dictionaries(st.sampled_from(list(AVAILABLE)), st.just({"mutable": False})),
        "flags": subsets(FLAGS),
        "formats": st.just(list(FORMATS)),
        "compatibilities": st.just({}),
        "ignores": subsets(IGNORES),
        "pagination": st.booleans(),
        "shortself": st.booleans(),
        "specversions": subsets(("1.0-rc2",), ("1.0-rc4",)),
        "stickyversions": st.booleans(),
        "versionmodes": subsets(VERSIONMODES, ("manual",)),
    },
)


@given(GIVEN)
@pytest.mark.covers("CP-14")
def test_what_is_shown_can_be_sent_back_and_stored(given: dict[str, Any]) -> None:
    changed = put(given, RC2)
    assert put(show_capabilities(changed, RC2), RC2) == changed
    assert read_capabilities(stored_capabilities(changed)) == changed


def session(capabilities: Capabilities, path: str) -> Any:
    """As much of a session as availability needs."""
    request = Request(action="get", target=Target.parse(path), path=path)
    return SimpleNamespace(capabilities=capabilities, request=request)


@pytest.mark.parametrize(
    ("name", "path", "write", "subject"),
    [
        pytest.param("export", "/export", False, "/export", id="unlisted"),
        pytest.param("modelsource", "/", True, "/modelsource", id="unlisted-write"),
        pytest.param("entities", "/dirs/d1", True, "/dirs/d1", id="immutable"),
        pytest.param("capabilities", "/", True, "/capabilities", id="capabilities"),
    ],
)
@pytest.mark.covers("CP-03", "KD-14", "KD-24")
def test_unavailable_data_is_refused(name: str, path: str, write: bool, subject: str) -> None:
    frozen = put({"available": {"entities": {"mutable": False}}})
    with pytest.raises(RegistryError) as caught:
        require_available(session(frozen, path), name, write=write)
    assert (caught.value.name, caught.value.subject) == ("not_available", subject)


@pytest.mark.covers("CP-03")
def test_available_data_is_not_refused() -> None:
    require_available(session(EVERYTHING, "/export"), "export")
    require_available(session(EVERYTHING, "/dirs/d1"), "entities", write=True)


@pytest.mark.covers("CP-02")
def test_a_new_registry_has_discovery_and_all_formats() -> None:
    shown = show_capabilities(EVERYTHING, RC4)
    assert shown["available"][".xregistry"] == {"mutable": False}
    assert "numbers" in shown["formats"]
    assert shown["compatibilities"]["numbers"] == list(MODES)
    assert ".xregistry" not in put({}).available
