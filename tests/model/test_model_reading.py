"""Reading a model's source: unknown parts, names, and what may be said of the specification's."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.model_reading import EMPTY_MODEL, read_model
from tests.model.models import attribute, dirs, file_type, files, refused

TEXT = {"type": "string"}
ITEMS: dict[str, Any] = {"type": "map"}


@pytest.mark.covers("MD-01")
def test_the_root_is_read() -> None:
    source = {
        "$schema": "https://xregistry.io/model.schema.json",
        "description": "all about it",
        "documentation": "https://example.com/docs",
        "labels": {"stage": "", "a.b": "c"},
    }
    model = read_model(source)
    assert model.about.description == "all about it"
    assert model.about.documentation == "https://example.com/docs"
    assert model.about.labels == {"stage": "", "a.b": "c"}
    assert model.attributes == EMPTY_MODEL.attributes


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"icon": "https://example.com/i.svg"}, id="root"),
        pytest.param({"grups": {}}, id="misspelt"),
        pytest.param(dirs(plurals="x"), id="group type"),
        pytest.param(files(maxversion=3), id="resource type"),
        pytest.param(files(attributes={"x": TEXT | {"optional": True}}), id="attribute"),
        pytest.param(
            {"attributes": {"x": {"type": "map", "item": TEXT | {"enum": []}}}}, id="item"
        ),
        pytest.param(
            {"attributes": {"x": TEXT | {"ifvalues": {"a": {"attributes": {}}}}}}, id="ifvalues"
        ),
        pytest.param(dirs(constraints={"files.x": {"max": 3}}), id="constraint"),
        pytest.param(dirs(**{"$schema": "x"}), id="schema below the root"),
    ],
)
@pytest.mark.covers("MD-01")
def test_unknown_aspects_are_refused(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"groups": []}, id="groups"),
        pytest.param({"groups": {"dirs": None}}, id="null group type"),
        pytest.param(dirs(resources={"files": 1}), id="resource type"),
        pytest.param({"attributes": {"x": None}}, id="null attribute"),
        pytest.param({"attributes": {"x": "string"}}, id="attribute"),
        pytest.param({"attributes": {"x": {"type": 5}}}, id="type"),
        pytest.param({"attributes": {"x": TEXT | {"required": "true"}}}, id="flag"),
        pytest.param({"attributes": {"x": TEXT | {"enum": "a"}}}, id="enum"),
        pytest.param({"labels": {"a": 1}}, id="label"),
        pytest.param({"labels": {"bad one": "x"}}, id="key of a label"),
        pytest.param(files(maxversions=-1), id="negative"),
        pytest.param(files(maxversions=True), id="boolean for a number"),
        pytest.param(files(maxversions="1"), id="text for a number"),
        pytest.param(dirs(ximportresources="/a/b"), id="imports"),
    ],
)
def test_aspects_of_another_type_are_refused(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


def test_null_is_the_same_as_absent() -> None:
    given = {"description": None, "maxversions": None, "attributes": None, "typemap": None}
    assert file_type(**given) == file_type()


def test_attributes_may_not_lie_too_deep() -> None:
    source: dict[str, Any] = {"type": "string"}
    for _ in range(150):
        source = {"type": "object", "attributes": {"x": source}}
    assert "deep" in refused({"attributes": {"x": source}}).arguments["error_detail"]
    source = {"type": "string"}
    for _ in range(150):
        source = {"type": "array", "item": source}
    assert "deep" in refused({"attributes": {"x": source}}).arguments["error_detail"]


@pytest.mark.covers("MD-07", "MD-10")
def test_names_are_filled_from_keys() -> None:
    model = read_model(files(attributes={"x": TEXT}))
    group = model.groups["dirs"]
    assert (group.plural, group.resources["files"].plural) == ("dirs", "files")
    assert group.resources["files"].attributes["x"].name == "x"
    named = files(plural="files", attributes={"x": {"name": "x", **TEXT}})
    assert read_model(named) == model


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(dirs(plural="folders"), id="group type"),
        pytest.param(files(plural="papers"), id="resource type"),
        pytest.param({"attributes": {"x": {"name": "y", **TEXT}}}, id="attribute"),
    ],
)
@pytest.mark.covers("MD-07")
def test_another_name_than_the_key_is_refused(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.covers("MD-03")
def test_the_specification_is_overlaid_by_the_source() -> None:
    resource = file_type(
        attributes={"name": {"type": "string", "required": True}, "b": TEXT, "a": TEXT}
    )
    names = list(resource.attributes)
    assert resource.attributes["name"].required
    assert names[:3] == ["fileid", "versionid", "self"]
    documents = ["fileurl", "fileproxyurl", "file", "filebase64"]
    assert names[-7:] == ["compatibilityvalidatedreason", "b", "a", *documents]
    meta = list(file_type(metaattributes={"x": TEXT}).metaattributes)
    assert meta[-5:] == [
        "deprecated",
        "x",
        "defaultversionid",
        "defaultversionurl",
        "defaultversionsticky",
    ]
    group = read_model(files() | {"attributes": {"x": TEXT}})
    tail = ["x", "capabilities", "model", "modelsource", "dirsurl", "dirscount", "dirs"]
    assert list(group.attributes)[-7:] == tail
    assert list(group.groups["dirs"].attributes)[-3:] == ["filesurl", "filescount", "files"]


EPOCH = {"type": "uinteger", "readonly": True, "required": True}
STICKY = {"type": "boolean", "required": True, "default": False}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"attributes": {"name": {"type": "integer"}}}, id="type"),
        pytest.param(
            {"attributes": {"labels": {"type": "map", "item": {"type": "any"}}}}, id="item"
        ),
        pytest.param({"attributes": {"epoch": EPOCH | {"required": False}}}, id="required"),
        pytest.param({"attributes": {"epoch": EPOCH | {"readonly": False}}}, id="readonly"),
        pytest.param({"attributes": {"createdat": {"type": "timestamp"}}}, id="required left out"),
        pytest.param(dirs(attributes={"shortself": {"type": "url"}}), id="readonly left out"),
        pytest.param(
            files(metaattributes={"defaultversionsticky": STICKY | {"default": None}}), id="default"
        ),
        pytest.param(
            files(metaattributes={"compatibility": TEXT | {"enum": ["backward"], "strict": False}}),
            id="strict",
        ),
        pytest.param(
            files(metaattributes={"compatibility": TEXT | {"enum": ["sideways"]}}), id="enum"
        ),
        pytest.param(files(metaattributes={"compatibility": TEXT}), id="enum left out"),
        pytest.param(
            dirs(
                attributes={
                    "deprecated": {"type": "object", "attributes": {"removal": {"type": "string"}}}
                }
            ),
            id="nested type",
        ),
    ],
)
@pytest.mark.covers("MD-04")
def test_the_specification_may_not_be_widened(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.covers("MD-04")
def test_the_specification_may_be_narrowed() -> None:
    meta = file_type(
        metaattributes={
            "compatibility": TEXT | {"enum": ["backward", "full"]},
            "defaultversionsticky": STICKY | {"enum": [True], "default": True},
        }
    ).metaattributes
    assert meta["compatibility"].enum == ("backward", "full")
    assert meta["defaultversionsticky"].default is True


@pytest.mark.covers("MD-03")
def test_nested_attributes_of_the_specification_stay() -> None:
    given = {"type": "object", "attributes": {"docs": {"type": "url"}}}
    deprecated = (
        read_model(dirs(attributes={"deprecated": given})).groups["dirs"].attributes["deprecated"]
    )
    assert list(deprecated.attributes) == [
        "alternative",
        "documentation",
        "effective",
        "removal",
        "docs",
    ]
    bare = read_model(dirs(attributes={"deprecated": {"type": "object"}}))
    assert "*" in bare.groups["dirs"].attributes["deprecated"].attributes


@pytest.mark.parametrize("types", [("url", "url"), ("uri", "xid")], ids=["sample", "text"])
@pytest.mark.covers("MD-04")
def test_addresses_may_have_the_type_of_the_sample_or_of_the_text(types: tuple[str, str]) -> None:
    resource = file_type(
        attributes={"fileurl": {"type": types[0]}}, metaattributes={"xref": {"type": types[1]}}
    )
    assert resource.attributes["fileurl"].type == "url"
    assert resource.metaattributes["xref"].type == "url"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(files(attributes={"file": TEXT}), id="document"),
        pytest.param(files(attributes={"fileurl": {"type": "integer"}}), id="address"),
        pytest.param(files(attributes={"filebase64": {"type": "any"}}), id="bytes of a document"),
        pytest.param(files() | {"attributes": {"dirs": TEXT}}, id="collection"),
        pytest.param(files() | {"attributes": {"dirscount": TEXT}}, id="count"),
        pytest.param(files() | {"attributes": {"dirsurl": TEXT}}, id="address of a collection"),
    ],
)
@pytest.mark.covers("A-10")
def test_extensions_may_not_take_names_of_the_specification(source: dict[str, Any]) -> None:
    assert refused(source).name == "model_error"


@pytest.mark.covers("A-10", "DO-11")
def test_without_documents_their_names_are_free() -> None:
    attributes = file_type(
        hasdocument=False, attributes={"fileurl": {"type": "integer"}}
    ).attributes
    assert attributes["fileurl"].type == "integer"
    assert "file" not in attributes


@pytest.mark.parametrize("name", ["meta", "metaurl", "versions", "versionsurl", "versionscount"])
@pytest.mark.covers("A-11", "MD-49")
def test_versions_may_not_take_names_of_their_resource(name: str) -> None:
    assert refused(files(attributes={name: {"type": "any"}})).name == "model_error"
    case = {"ifvalues": {"a": {"siblingattributes": {name: {"type": "any"}}}}}
    assert refused(files(attributes={"x": TEXT | case})).name == "model_error"


@pytest.mark.covers("MD-49")
def test_resources_have_no_extensions() -> None:
    xid = {"type": "xid", "required": True, "readonly": True}
    assert file_type(resourceattributes={"xid": xid}).resourceattributes["xid"].readonly
    error = refused(files(resourceattributes={"xid": xid, "mine": TEXT}))
    assert error.name == "model_error"
    assert "mine" in error.arguments["error_detail"]


@pytest.mark.covers("A-01", "A-02")
@pytest.mark.parametrize("name", ["", "A", "9x", "a-b", "a.b", "ä", "x" * 64, "$x"])
def test_names_of_attributes_have_a_form(name: str) -> None:
    error = refused({"attributes": {name: TEXT}})
    assert error.name == "invalid_attribute"
    assert error.arguments["name"] == name


def test_an_extension_is_read_with_all_its_aspects() -> None:
    read = attribute(
        {
            "type": "string",
            "description": "what it is",
            "enum": ["a", "b"],
            "strict": False,
            "matchcase": True,
            "readonly": True,
            "required": True,
            "default": "c",
        }
    )
    assert (read.description, read.enum, read.default) == ("what it is", ("a", "b"), "c")
    assert (read.strict, read.matchcase, read.readonly, read.required) == (False, True, True, True)
