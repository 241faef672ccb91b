"""Loading: files, folders, several of them, and errors for people."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from heraldry.dialects.dump import dump
from heraldry.dialects.limits import Limits
from heraldry.dialects.load import load, load_bytes, load_each, registry_documents
from heraldry.errors import DialectError, DocumentError, UsageError

ONE = '{"messagegroups": {"one": {"messages": {"m": {}}}}}'
TWO = "messagegroups:\n  two:\n    messages:\n      1.0: {versionid: 1.0}\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_folder_is_read_at_any_depth(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_json=ONE,
        sub__b_yaml=TWO,
        sub__c_xreg='{"schemagroups": {"s": {}}}',
        package_json='{"name": "x", "endpoints": ["y"]}',
        tsconfig_json="{ // comments\n}",
        event_json='{"specversion": "1.0", "type": "t"}',
        notes_txt=ONE,
    )
    write(tmp_path / ".hidden", d_json=ONE)
    found = load(tmp_path)
    assert {name: list(groups) for name, groups in found.groups.items()} == {
        "messagegroups": ["one", "two"],
        "schemagroups": ["s"],
    }
    assert list(found.groups["messagegroups"]["two"].resources["messages"]) == ["1.0"]
    assert found.files["/messagegroups/two"] == str(tmp_path / "sub" / "b.yaml")


def test_several_paths_are_merged(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE, b_yaml=TWO)
    found = load(tmp_path / "a.json", str(tmp_path / "b.yaml"))
    assert list(found.groups["messagegroups"]) == ["one", "two"]


def test_documents_can_be_had_one_by_one(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE, b_json='{"messagegroups": ')
    found = dict(load_each(tmp_path))
    assert isinstance(found[str(tmp_path / "b.json")], DocumentError)
    assert not isinstance(found[str(tmp_path / "a.json")], DocumentError)


def test_a_group_has_one_file(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE, b_json=ONE.replace("one", "ONE"), c_json=ONE)
    with pytest.raises(DocumentError) as caught:
        load(tmp_path / "a.json", tmp_path / "c.json")
    assert caught.value.file == str(tmp_path / "c.json")
    assert f"/messagegroups/one is already in {tmp_path / 'a.json'}" in caught.value.reason
    with pytest.raises(DocumentError, match="ids must differ ignoring case"):
        load(tmp_path / "a.json", tmp_path / "b.json")


def test_a_broken_catalog_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE, b_json='{"messagegroups": {,}}')
    with pytest.raises(DocumentError, match=r"b\.json: line 1: not JSON"):
        load(tmp_path)


def test_an_old_catalog_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE, b_cereg='{"definitionGroups": {}}')
    with pytest.raises(DialectError, match="CloudEvents Registry"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        pytest.param("b.xreg.json", "", "the file is empty", id="json"),
        pytest.param("b.xreg.yaml", "", "the file is empty", id="yaml"),
        pytest.param("b.xreg", "\n", "the file is empty", id="xreg"),
        pytest.param("B.CEREG", "", "the file is empty", id="cereg"),
        pytest.param("b.xreg.json", '{"specver', "not JSON", id="cut json"),
        pytest.param("b.xreg", '{"specver', "not JSON", id="cut xreg"),
        pytest.param("b.xreg.yaml", "a: [", "not YAML", id="cut yaml"),
        pytest.param("b.xreg.yml", "specversion: 1.0", "no catalog: expected", id="cut at a line"),
        pytest.param("b.xreg.yaml", "# to do", "expected an object", id="comment"),
        pytest.param("b.cereg", "{}", "no catalog: expected", id="no groups"),
    ],
)
def test_a_file_that_is_to_be_a_catalog_is_not_passed_over(
    name: str, text: str, reason: str, tmp_path: Path
) -> None:
    write(tmp_path, a_json=ONE)
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match=reason):
        load(tmp_path)
    found = dict(load_each(tmp_path))
    assert isinstance(found.pop(str(tmp_path / name)), DocumentError)
    assert list(found) == [str(tmp_path / "a.json")]


def test_an_empty_file_is_not_passed_over_on_its_way_into_a_registry(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE)
    (tmp_path / "b.xreg.json").touch()
    with pytest.raises(DocumentError, match=r"b\.xreg\.json: the file is empty"):
        list(registry_documents(tmp_path))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("b.json", "", id="empty"),
        pytest.param("b.yml", " \n", id="empty yaml"),
        pytest.param("b.json", '{"specver', id="broken json"),
        pytest.param("b.yaml", "# to do", id="comment"),
        pytest.param("b.json", "{}", id="empty object"),
        pytest.param("b.xreg.json", '{"dirs": {"d": {"dirid": "d"}}}', id="groups of other types"),
        pytest.param("xreg.json", "{}", id="no suffix of catalogs"),
    ],
)
def test_a_file_that_need_not_be_a_catalog_is_passed_over(
    name: str, text: str, tmp_path: Path
) -> None:
    write(tmp_path, a_json=ONE)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert list(load(tmp_path).groups["messagegroups"]) == ["one"]


def test_what_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no catalog given"):
        load()
    with pytest.raises(UsageError, match="does not exist"):
        load(tmp_path / "no.json")
    with pytest.raises(UsageError, match="holds no catalog"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        pytest.param(b"[]", "x.json", "expected an object", id="array"),
        pytest.param(b"{}", "x.json", "no catalog: expected endpoints", id="empty"),
        pytest.param(b'{"messagegroups": []}', "x.json", "expected an object", id="shape"),
        pytest.param(b"messagegroups: {", "x.yml", "not YAML", id="yaml"),
        pytest.param(b"messagegroups: {}", "x.json", "not JSON", id="suffix-decides"),
        pytest.param(b" " * 2000, "x.json", "larger than", id="size"),
    ],
)
def test_one_document_by_its_bytes(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        load_bytes(data, name, Limits(size=1000))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        pytest.param(b'{"messagegroups": {}}', "x.xreg", id="json"),
        pytest.param(b"messagegroups: {}", "x.xreg", id="yaml"),
        pytest.param(b'\xef\xbb\xbf{"messagegroups": {}}', "x.json", id="byte-order-mark"),
        pytest.param(b'{"messagegroups": {}}', "-", id="no-suffix"),
    ],
)
def test_the_text_decides_where_the_name_does_not(data: bytes, name: str) -> None:
    assert load_bytes(data, name).source == {"messagegroups": {}}


@pytest.mark.parametrize("enabled", [pytest.param(True, id="on"), pytest.param(False, id="off")])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(DocumentError):
            load_bytes(b"{", "x.json")
        load_bytes(ONE.encode(), "x.json")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, a_json=ONE)
    with pytest.raises(DocumentError, match="which is the limit; split the catalog"):
        load(tmp_path / "a.json", limits=Limits(size=10))


def test_merged_catalogs_keep_what_nobody_knows(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_json='{"registryid": "a", "messagegroups": {"a": {}}, "things": {"x": {}}}',
        b_json='{"registryid": "b", "messagegroups": {"b": {}}, "things": {"y": {}}}',
        c_json='{"messagegroups": {"c": {}}, "things": {"y": {}}}',
    )
    merged = load_bytes(dump(load(tmp_path / "a.json", tmp_path / "b.json")), "m.json")
    assert merged.source == {
        "registryid": "a",
        "messagegroups": {"a": {}, "b": {}},
        "things": {"x": {}, "y": {}},
    }
    with pytest.raises(DocumentError, match="/things/y is already in another file"):
        load(tmp_path / "b.json", tmp_path / "c.json")
