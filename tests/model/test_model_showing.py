"""The complete form of a model, and what the specification puts into it (MD-02, CA-16)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.model.model_includes import resolve_includes
from heraldry.model.model_reading import EMPTY_MODEL, read_model
from heraldry.model.model_showing import show_model
from tests.model.models import dirs, files, model

TEXT = {"type": "string"}
ONLY_RC2 = {"matchcase", "setdefaultversionsticky", "consistentformat"}


def without(value: Any, names: set[str]) -> Any:
    """A JSON value without some members, at any depth."""
    if isinstance(value, dict):
        return {k: without(v, names) for k, v in value.items() if k not in names}
    return value


@pytest.mark.covers("MD-02")
def test_the_model_of_the_specification_s_sample(reference: Path) -> None:
    sample = json.loads((reference / "models/rc4/core.sample-model-full.json").read_text())
    shown = show_model(model())
    same = without(shown, ONLY_RC2 | {"fileproxyurl"})
    assert same == sample
    assert json.dumps(same) == json.dumps(sample), "the order differs"
    assert read_model(sample) == read_model(shown)


@pytest.mark.parametrize("era", ["rc4", "seed-era-rc2"])
@pytest.mark.parametrize("name", ["cloudevents", "core", "endpoint", "message", "schema"])
@pytest.mark.covers("MD-60", "MD-62")
def test_official_models_are_read(reference: Path, era: str, name: str) -> None:
    def load(address: str) -> Any:
        found = reference / "models" / era / f"{address.split('/')[-2]}.model.json"
        return json.loads(found.read_text())

    base = f"https://example.com/{name}/model.json"
    source = resolve_includes(load(base), load, base)
    shown = show_model(read_model(source))
    assert show_model(read_model(shown)) == shown
    assert list(shown.get("groups", {})) == list(source.get("groups", {}))


def test_what_a_registry_without_types_shows() -> None:
    shown = show_model(EMPTY_MODEL)
    assert list(shown) == ["attributes"]
    assert shown["attributes"]["labels"] == {"name": "labels", "type": "map", "item": TEXT}


@pytest.mark.covers("MD-02")
def test_resource_types_without_documents_show_none() -> None:
    shown = show_model(model(hasdocument=False))["groups"]["dirs"]["resources"]["files"]
    assert not {"file", "fileurl", "filebase64"} & shown["attributes"].keys()
    assert {"meta", "metaurl", "versions"} <= shown["resourceattributes"].keys()


@pytest.mark.covers("MD-32")
def test_imports_are_shown_as_types() -> None:
    source = files()
    source["groups"]["boxes"] = {"singular": "box", "ximportresources": ["/dirs/files"]}
    shown = show_model(read_model(source))["groups"]
    assert "ximportresources" not in shown["boxes"]
    assert shown["boxes"]["resources"] == shown["dirs"]["resources"]


def test_every_aspect_is_shown() -> None:
    attribute = {
        "name": "x",
        "type": "string",
        "description": "d",
        "enum": ["a", "b"],
        "strict": False,
        "matchcase": True,
        "matchversions": True,
        "readonly": True,
        "required": True,
        "default": "a",
        "ifvalues": {"a": {"siblingattributes": {"y": {"name": "y", "type": "any"}}}},
    }
    nested = {
        "name": "z",
        "type": "array",
        "item": {
            "type": "object",
            "namecharset": "extended",
            "attributes": {"a-b": {"name": "a-b", "type": "xid", "target": "/dirs"}},
        },
    }
    source = files(attributes={"x": attribute, "z": nested}, typemap={"a/b": "json"})
    source["groups"]["dirs"]["constraints"] = {
        "files.x": {"default": "b", "enum": ["b"], "equals": "name"}
    }
    group = show_model(read_model(source))["groups"]["dirs"]
    shown = group["resources"]["files"]
    assert shown["attributes"]["x"] == attribute
    assert shown["attributes"]["z"] == nested
    assert shown["typemap"] == {"a/b": "json"}
    assert group["constraints"] == source["groups"]["dirs"]["constraints"]


@pytest.mark.covers("CA-16")
def test_common_attributes_of_each_level() -> None:
    place = {"self", "shortself", "xid"}
    times = {"createdat", "modifiedat"}
    common = place | times | {"epoch", "name", "description", "documentation", "icon", "labels"}
    shown = show_model(model())
    group = shown["groups"]["dirs"]
    resource = group["resources"]["files"]
    assert common | {"registryid"} <= shown["attributes"].keys()
    assert "deprecated" not in shown["attributes"]
    assert common | {"dirid", "deprecated"} <= group["attributes"].keys()
    assert common | {"fileid", "versionid"} <= resource["attributes"].keys()
    assert "deprecated" not in resource["attributes"]
    meta = resource["metaattributes"].keys()
    assert place | times | {"fileid", "epoch", "labels", "deprecated"} <= meta
    assert not {"name", "description", "documentation", "icon"} & meta
    assert resource["resourceattributes"].keys() & common == place


NAMES = st.from_regex(r"x_[a-z0-9_]{0,4}", fullmatch=True)
FLAGS = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("readonly", "required")}
)


def definitions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Attributes that hold others."""
    attributes = st.dictionaries(NAMES, inner, max_size=3)
    objects = st.builds(lambda a: {"type": "object", "attributes": a}, attributes)
    items = st.one_of(objects, st.just(TEXT))
    collections = st.builds(
        lambda kind, item: {"type": kind, "item": item}, st.sampled_from(["map", "array"]), items
    )
    return st.one_of(objects, collections)


SCALARS = st.one_of(
    st.builds(
        lambda kind, flags: {"type": kind, **flags},
        st.sampled_from(["string", "integer", "boolean", "uri", "timestamp", "xid"]),
        FLAGS,
    ),
    st.builds(
        lambda values, strict: {"type": "string", "enum": values, "strict": strict},
        st.lists(st.text(max_size=3), max_size=3),
        st.booleans(),
    ),
    st.builds(lambda value: {"type": "integer", "required": True, "default": value}, st.integers()),
)
ATTRIBUTES = st.dictionaries(NAMES, st.recursive(SCALARS, definitions, max_leaves=6), max_size=4)
ASPECTS = st.fixed_dictionaries(
    {},
    optional={
        "maxversions": st.integers(0, 5),
        "setversionid": st.booleans(),
        "hasdocument": st.booleans(),
        "versionmode": st.sampled_from(["manual", "semver", "createdat"]),
        "consistentformat": st.booleans(),
        "validateformat": st.booleans(),
        "description": st.text(max_size=5),
        "attributes": ATTRIBUTES,
        "metaattributes": ATTRIBUTES,
    },
)


@given(aspects=ASPECTS, attributes=ATTRIBUTES)
@pytest.mark.covers("MD-02")
def test_what_is_shown_is_read_as_the_same_model(
    aspects: dict[str, Any], attributes: dict[str, Any]
) -> None:
    source = files(**aspects) | {"attributes": attributes}
    source["groups"]["dirs"]["attributes"] = attributes
    found = read_model(source)
    assert read_model(show_model(found)) == found


def test_a_group_type_alone_shows_no_resources() -> None:
    assert "resources" not in show_model(read_model(dirs()))["groups"]["dirs"]
