"""`heraldry export` and `import`: a registry as a folder, and back without a difference."""

from __future__ import annotations

import filecmp
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import heraldry
from heraldry.cli import main
from tests.cli.served import Served, serving

MODEL = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": {"*": {"type": "any"}},
            "resources": {
                "files": {"singular": "file"},
                "ordered": {"singular": "order", "versionmode": "createdat"},
            },
        },
        "links": {"singular": "link", "ximportresources": ["/dirs/files"]},
    }
}
GROUP = {
    "name": "one",
    "labels": {"z": "1", "a": ""},
    "extra": {"deep": [1, 2.5, None, "ä"]},
    "files": {
        "f1": {
            "meta": {"defaultversionid": "1", "defaultversionsticky": True, "labels": {"x": "y"}},
            "versions": {
                "1": {
                    "ancestor": "1",
                    "contenttype": "application/json",
                    "filebase64": "eyAiYSI6MSB9Cg==",
                },
                "2": {"contenttype": "text/plain", "file": "text", "ancestor": "1"},
                "branch": {"filebase64": "AP8=", "ancestor": "1"},
                "empty": {"ancestor": "2", "fileurl": "https://example.com/x"},
            },
        },
        "F:2": {"versions": {"meta": {"name": "odd"}}},
    },
    "ordered": {
        "o1": {
            "versions": {
                "b": {"createdat": "2020-01-01T00:00:00Z"},
                "a": {"createdat": "2021-01-01T00:00:00Z"},
            }
        }
    },
}


def same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same files."""
    found = filecmp.dircmp(one, other)
    if found.left_only or found.right_only or found.funny_files:
        return False
    _, differ, odd = filecmp.cmpfiles(one, other, found.common_files, shallow=False)
    return not differ and not odd and all(same(one / name, other / name) for name in found.subdirs)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A registry of its own model with everything that is hard to export."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "model.json").write_text(json.dumps(MODEL))
    with serving(folder, "--model", str(folder / "model.json"), "--registry-id", "mine") as one:
        one.ok("update", "/", "--set", "name=mine", "--set", "labels.stage=test")
        one.ok("create", "/dirs/d1", "-d", json.dumps(GROUP))
        xref = {"files": {"x1": {"meta": {"xref": "/dirs/d1/files/f1"}}, "x2": {}}}
        one.ok("create", "/links/l1", "-d", json.dumps(xref))
        yield one


@pytest.mark.covers("VW-02")
def test_everything_comes_back(filled: Served, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    filled.ok("export", str(first))
    with serving(tmp_path, "--model", "none", "--registry-id", "other") as empty:
        told = empty.ok("import", str(first), "--all")
        assert told == "imported 1 dir, 1 link\n"
        empty.ok("export", str(second))
        assert same(first, second)
        assert empty.get("/")["registryid"] == "other"
        assert empty.get("/")["name"] == "mine"
        meta = empty.get("/dirs/d1/files/f1/meta")
        assert (meta["defaultversionid"], meta["defaultversionsticky"]) == ("1", True)
        ordered = empty.get("/dirs/d1/ordered/o1", "-m")
        assert (ordered["versionid"], ordered["ancestor"]) == ("a", "b")
        assert empty.get("/links/l1/files/x1/meta")["xref"] == "/dirs/d1/files/f1"
        assert empty.run("get", "/dirs/d1/files/f1").stdout_bytes == b'{ "a":1 }\n'


def test_a_second_import_changes_nothing_in_the_folder(filled: Served, tmp_path: Path) -> None:
    folder, again = tmp_path / "folder", tmp_path / "again"
    filled.ok("export", str(folder))
    assert filled.ok("import", str(folder)) == "imported 1 dir, 1 link\n"
    filled.ok("export", str(again))
    assert same(folder, again)


@pytest.mark.parametrize("full", [(), ("--full",)], ids=["plain", "full"])
def test_files_hold_no_more_than_was_asked_for(
    filled: Served, tmp_path: Path, full: tuple[str, ...]
) -> None:
    filled.ok("export", str(tmp_path / "out"), *full)
    text = "".join(file.read_text("utf-8", "replace") for file in tmp_path.rglob("*.json"))
    for name in ('"epoch":', '"self":', '"modifiedat":', '"registryid":'):
        assert (name in text) == bool(full)


def test_a_full_export_can_be_imported(filled: Served, tmp_path: Path) -> None:
    filled.ok("export", str(tmp_path / "out"), "--full")
    with serving(tmp_path, "--model", "none") as empty:
        empty.ok("import", str(tmp_path / "out"), "--all")
        assert empty.get("/dirs/d1")["createdat"] == filled.get("/dirs/d1")["createdat"]


@pytest.mark.parametrize("version", ["1.0-rc2", "1.0-rc4"])
def test_both_versions_are_exported_and_imported_by_either(
    filled: Served, tmp_path: Path, version: str
) -> None:
    folder, again = tmp_path / "folder", tmp_path / "again"
    filled.ok("export", str(folder), "--specversion", version)
    text = (folder / "dirs/d1/files/f1/2.version.json").read_text()
    assert ('"ancestorid": "1"' in text) == (version == "1.0-rc4")
    for speaks in ("1.0-rc2", "1.0-rc4"):
        place = tmp_path / speaks
        place.mkdir()
        with serving(place, "--model", "none", "--specversion", speaks) as empty:
            empty.ok("import", str(folder), "--all")
            empty.ok("export", str(again / speaks), "--specversion", version)
        assert same(folder, again / speaks)


def test_the_model_must_be_there_or_come_along(filled: Served, tmp_path: Path) -> None:
    filled.ok("export", str(tmp_path / "out"))
    with serving(tmp_path, "--model", "none") as empty:
        refused = empty.run("import", str(tmp_path / "out"))
        assert refused.exit_code == 1
        assert f"--all takes the model of {tmp_path / 'out'} along" in refused.stderr
        assert empty.get("/").keys().isdisjoint(("dirsurl", "linksurl"))


def test_a_refused_document_changes_nothing(filled: Served, tmp_path: Path) -> None:
    groups = {"good": {"name": "x"}, "bad": {"name": 7}}
    file = tmp_path / "bad.json"
    file.write_text(json.dumps({"registryid": "x", "dirs": groups}))
    before = filled.get("/dirs")
    refused = filled.run("import", str(file))
    assert refused.exit_code == 1
    assert '"name"' in refused.stderr
    assert filled.get("/dirs") == before


def test_what_is_no_catalog_is_told(filled: Served, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    assert filled.run("import", str(tmp_path / "x.json")).exit_code == 1
    assert filled.run("import", str(tmp_path)).exit_code == 2


def test_an_export_folder_is_a_catalog(tmp_path: Path, examples: Path) -> None:
    with serving(tmp_path, "--import", str(examples / "airport")) as served:
        served.ok("export", str(tmp_path / "out"))
    sample, exported = heraldry.open(examples / "airport"), heraldry.open(tmp_path / "out")
    assert [one.definition for one in exported] == [sample[one.xid].definition for one in exported]
    assert len([*exported]) == len([*sample])
    result = CliRunner().invoke(main, ["check", str(tmp_path / "out")])
    assert result.output == "0 errors, 0 warnings in 1 file\n"


def catalogs(root: Path) -> list[Path]:
    return sorted(root.rglob("*.xreg.json"))


@pytest.mark.slow
def test_the_samples_mean_the_same_in_a_registry(tmp_path: Path, reference: Path) -> None:
    """Import, open by address; export, import into an empty registry, export: no difference."""
    for number, sample in enumerate(catalogs(reference / "catalogs" / "xregistry-samples")):
        place = tmp_path / str(number)
        first, second = place / "first", place / "second"
        first.mkdir(parents=True)
        second.mkdir()
        with serving(first, "--import", str(sample)) as served:
            here, there = heraldry.open(sample), heraldry.open(served.url, cache=place / "cache")
            assert {d.xid: d.definition for d in there} == {d.xid: d.definition for d in here}
            assert _schemas(there) == _schemas(here)
            served.ok("export", str(place / "a"))
        with serving(second) as served:
            served.ok("import", str(place / "a"))
            served.ok("export", str(place / "b"))
        assert same(place / "a", place / "b"), sample.name


def _schemas(opened: heraldry.MessageCatalog) -> dict[str, object]:
    groups = opened.catalog.groups.get("schemagroups", {})
    return {
        f"{schema.xid}/{id_}": version.attributes.get("schema")
        for group in groups.values()
        for schema in group.resources["schemas"].values()
        for id_, version in schema.versions.items()
    }


def test_a_job_starts_while_the_registry_is_down(tmp_path: Path, examples: Path) -> None:
    line = tmp_path / "line.jsonl"
    build = ["build", "--catalog", str(examples / "airport"), "--sample", "--format", "json"]
    line.write_text(
        CliRunner().invoke(main, [*build, "/messagegroups/luggage/messages/checkedin"]).output
    )
    cache = str(tmp_path / "cache")
    with serving(tmp_path, "--import", str(examples / "airport")) as served:
        match = ["match", "--catalog", served.url, "--catalog-cache", cache, str(line)]
        fresh = CliRunner().invoke(main, match)
        assert (fresh.exit_code, fresh.stderr) == (0, "")
    stale = CliRunner().invoke(main, match)
    assert (stale.exit_code, stale.stdout) == (0, fresh.stdout)
    assert "using the copy of 20" in stale.stderr
    assert stale.stderr.startswith(f"heraldry: {served.url}")
    gone = CliRunner().invoke(main, [*match, "--catalog-cache", str(tmp_path / "other")])
    assert gone.exit_code == 2
