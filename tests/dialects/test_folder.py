"""A registry as a folder: the same content, the same files, and back again."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.document_suffix import media_type_of, suffix_of
from heraldry.dialects.folder import entity_name, files_of, is_folder, read_folder
from heraldry.dialects.folder_writing import ResourceShape, shapes_of, write_folder
from heraldry.dialects.limits import Limits
from heraldry.dialects.load import load
from heraldry.errors import DocumentError, UsageError

SHAPES = {
    "dirs": {
        "files": ResourceShape(singular="file"),
        "notes": ResourceShape(singular="note", has_document=False),
        "logs": ResourceShape(singular="log", by_modification=True),
    }
}
CHANGING = {"self": "#/x", "xid": "/x", "epoch": 3, "modifiedat": "2026-01-02T00:00:00Z"}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def version(id_: str, **attributes: Any) -> dict[str, Any]:
    common = {"versionid": id_, "isdefault": True, "createdat": "2026-01-01T00:00:00Z"}
    return CHANGING | common | {"ancestor": id_} | attributes


def resource(meta: dict[str, Any] | None = None, /, **versions: dict[str, Any]) -> dict[str, Any]:
    own = {"readonly": False, "defaultversionid": "1", "defaultversionsticky": False}
    return CHANGING | {"meta": CHANGING | own | (meta or {}), "versions": versions}


def registry(**collections: dict[str, Any]) -> dict[str, Any]:
    group = CHANGING | {"dirid": "d1", "createdat": "2026-01-01T00:00:00Z", "labels": {"a": "b"}}
    for name, entities in collections.items():
        group |= {f"{name}url": f"#/{name}", f"{name}count": len(entities), name: entities}
    own = {"specversion": "1.0-rc2", "registryid": "r", "name": "mine", "dirsurl": "#/dirs"}
    return CHANGING | own | {"modelsource": {"groups": {}}, "dirs": {"d1": group}}


def names(folder: Path) -> list[str]:
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


def test_the_layout(tmp_path: Path) -> None:
    file = resource(a=version("a", format="Avro/1.11", filebase64=encoded(b"{}")))
    note = resource({"labels": {"x": "y"}}, a=version("a", filebase64="no document"))
    count = write_folder(registry(files={"f:1": file}, notes={"n1": note}), SHAPES, tmp_path)
    assert count == len(names(tmp_path))
    assert names(tmp_path) == [
        "dirs/d1/files/f%3A1/a.avsc",
        "dirs/d1/files/f%3A1/a.version.json",
        "dirs/d1/group.json",
        "dirs/d1/notes/n1/a.version.json",
        "dirs/d1/notes/n1/meta.json",
        "model.json",
        "registry.json",
    ]
    assert (tmp_path / "dirs/d1/files/f%3A1/a.avsc").read_bytes() == b"{}"
    assert json.loads((tmp_path / "dirs/d1/files/f%3A1/a.version.json").read_text()) == {
        "versionid": "a",
        "createdat": "2026-01-01T00:00:00Z",
        "ancestor": "a",
        "format": "Avro/1.11",
        "file$file": "a.avsc",
    }
    assert json.loads((tmp_path / "dirs/d1/notes/n1/meta.json").read_text()) == {
        "labels": {"x": "y"}
    }
    assert json.loads((tmp_path / "dirs/d1/group.json").read_text()) == {
        "dirid": "d1",
        "labels": {"a": "b"},
    }


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    sticky = {"defaultversionid": "a", "defaultversionsticky": True}
    file = resource(sticky, a=version("a", filebase64=encoded(b"\x00\xff")), B=version("B"))
    xref = CHANGING | {"meta": CHANGING | {"xref": "/dirs/d1/files/f1"}}
    write_folder(registry(files={"f1": file, "f2": xref}), SHAPES, tmp_path)
    found = read_folder(tmp_path)
    assert {name: found[name] for name in ("specversion", "name", "modelsource")} == {
        "specversion": "1.0-rc2",
        "name": "mine",
        "modelsource": {"groups": {}},
    }
    files = found["dirs"]["d1"]["files"]
    assert files["f1"]["meta"] == sticky
    assert [*files["f1"]["versions"]] == ["a", "B"]
    assert files["f1"]["versions"]["a"]["filebase64"] == encoded(b"\x00\xff")
    assert files["f2"] == {"meta": {"xref": "/dirs/d1/files/f1"}}


def test_full_keeps_what_a_registry_sets(tmp_path: Path) -> None:
    write_folder(registry(files={"f1": resource(a=version("a"))}), SHAPES, tmp_path, full=True)
    found = read_folder(tmp_path)
    assert (found["registryid"], found["epoch"]) == ("r", 3)
    assert found["dirs"]["d1"]["files"]["f1"]["versions"]["a"]["epoch"] == 3
    assert found["dirs"]["d1"]["files"]["f1"]["meta"]["readonly"] is False


def test_times_that_order_versions_are_content(tmp_path: Path) -> None:
    write_folder(registry(logs={"l1": resource(a=version("a"))}), SHAPES, tmp_path)
    found = read_folder(tmp_path)["dirs"]["d1"]["logs"]["l1"]["versions"]["a"]
    assert found["modifiedat"] == "2026-01-02T00:00:00Z"


def test_what_did_not_change_is_left_alone(tmp_path: Path) -> None:
    document = registry(files={"f1": resource(a=version("a"))})
    write_folder(document, SHAPES, tmp_path)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)}
    write_folder(document, SHAPES, tmp_path)
    assert before == {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)}


def test_what_is_gone_is_removed_and_nothing_else(tmp_path: Path) -> None:
    one = resource(a=version("a", contenttype="text/plain", filebase64=encoded(b"x")))
    write_folder(registry(files={"f1": one, "f2": one}), SHAPES, tmp_path)
    for mine in ("README.md", "dirs/d1/files/f2/notes.txt"):
        (tmp_path / mine).write_text("mine")
    write_folder(registry(files={"f1": one}), SHAPES, tmp_path)
    left = names(tmp_path)
    assert "dirs/d1/files/f1/a.txt" in left
    assert [name for name in left if "f2" in name] == ["dirs/d1/files/f2/notes.txt"]
    assert "README.md" in left
    (tmp_path / "dirs/d1/files/f2/notes.txt").unlink()
    write_folder(registry(files={"f1": one, "f2": one}), SHAPES, tmp_path)
    write_folder(registry(), SHAPES, tmp_path)
    assert not (tmp_path / "dirs/d1/files").exists()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(UsageError, match="holds other files"):
        write_folder(registry(), SHAPES, tmp_path)
    assert names(tmp_path) == ["precious.txt"]
    with pytest.raises(UsageError, match="is a file"):
        write_folder(registry(), SHAPES, tmp_path / "precious.txt")


def test_a_repository_without_files_yet_is_taken(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert write_folder(registry(), SHAPES, tmp_path) == 3


@pytest.mark.parametrize(
    "ids",
    [
        ("1", "1.version"),
        ("1", "1.VERSION"),
        ("Meta", "x"),
        ("1.version", "x"),
        ("a", "a.document"),
    ],
    ids=["version-suffix", "other-case", "meta", "only-suffix", "document"],
)
def test_documents_never_take_the_name_of_metadata(tmp_path: Path, ids: tuple[str, str]) -> None:
    contents = {id_: f'"{id_}"'.encode() for id_ in ids}
    versions = {
        id_: version(id_, contenttype="application/json", filebase64=encoded(content))
        for id_, content in contents.items()
    }
    write_folder(registry(files={"f1": resource(**versions)}), SHAPES, tmp_path)
    assert len({name.lower() for name in names(tmp_path)}) == len(names(tmp_path))
    found = read_folder(tmp_path)["dirs"]["d1"]["files"]["f1"]["versions"]
    assert {id_: base64.b64decode(one["filebase64"]) for id_, one in found.items()} == contents


@pytest.mark.parametrize("id_", ["../../x", "a/b", ".", "", "a\\b", "a\x00"], ids=repr)
def test_ids_of_a_hostile_server_lead_nowhere(tmp_path: Path, id_: str) -> None:
    for document in (
        registry(files={id_: resource(a=version("a"))}),
        registry(files={"f1": resource(**{id_: version("a")})}),
    ):
        with pytest.raises(DocumentError, match="cannot name a file"):
            write_folder(document, SHAPES, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(DocumentError, match="cannot name a folder"):
        write_folder({"../x": {}}, {"../x": {}}, tmp_path / "out")


@pytest.mark.parametrize(
    "name",
    ["../outside", "/etc/hostname", "link", "missing", "", 7, "a\\b"],
    ids=["above", "absolute", "link", "missing", "empty", "number", "backslash"],
)
def test_documents_are_files_beside_their_version(tmp_path: Path, name: object) -> None:
    folder = tmp_path / "out"
    write_folder(registry(files={"f1": resource(a=version("a"))}), SHAPES, folder)
    place = folder / "dirs/d1/files/f1"
    (tmp_path / "outside").write_text("secret")
    (place.parent / "outside").write_text("secret")
    (place / "link").symlink_to(tmp_path / "outside")
    (place / "a.version.json").write_text(json.dumps({"file$file": name}))
    with pytest.raises(DocumentError, match="is no file beside it"):
        read_folder(folder)


def test_another_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('{"$layout": "heraldry-folder/2"}')
    assert is_folder(tmp_path)
    with pytest.raises(DocumentError, match="another version of Heraldry"):
        read_folder(tmp_path)


def test_a_folder_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    file = resource(a=version("a", filebase64=encoded(b"x" * 10_000)))
    write_folder(registry(files={"f1": file}), SHAPES, tmp_path)
    with pytest.raises(DocumentError, match="larger than"):
        read_folder(tmp_path, Limits(size=9_000))


def test_a_folder_is_a_catalog_also_inside_of_another(tmp_path: Path) -> None:
    shapes = {"messagegroups": {"messages": ResourceShape(singular="message", has_document=False)}}
    message = resource({"messageid": "m"}, **{"1": version("1", messageid="m", envelope="X")})
    group = {"messagegroupid": "g", "messages": {"m": message}}
    inner = tmp_path / "catalogs" / "one"
    write_folder({"specversion": "1.0-rc2", "messagegroups": {"g": group}}, shapes, inner)
    for place in (inner, tmp_path):
        found = load(place).groups["messagegroups"]["g"].resources["messages"]["m"]
        assert found.versions["1"].attributes["envelope"] == "X"


def test_files_of_a_folder(tmp_path: Path) -> None:
    write_folder(registry(files={"f1": resource(a=version("a"))}), SHAPES, tmp_path)
    (tmp_path / "other.json").write_text("{}")
    found = {one.relative_to(tmp_path).as_posix() for one in files_of(tmp_path)}
    assert found == {*names(tmp_path)} - {"other.json"}


def test_the_types_of_a_model() -> None:
    files = {"singular": "file", "hasdocument": False, "versionmode": "ModifiedAt"}
    model = {
        "groups": {
            "as": {"singular": "a", "ximportresources": ["/bs/files"]},
            "bs": {"singular": "b", "ximportresources": ["/cs/files"]},
            "cs": {"singular": "c", "resources": {"files": files}},
        }
    }
    shape = ResourceShape(singular="file", has_document=False, by_modification=True)
    assert shapes_of(model) == {name: {"files": shape} for name in ("as", "bs", "cs")}
    assert shapes_of({}) == {}


@pytest.mark.parametrize(
    ("attributes", "suffix"),
    [
        pytest.param({"format": "Avro/1.11"}, ".avsc", id="avro"),
        pytest.param({"format": "XMLSchema/1.1"}, ".xsd", id="xsd"),
        pytest.param({"format": "Protobuf/3", "contenttype": "text/plain"}, ".proto", id="proto"),
        pytest.param(
            {"format": "Own/1", "contenttype": "text/plain; charset=x"}, ".txt", id="text"
        ),
        pytest.param({"contenttype": "application/vnd.x+json"}, ".json", id="structured"),
        pytest.param({"contenttype": "image/png"}, ".bin", id="unknown"),
        pytest.param({}, ".bin", id="nothing"),
    ],
)
def test_suffixes(attributes: dict[str, str], suffix: str) -> None:
    assert suffix_of(attributes) == suffix


def test_media_types() -> None:
    assert media_type_of("a/b.JSON") == "application/json"
    assert media_type_of("x.proto") == "text/plain"
    assert media_type_of("x.bin") is None
    assert media_type_of("x") is None


IDS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._~:@-]{0,20}", fullmatch=True)


@given(IDS, IDS)
def test_names_of_files_are_the_ids_own(one: str, other: str) -> None:
    assert (entity_name(one) == entity_name(other)) == (one == other)
    assert not entity_name(one).endswith(".")
    assert not set(entity_name(one)) & set('/\\:*?"<>|')
