"""Group and resource types of a model: names, aspects, imports, constraints (MD-30..MD-53)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.metamodel import Constraint
from heraldry.model.model_reading import read_model
from tests.model.models import dirs, file_type, files, model, refused

TEXT = {"type": "string"}
LONG = "x" * 58
A_10 = pytest.mark.covers("A-10")


def groups(**types: dict[str, Any]) -> dict[str, Any]:
    """A source of group types."""
    return {"groups": types}


def two(first: str, second: str) -> dict[str, Any]:
    """Two resource types of one group type, given their singular names."""
    return dirs(resources={"as": {"singular": first}, "bs": {"singular": second}})


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(groups(dirs={}), id="no singular"),
        pytest.param(groups(Dirs={"singular": "dir"}), id="plural"),
        pytest.param(groups(dirs={"singular": "Dir"}), id="singular"),
        pytest.param(groups(dirs={"singular": "dirs"}), id="both the same"),
        pytest.param({"groups": {LONG: {"singular": "a"}}}, id="long plural"),
        pytest.param(groups(dirs={"singular": "x" * 64}), id="long singular"),
        pytest.param(groups(a={"singular": "c"}, b={"singular": "c"}), id="singulars"),
        pytest.param(groups(a={"singular": "b"}, b={"singular": "c"}), id="singular and plural"),
        pytest.param(
            groups(model={"singular": "mode"}), id="an attribute of the registry", marks=A_10
        ),
        pytest.param(groups(export={"singular": "x"}), id="a path of the registry"),
        pytest.param(
            groups(a={"singular": "x"}, aurl={"singular": "y"}),
            id="a collection's name",
            marks=A_10,
        ),
    ],
)
@pytest.mark.covers("MD-30")
def test_names_of_group_types(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.covers("MD-30")
def test_the_longest_names_of_group_types() -> None:
    assert read_model({"groups": {"x" * 57: {"singular": "y" * 63}}}).groups


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(dirs(resources={"files": {}}), id="no singular"),
        pytest.param(dirs(resources={"@": {"singular": "a"}}), id="plural"),
        pytest.param(two("a", "B"), id="singular"),
        pytest.param(two("as", "b"), id="both the same"),
        pytest.param(two("a", "a"), id="singulars"),
        pytest.param(two("bs", "b"), id="singular and plural"),
        pytest.param(two(LONG, "b"), id="long singular"),
        pytest.param(dirs(resources={LONG: {"singular": "a"}}), id="long plural"),
        pytest.param(
            dirs(resources={"labels": {"singular": "x"}}), id="an attribute of groups", marks=A_10
        ),
        pytest.param(two("version", "b"), id="the id of versions"),
        pytest.param(two("name", "b"), id="an attribute of versions", marks=A_10),
        pytest.param(two("meta", "b"), id="an attribute of resources", marks=A_10),
        pytest.param(two("defaultversion", "b"), id="an attribute of meta entities"),
    ],
)
@pytest.mark.covers("MD-40")
def test_names_of_resource_types(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.covers("MD-40")
def test_other_group_types_may_have_resource_types_of_the_same_name() -> None:
    source = files()
    source["groups"]["boxes"] = {"singular": "box", "resources": {"files": {"singular": "paper"}}}
    assert read_model(source).groups["boxes"].resources["files"].singular == "paper"


@pytest.mark.covers("MD-31", "MD-40")
def test_what_types_say_about_themselves() -> None:
    said = {
        "description": "d",
        "documentation": "https://example.com/docs",
        "icon": "https://example.com/i.svg",
        "labels": {"a": "b"},
        "modelversion": "1.2",
        "modelcompatiblewith": "https://example.com/model.json",
    }
    about = file_type(**said).about
    assert {name: getattr(about, name) for name in said} == said
    about = read_model(dirs(**said)).groups["dirs"].about
    assert {name: getattr(about, name) for name in said} == said


@pytest.mark.covers("MD-41", "MD-42", "MD-43", "MD-44", "MD-45", "MD-46")
def test_the_defaults_of_a_resource_type() -> None:
    found = file_type()
    assert found.maxversions == 0
    assert (found.setversionid, found.setdefaultversionsticky, found.hasdocument) == (True,) * 3
    assert (found.versionmode, found.singleversionroot) == ("manual", False)
    assert not found.validateformat
    assert not found.validatecompatibility
    assert not found.strictvalidation


@pytest.mark.covers("MD-41", "MD-42", "MD-43", "MD-44", "MD-45", "MD-46")
def test_the_aspects_of_a_resource_type() -> None:
    given = {
        "maxversions": 3,
        "setversionid": False,
        "setdefaultversionsticky": False,
        "hasdocument": False,
        "versionmode": "semver",
        "singleversionroot": True,
        "validateformat": True,
        "validatecompatibility": True,
        "strictvalidation": True,
    }
    found = file_type(**given)
    assert {name: getattr(found, name) for name in given} == given


@pytest.mark.covers("MD-46")
def test_compatibility_needs_formats() -> None:
    assert refused(files(validatecompatibility=True)).name == "bad_request"


@pytest.mark.parametrize("mode", ["createdat", "modifiedat", "semver", "SemVer"])
@pytest.mark.covers("MD-45", "AL-16")
def test_other_modes_have_a_single_root(mode: str) -> None:
    found = file_type(versionmode=mode)
    assert (found.versionmode, found.singleversionroot) == (mode.lower(), True)
    assert file_type(versionmode=mode, singleversionroot=False).singleversionroot


@pytest.mark.covers("AL-16")
def test_an_unknown_mode() -> None:
    assert refused(files(versionmode="random")).name == "model_error"


@pytest.mark.covers("MD-47")
def test_consistent_formats_are_matched_over_versions() -> None:
    assert not file_type(consistentformat=False).attributes["format"].matchversions
    assert file_type(consistentformat=True).attributes["format"].matchversions
    given = {"format": {"type": "string", "required": True}}
    found = file_type(consistentformat=True, attributes=given).attributes["format"]
    assert (found.required, found.matchversions) == (True, True)


STICKY = {"type": "boolean", "required": True}
NEVER = {"defaultversionsticky": STICKY | {"enum": [False], "default": False}}
ALWAYS = {"defaultversionsticky": STICKY | {"enum": [True], "default": True}}


@pytest.mark.covers("MD-43", "ME-09")
def test_both_ways_to_say_that_the_default_cannot_be_chosen() -> None:
    by_aspect = file_type(setdefaultversionsticky=False)
    by_attribute = file_type(metaattributes=NEVER)
    assert by_aspect == by_attribute
    assert not by_aspect.setdefaultversionsticky
    assert by_aspect.metaattributes["defaultversionsticky"].enum == (False,)
    assert file_type(metaattributes=ALWAYS).setdefaultversionsticky


@pytest.mark.covers("MD-43")
def test_one_version_leaves_nothing_to_choose() -> None:
    found = file_type(maxversions=1)
    assert not found.setdefaultversionsticky
    assert found.metaattributes["defaultversionsticky"].enum == ()
    assert file_type(maxversions=1, setdefaultversionsticky=False) == found


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"setdefaultversionsticky": True}, id="aspect"),
        pytest.param({"metaattributes": ALWAYS}, id="attribute"),
        pytest.param(
            {"metaattributes": {"defaultversionsticky": STICKY | {"default": True}}}, id="default"
        ),
    ],
)
@pytest.mark.covers("MD-43", "ME-09")
def test_one_version_cannot_be_chosen(given: dict[str, Any]) -> None:
    assert refused(files(maxversions=1, **given)).name == "setdefaultversionsticky_false"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"setdefaultversionsticky": True, "metaattributes": NEVER}, id="never"),
        pytest.param({"setdefaultversionsticky": False, "metaattributes": ALWAYS}, id="always"),
        pytest.param(
            {
                "metaattributes": {
                    "defaultversionsticky": STICKY | {"enum": [False], "default": True}
                }
            },
            id="default outside of its enum",
        ),
    ],
)
def test_two_ways_that_contradict_each_other(given: dict[str, Any]) -> None:
    assert refused(files(**given)).name == "model_error"


@pytest.mark.covers("MD-48")
def test_typemap() -> None:
    found = file_type(typemap={"text/*": "String", "Text/Mine": "json", "a/b": "binary"})
    assert found.typemap == {"text/*": "string", "Text/Mine": "json", "a/b": "binary"}


@pytest.mark.parametrize("typemap", [{"a/b": "xml"}, {"*/*": "json"}, {"": "json"}, {"a/b": 1}])
@pytest.mark.covers("MD-48")
def test_bad_typemaps(typemap: dict[str, Any]) -> None:
    assert refused(files(typemap=typemap)).name == "model_error"


def importing(**imports: list[Any]) -> dict[str, Any]:
    """The group type ``dirs`` with ``files``, and others that import."""
    source = files(attributes={"x": TEXT})
    for plural, references in imports.items():
        source["groups"][plural] = {"singular": f"{plural}x", "ximportresources": references}
    return source


@pytest.mark.covers("MD-32")
def test_resource_types_are_imported() -> None:
    found = read_model(importing(b=["/dirs/files"], a=["/b/files"], c=[])).groups
    for plural in "ab":
        assert found[plural].imported == {"files": "/dirs/files"}
        assert found[plural].resources["files"] is found["dirs"].resources["files"]
        assert "filesurl" in found[plural].attributes
    assert found["c"].resources == {}
    assert found["dirs"].imported == {}


@pytest.mark.covers("MD-32")
def test_group_types_may_import_from_each_other() -> None:
    source = importing(b=["/dirs/files"])
    source["groups"]["b"]["resources"] = {"papers": {"singular": "paper"}}
    source["groups"]["dirs"]["ximportresources"] = ["/b/papers"]
    found = read_model(source).groups
    assert list(found["dirs"].resources) == ["files", "papers"]
    assert list(found["b"].resources) == ["papers", "files"]


@pytest.mark.parametrize(
    "source",
    [
        *(
            pytest.param(importing(b=[reference]), id=str(reference))
            for reference in (
                "/dirs",
                "/dirs/",
                "dirs/files",
                "/dirs/files/",
                "//files",
                "/dirs/files/versions",
                "/others/files",
                "/dirs/others",
                5,
                "/b/files",
            )
        ),
        pytest.param(importing(b=["/dirs/files", "/dirs/files"]), id="twice"),
        pytest.param(importing(a=["/b/x"], b=["/a/x"]), id="circular"),
        pytest.param(importing(a=["/b/x"], b=["/c/x"], c=["/a/x"]), id="circular over three"),
        pytest.param(importing(a=["/b/x"], b=["/c/x"], c=["/b/x"]), id="into a circle"),
    ],
)
@pytest.mark.covers("MD-32")
def test_bad_imports(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.parametrize(
    "local",
    [
        pytest.param({"files": {"singular": "paper"}}, id="plural"),
        pytest.param({"papers": {"singular": "file"}}, id="singular"),
    ],
)
@pytest.mark.covers("MD-32")
def test_imported_and_local_names_are_unique(local: dict[str, Any]) -> None:
    source = importing(b=["/dirs/files"])
    source["groups"]["b"]["resources"] = local
    assert refused(source).name == "model_error"


def constrained(key: str, **constraint: Any) -> dict[str, Any]:
    """A source with one constraint on an attribute of ``files``."""
    values = {"type": "string", "enum": ["a", "b"], "required": True, "default": "b"}
    inner = {"type": "object", "attributes": {"inner": TEXT}}
    attributes = {"x": values, "y": inner, "z": {"type": "map", "item": inner}, "n": TEXT}
    source = files(attributes=attributes)
    source["groups"]["dirs"]["constraints"] = {key: constraint}
    source["groups"]["dirs"]["attributes"] = {"kind": TEXT, "count": {"type": "integer"}}
    return source


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(constrained("files.x", default="a", enum=["A"], equals="kind"), id="all"),
        pytest.param(constrained("files.y.inner", enum=["anything"]), id="in an object"),
        pytest.param(constrained("files.x", enum=[], equals=""), id="nothing"),
    ],
)
@pytest.mark.covers("MD-50")
def test_constraints_are_read(source: dict[str, Any]) -> None:
    given = next(iter(source["groups"]["dirs"]["constraints"].items()))
    found = read_model(source).groups["dirs"].constraints
    assert found == {given[0]: Constraint(**given[1] | {"enum": tuple(given[1]["enum"])})}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(constrained("filesx"), marks=pytest.mark.covers("MD-50"), id="key"),
        pytest.param(constrained("files."), marks=pytest.mark.covers("MD-50"), id="no path"),
        pytest.param(constrained("files.a'b'"), marks=pytest.mark.covers("MD-50"), id="path"),
        pytest.param(constrained("others.x"), marks=pytest.mark.covers("MD-50"), id="type"),
        pytest.param(constrained("files.w"), marks=pytest.mark.covers("MD-50"), id="attribute"),
        pytest.param(constrained("files.y"), marks=pytest.mark.covers("MD-50"), id="object"),
        pytest.param(constrained("files.x.y"), marks=pytest.mark.covers("MD-50"), id="in a scalar"),
        pytest.param(
            constrained("files.z.inner"), marks=pytest.mark.covers("MD-50"), id="in a map"
        ),
        pytest.param(
            constrained("files.x", default="c"), marks=pytest.mark.covers("MD-51"), id="default"
        ),
        pytest.param(
            constrained("files.x", default="b", enum=["a"]),
            marks=pytest.mark.covers("MD-51"),
            id="default outside of its enum",
        ),
        pytest.param(
            constrained("files.x", default=5), marks=pytest.mark.covers("MD-51"), id="typed default"
        ),
        pytest.param(
            constrained("files.x", enum=["b", "c"]), marks=pytest.mark.covers("MD-52"), id="enum"
        ),
        pytest.param(
            constrained("files.x", enum=["a"]),
            marks=pytest.mark.covers("MD-52"),
            id="enum without the model's default",
        ),
        pytest.param(
            constrained("files.n", enum=[5]), marks=pytest.mark.covers("MD-52"), id="typed enum"
        ),
        *(
            pytest.param(
                constrained("files.x", equals=path),
                marks=pytest.mark.covers("MD-53"),
                id=f"equals {path}",
            )
            for path in ("missing", "count", "labels", "labels.a", "a'b'")
        ),
    ],
)
def test_bad_constraints(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


def test_constraints_may_be_on_imported_types() -> None:
    source = importing(b=["/dirs/files"])
    source["groups"]["b"]["constraints"] = {"files.x": {"enum": ["a"]}}
    assert read_model(source).groups["b"].constraints["files.x"].enum == ("a",)


def test_all_attributes_of_a_type_are_there() -> None:
    found = model().groups["dirs"]
    assert next(iter(found.attributes)) == "dirid"
    assert list(found.resources["files"].resourceattributes)[-3:] == [
        "versionsurl",
        "versionscount",
        "versions",
    ]
