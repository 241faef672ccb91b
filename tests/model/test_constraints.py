"""What groups demand of the versions of their resources, and versions of each other."""

from __future__ import annotations

import pytest

from heraldry.errors import RegistryError
from heraldry.model.constraints import check_type, check_versions, rules_of, with_defaults
from heraldry.model.matchversions import check_matching
from heraldry.model.metamodel import Attribute, Constraint, GroupType, ResourceType

covers = pytest.mark.covers


def table(**kinds):
    """Attributes by name: a type, or an Attribute that takes its name from the key."""
    return {
        name: Attribute(name=name, type=kind) if isinstance(kind, str) else kind
        for name, kind in kinds.items()
    }


def of(kind, **aspects):
    return Attribute(name=aspects.pop("name", ""), type=kind, **aspects)


ATTRIBUTES = table(
    name="string",
    size="integer",
    at="timestamp",
    tags=of("map", item=of("object", attributes=table(x="string"))),
    rows=of("array", item=of("object", attributes=table(x="string"))),
    info=of("object", name="info", attributes=table(owner="string", level="integer")),
    color=of("string", name="color", enum=("red", "green", "blue"), required=True, default="red"),
    hint=of("string", name="hint", enum=("a", "b"), strict=False),
    exact=of("string", name="exact", matchcase=True),
) | {"*": of("string", name="*")}


def group(**constraints):
    files = ResourceType(plural="files", singular="file", attributes=ATTRIBUTES)
    own = table(format="string", size="integer", labels=of("map", item=of("string")))
    about = of("object", name="about", attributes=table(owner="string"))
    return GroupType(
        plural="dirs",
        singular="dir",
        attributes=own | {"about": about, "any": of("any", name="any")},
        constraints={key.replace("__", "."): value for key, value in constraints.items()},
        resources={"files": files},
    )


def on(key, **aspects):
    return group(**{f"files.{key}": Constraint(**aspects)})


@pytest.mark.parametrize(
    ("kind", "aspects"),
    [
        pytest.param("name", {"default": "x", "enum": ("x", "y")}, marks=covers("MD-51"), id="all"),
        pytest.param("info.owner", {"equals": "about.owner"}, marks=covers("MD-53"), id="nested"),
        pytest.param("color", {"enum": ("Red", "blue")}, marks=covers("MD-52"), id="subset"),
        pytest.param("hint", {"enum": ("z",)}, marks=covers("MD-52"), id="not-strict"),
        pytest.param("color", {"enum": ()}, marks=covers("MD-52"), id="empty-enum"),
        pytest.param("name", {"equals": ""}, marks=covers("MD-53"), id="no-equals"),
        pytest.param(
            *("color", {"enum": ("blue",), "default": "blue"}),
            marks=covers("MD-51"),
            id="new-default",
        ),
    ],
)
def test_constraints_of_types(kind, aspects):
    check_type(on(kind, **aspects))


@pytest.mark.parametrize(
    ("key", "aspects"),
    [
        pytest.param("files", {}, marks=covers("MD-50"), id="no-path"),
        pytest.param("files.", {}, marks=covers("MD-50"), id="empty-path"),
        pytest.param("datas.name", {}, marks=covers("MD-50"), id="unknown-type"),
        pytest.param("files.a'b", {}, marks=covers("MD-50"), id="bad-path"),
        pytest.param("files.nothing", {}, marks=covers("MD-50"), id="unknown-attribute"),
        pytest.param("files.['*']", {}, marks=covers("MD-50"), id="star"),
        pytest.param("files.info", {}, marks=covers("MD-50"), id="object"),
        pytest.param("files.name.x", {}, marks=covers("MD-50"), id="inside-a-scalar"),
        pytest.param("files.tags.x", {}, marks=covers("MD-50"), id="inside-a-map"),
        pytest.param("files.rows.x", {}, marks=covers("MD-50"), id="inside-an-array"),
        pytest.param("files.rows[0].x", {}, marks=covers("MD-50"), id="item"),
        pytest.param("files.color", {"enum": ("pink",)}, marks=covers("MD-52"), id="not-a-subset"),
        pytest.param("files.color", {"enum": ("blue",)}, marks=covers("MD-52"), id="default-left"),
        pytest.param("files.size", {"enum": ("1",)}, marks=covers("MD-52"), id="enum-type"),
        pytest.param("files.color", {"default": "pink"}, marks=covers("MD-51"), id="default"),
        pytest.param("files.size", {"default": "1"}, marks=covers("MD-51"), id="default-type"),
        pytest.param(
            *("files.name", {"default": "x", "enum": ("y",)}),
            marks=covers("MD-51"),
            id="default-enum",
        ),
        pytest.param(
            "files.name", {"equals": "nothing"}, marks=covers("MD-53"), id="equals-unknown"
        ),
        pytest.param("files.name", {"equals": "size"}, marks=covers("MD-53"), id="equals-type"),
        pytest.param("files.name", {"equals": "labels"}, marks=covers("MD-53"), id="equals-map"),
        pytest.param(
            "files.name", {"equals": "labels.x"}, marks=covers("MD-53"), id="equals-in-map"
        ),
        pytest.param("files.name", {"equals": "a b"}, marks=covers("MD-53"), id="equals-path"),
    ],
)
def test_what_is_no_constraint(key, aspects):
    with pytest.raises(RegistryError) as caught:
        check_type(group(**{key: Constraint(**aspects)}))
    assert (caught.value.name, caught.value.subject) == ("model_error", "/model")
    given = {key: {name: list(v) if name == "enum" else v for name, v in aspects.items()}}
    with pytest.raises(RegistryError) as caught:
        rules_of(group(), given, subject="/dirs/d1")
    assert (caught.value.name, caught.value.subject) == ("bad_request", "/dirs/d1")
    assert repr(key) in caught.value.arguments["error_detail"]


def the_rule(kind, given):
    (rule,) = rules_of(kind, given, subject="/dirs/d1")["files"]
    return rule


@covers("MD-55")
def test_a_group_narrows_what_its_type_demands():
    kind = on("name", default="b", enum=("a", "b", "c"))
    rule = the_rule(kind, {"files.name": {"enum": ["A", "b"], "equals": "format"}})
    assert (rule.path, rule.default) == (("name",), "b")
    assert (rule.enum, rule.equals) == (("A", "b"), ("format",))
    assert the_rule(kind, {"files.name": {}}) == the_rule(kind, None)
    assert the_rule(kind, {"files.name": {"default": "c"}}).default == "c"


@covers("MD-55")
def test_a_group_may_add_constraints():
    rules = rules_of(on("name", enum=("a",)), {"files.size": {"default": 5}}, subject="/dirs/d1")
    assert [rule.path for rule in rules["files"]] == [("name",), ("size",)]


@covers("MD-55")
@pytest.mark.parametrize(
    ("type_level", "given"),
    [
        pytest.param({"enum": ("a",)}, {"enum": ["a", "b"]}, id="wider-enum"),
        pytest.param({"enum": ("a",)}, {"default": "b"}, id="default-outside"),
        pytest.param({"default": "c"}, {"enum": ["a"]}, id="default-left-outside"),
        pytest.param({"equals": "format"}, {"equals": "about.owner"}, id="other-equals"),
    ],
)
def test_a_group_must_not_widen_what_its_type_demands(type_level, given):
    with pytest.raises(RegistryError) as caught:
        rules_of(on("name", **type_level), {"files.name": given}, subject="/dirs/d1")
    assert caught.value.name == "bad_request"


@covers("MD-51")
def test_defaults_of_groups():
    given = {
        "files.name": {"default": "n"},
        "files.info.owner": {"default": "me"},
        "files.at": {"default": "2024-01-01T01:00:00+01:00"},
    }
    rules = rules_of(group(), given, subject="/dirs/d1")["files"]
    moment = "2024-01-01T00:00:00Z"
    assert with_defaults(rules, {}) == {"name": "n", "at": moment}
    values = {"name": "", "info": {"level": 1}, "at": None}
    expected = {"name": "", "info": {"level": 1, "owner": "me"}, "at": moment}
    assert with_defaults(rules, values) == expected
    assert values["info"] == {"level": 1}


def failure(rules, group_values, **versions):
    try:
        check_versions(rules["files"], group_values, versions, subject="/dirs/d1/files/f1")
    except RegistryError as error:
        assert error.name == "constraint_failure"  # noqa: PT017
        assert error.subject == "/dirs/d1/files/f1"  # noqa: PT017
        return error.arguments["path"], error.arguments["kind"], error.detail
    return None


@covers("MD-52", "MD-54")
def test_enums_of_groups_hold_for_all_versions():
    rules = rules_of(on("hint", enum=("a", "b")), None, subject="/dirs/d1")
    assert failure(rules, {}, v1={"hint": "A"}, v2={}) is None
    path, kind, detail = failure(rules, {}, v1={"hint": "a"}, v2={"hint": "c"}, v3={"hint": "d"})
    assert (path, kind) == ("hint", "enum")
    assert "v2, v3" in detail


@covers("MD-53", "MD-54")
def test_versions_equal_an_attribute_of_their_group():
    rules = rules_of(on("info.owner", equals="about.owner"), None, subject="/dirs/d1")
    mine = {"info": {"owner": "me"}}
    assert failure(rules, {}, v1=mine, v2={}) is None
    assert failure(rules, {"about": {"owner": "ME"}}, v1=mine) is None
    assert failure(rules, {"about": {"owner": "me"}}, v1=mine, v2={})[:2] == (
        "info.owner",
        "equals",
    )
    assert failure(rules, {"about": {"owner": ""}}, v1=mine)[2] == "Versions: v1."


@covers("MD-15")
def test_constraints_compare_as_the_attribute_does():
    rules = rules_of(on("exact", enum=("A",)), None, subject="/dirs/d1")
    assert failure(rules, {}, v1={"exact": "a"}) is not None


MATCHED = ResourceType(
    plural="files",
    singular="file",
    attributes={
        "format": of("string", name="format", matchversions=True),
        "exact": of("string", name="exact", matchversions=True, matchcase=True),
        "free": of("string", name="free"),
        "info": of(
            "object",
            name="info",
            attributes={"level": of("integer", name="level", matchversions=True)},
        ),
    },
)


@covers("MD-16")
@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        pytest.param({"format": "A/1"}, {"format": "a/1"}, None, id="same", marks=covers("MD-47")),
        pytest.param({}, {"free": "x"}, None, id="absent"),
        pytest.param({"format": "a"}, {"format": "b"}, "format", id="different"),
        pytest.param({"format": "a"}, {}, "format", id="missing"),
        pytest.param({"format": ""}, {}, "format", id="empty-is-a-value", marks=covers("MD-47")),
        pytest.param({"info": {"level": 1}}, {"info": {"level": 2}}, "info.level", id="nested"),
        pytest.param({"info": {"level": 1}}, {"info": {}}, "info.level", id="nested-missing"),
        pytest.param({"exact": "a"}, {"exact": "A"}, "exact", id="matchcase"),
    ],
)
def test_versions_must_match(first, second, name):
    versions = {"v1": first, "v2": second}
    if name is None:
        check_matching(MATCHED, versions, subject="/dirs/d1/files/f1")
        return
    with pytest.raises(RegistryError) as caught:
        check_matching(MATCHED, versions, subject="/dirs/d1/files/f1")
    assert caught.value.name == "mismatched_version_attribute"
    assert caught.value.subject == "/dirs/d1/files/f1"
    assert caught.value.arguments == {"name": name}
