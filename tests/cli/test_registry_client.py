"""The commands that talk to a registry: what they send, show and refuse."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.served import Served, serving

MODEL = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": {"tags": {"type": "array", "item": {"type": "string"}}},
            "resources": {
                "files": {"singular": "file", "typemap": {"text/csv": "string"}},
                "notes": {
                    "singular": "note",
                    "hasdocument": False,
                    "attributes": {"*": {"type": "any"}},
                },
            },
        }
    }
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("registry")
    (folder / "model.json").write_text(json.dumps(MODEL))
    with serving(folder, "--model", str(folder / "model.json")) as one:
        yield one


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> None:
    if "served" in request.fixturenames:
        request.getfixturevalue("served").ok("delete", "/dirs", "--all")


# --- create, update, upsert


def test_create_update_upsert(served: Served) -> None:
    assert served.ok("create", "dirs/d1", "--set", "name=one") == "created /dirs/d1\n"
    assert served.ok("update", "/dirs/d1", "--set", "description=two") == "updated /dirs/d1\n"
    assert served.ok("upsert", "/dirs/d1", "-d", '{"name": "three"}') == "updated /dirs/d1\n"
    assert served.ok("upsert", "/dirs/d2") == "created /dirs/d2\n"
    found = served.get("/dirs/d1")
    assert (found["name"], found["description"], found["epoch"]) == ("three", "two", 3)


def test_replace_drops_what_is_not_given(served: Served) -> None:
    served.ok("create", "/dirs/d1", "--set", "name=one", "--set", "description=x")
    served.ok("update", "/dirs/d1", "--replace", "-d", '{"name": "two"}')
    found = served.get("/dirs/d1")
    assert found["name"] == "two"
    assert "description" not in found


def test_create_refuses_what_is_there_and_update_what_is_not(served: Served) -> None:
    served.ok("create", "/dirs/d1")
    refused = served.run("create", "/dirs/d1")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "/dirs/d1 exists already; use update or upsert" in refused.stderr
    refused = served.run("update", "/dirs/d2")
    assert refused.exit_code == 1
    assert "/dirs/d2 does not exist; use create or upsert" in refused.stderr
    assert served.ok("update", "/dirs/d2", "--force") == "created /dirs/d2\n"


def test_many_at_once(served: Served) -> None:
    data = json.dumps({"d1": {"name": "one"}, "d2": {}})
    assert served.ok("create", "/dirs", "-d", data) == "created /dirs/d1\ncreated /dirs/d2\n"
    refused = served.run("create", "/dirs", "-d", '{"d3": {}, "d2": {}}')
    assert refused.exit_code == 1
    assert served.get("/dirs").keys() == {"d1", "d2"}
    assert served.run("update", "/dirs", "-d", '{"d3": {}}').exit_code == 1
    assert served.ok("update", "/dirs", "-d", '{"d1": {"name": "two"}}') == "updated /dirs/d1\n"


def test_parts_of_attributes_are_set_and_dropped(served: Served) -> None:
    served.ok("create", "/dirs/d1", "--set", "labels.a=1", "--set", "labels.b=two")
    served.ok("update", "/dirs/d1", "--set", "labels.c=x y", "--del", "labels.b")
    assert served.get("/dirs/d1")["labels"] == {"a": "1", "c": "x y"}
    served.ok("update", "/dirs/d1", "--set", 'tags=["x"]', "--set", "tags[1]=y", "--del", "labels")
    found = served.get("/dirs/d1")
    assert found["tags"] == ["x", "y"]
    assert "labels" not in found
    served.ok("update", "/dirs/d1", "--del", "tags[0]", "--set", "name")
    found = served.get("/dirs/d1")
    assert found["tags"] == ["y"]
    assert "name" not in found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("5", 5, id="number"),
        pytest.param("-1.5", -1.5, id="decimal"),
        pytest.param("007", "007", id="leading-zeros"),
        pytest.param("true", True, id="boolean"),
        pytest.param("", "", id="empty"),
        pytest.param('"5"', "5", id="quoted"),
        pytest.param("a=b", "a=b", id="equals"),
        pytest.param('{"x": [1]}', {"x": [1]}, id="json"),
        pytest.param("plain text", "plain text", id="text"),
    ],
)
def test_values_on_the_command_line(served: Served, text: str, value: object) -> None:
    served.ok("create", "/dirs/d1/notes/n1", "--set", f"extra={text}")
    assert served.get("/dirs/d1/notes/n1")["extra"] == value


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("--set", 'x={"a"'), "cannot be read as JSON", id="broken-json"),
        pytest.param(("--set", "a..b=1"), "names no attribute", id="bad-path"),
        pytest.param(("--del", "name=1"), "write --del NAME", id="del-with-value"),
        pytest.param(("--set", "name.x=1"), "does not lead anywhere", id="inside-a-text"),
        pytest.param(("--set", "tags[5]=1"), "the array has 1 items", id="beyond-an-array"),
        pytest.param(("-d", "[]"), "is no object", id="no-object"),
        pytest.param(("-d", "{"), "is not JSON", id="no-json"),
        pytest.param(("-d", "@no-such-file"), "No such file", id="no-file"),
        pytest.param(("--content-type", "text/plain"), "is of documents", id="no-document"),
    ],
)
def test_what_cannot_be_sent(served: Served, arguments: tuple[str, ...], told: str) -> None:
    served.ok("create", "/dirs/d1", "--set", "name=n", "--set", 'tags=["x"]')
    refused = served.run("update", "/dirs/d1", *arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert told in refused.stderr


# --- documents


def test_documents_go_up_and_down_byte_by_byte(served: Served, tmp_path: Path) -> None:
    content = b'{ "a":\t1 }\r\n'
    file = tmp_path / "x.json"
    file.write_bytes(content)
    path = "/dirs/d1/files/f1"
    assert served.ok("create", path, "-d", f"@{file}") == f"created {path}\n"
    assert served.run("get", path).stdout_bytes == content
    assert served.get(path, "--details")["contenttype"] == "application/json"
    served.ok("update", path, "-d", "@-", "--content-type", "text/csv", input=b"a;b\xff")
    assert served.run("get", path).stdout_bytes == b"a;b\xff"
    served.ok("upsert", f"{path}/versions/2", "-d", "plain")
    assert served.get(f"{path}/versions").keys() == {"1", "2"}
    assert served.run("get", f"{path}/versions/2").stdout_bytes == b"plain"


def test_metadata_of_a_document(served: Served) -> None:
    path = "/dirs/d1/files/f1"
    served.ok("create", path, "-d", "text")
    served.ok("update", path, "--set", "name=n")
    assert served.get(path, "-m")["name"] == "n"
    assert served.run("get", path).stdout_bytes == b"text"
    served.ok("update", path, "--details", "-d", '{"name": "m", "file": {"x": 1}}')
    assert served.get(path, "-m", "-i", "file")["file"] == {"x": 1}
    encoded = served.get(path, "-m", "-i", "file", "--binary")["filebase64"]
    assert json.loads(base64.b64decode(encoded)) == {"x": 1}


def test_a_document_elsewhere_is_named_and_not_fetched(served: Served) -> None:
    served.ok("create", "/dirs/d1/files/f1", "--set", "fileurl=https://example.com/x")
    refused = served.run("get", "/dirs/d1/files/f1")
    assert refused.exit_code == 1
    assert "kept at https://example.com/x" in refused.stderr


# --- get


def test_flags_of_get(served: Served) -> None:
    served.ok("create", "/dirs", "-d", '{"d1": {"name": "b"}, "d2": {"name": "a"}, "d3": {}}')
    assert [*served.get("/dirs", "--sort", "name=desc")] == ["d1", "d2", "d3"]
    assert [*served.get("/dirs", "-f", "name=a")] == ["d2"]
    assert [*served.get("/dirs", "-f", "name=a", "-f", "name=b")] == ["d1", "d2"]
    assert [*served.get("/dirs", "-f", "name=a,dirid=d1")] == []
    assert [*served.get("/dirs?filter=name=b")] == ["d1"]
    served.ok("create", "/dirs/d1/files/f1")
    inlined = served.get("/", "-i", "dirs.files", "-i", "capabilities")
    assert inlined["dirs"]["d1"]["files"].keys() == {"f1"}
    assert inlined["capabilities"]["pagination"] is True
    assert served.get("/dirs/d1", "--collections").keys() >= {"files", "notes"}
    assert served.get("/dirs/d1", "--doc")["self"] == "#/"


def test_an_address_of_the_server_is_a_path(served: Served) -> None:
    served.ok("create", "/dirs/d1")
    found = served.get("/dirs/d1")
    assert served.get(found["self"]) == found


@pytest.mark.covers("PG-02")
def test_a_collection_in_pages_comes_whole(served: Served) -> None:
    served.ok("create", "/dirs", "-d", json.dumps({f"d{n}": {} for n in range(7)}))
    assert len(served.get("/dirs?limit=2")) == 7


def test_tables(served: Served) -> None:
    served.ok("create", "/dirs/d1", "--set", "name=one")
    listed = served.ok("get", "/dirs", "-o", "table").splitlines()
    assert listed[0].split() == ["id", "name", "versionid", "epoch", "modifiedat"]
    assert listed[1].split()[:4] == ["d1", "one", "-", "1"]
    shown = served.ok("get", "/dirs/d1", "-o", "table").splitlines()
    assert [line.split() for line in shown[:1]] == [["dirid", "d1"]]


def test_json_of_a_change_is_the_entity(served: Served) -> None:
    shown = json.loads(served.ok("create", "/dirs/d1", "--set", "name=one", "-o", "json"))
    assert shown == served.get("/dirs/d1")
    shown = json.loads(served.ok("create", "/dirs/d1/files/f1", "-d", "x", "-o", "json"))
    assert (shown["fileid"], shown["versionid"]) == ("f1", "1")


# --- delete


def test_delete(served: Served) -> None:
    served.ok("create", "/dirs", "-d", '{"d1": {}, "d2": {}, "d3": {}}')
    assert served.ok("delete", "/dirs/d1") == "deleted /dirs/d1\n"
    refused = served.run("delete", "/dirs/d1")
    assert refused.exit_code == 1
    assert served.ok("delete", "-f", "/dirs/d1", "/dirs/d2", "-o", "json") == '[\n"/dirs/d2"\n]\n'
    assert served.run("delete", "/dirs/d3", "--epoch", "7").exit_code == 1
    assert served.ok("delete", "/dirs/d3", "--epoch", "1") == "deleted /dirs/d3\n"


def test_a_collection_is_not_deleted_by_accident(served: Served) -> None:
    served.ok("create", "/dirs", "-d", '{"d1": {}, "d2": {}}')
    refused = served.run("delete", "/dirs")
    assert refused.exit_code == 2
    assert "give --data or --all" in refused.stderr
    served.ok("delete", "/dirs", "-d", '{"d1": {}}')
    assert served.get("/dirs").keys() == {"d2"}
    served.ok("delete", "/dirs", "--all")
    assert served.get("/dirs") == {}


def test_what_delete_refuses(served: Served) -> None:
    assert served.run("delete", "/dirs/d1", "/dirs/d2", "--epoch", "1").exit_code == 2
    assert served.run("delete", "/dirs/d1", "-d", "{}").exit_code == 2


# --- errors


def test_a_problem_is_one_line_and_its_detail(served: Served) -> None:
    refused = served.run("get", "/dirs/nothing")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"heraldry: {served.url}/dirs/nothing answered 404: ")


def test_a_server_that_is_not_there_is_exit_2(served: Served) -> None:
    refused = served.run("get", "/", "--server", "127.0.0.1:9")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("heraldry: http://127.0.0.1:9: it gives no answer")


@pytest.mark.parametrize("path", ["/a/b/c/d/e", "/a/b/c/d/versions/1/x"], ids=["fifth", "long"])
def test_what_is_no_path(served: Served, path: str) -> None:
    assert served.run("get", path).exit_code == 2


# --- model


def test_the_model_is_shown(served: Served) -> None:
    told = served.ok("model", "get")
    assert "dirs (dir)\n  attributes\n    tags  array\n" in told
    assert "  files (file): any number of versions, with a document\n" in told
    assert "  notes (note): any number of versions, no document\n" in told
    assert "epoch" not in told
    assert "epoch" in served.ok("model", "get", "--all")
    assert json.loads(served.ok("model", "get", "--source", "-o", "json")) == MODEL


def test_the_model_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "part.json").write_text('{"dirs": {"singular": "dir"}}')
    file = tmp_path / "model.yaml"
    file.write_text("groups:\n  $include: part.json\n")
    with serving(tmp_path, "--model", "none") as other:
        assert other.ok("model", "update", str(file)) == "the model has dirs\n"
        assert other.get("/modelsource") == {"groups": {"dirs": {"singular": "dir"}}}
        other.ok("model", "update", "-d", "{}")
        assert other.get("/modelsource") == {}
        assert other.run("model", "update").exit_code == 2
        bad = other.run("model", "update", "-d", '{"x": 1}')
        assert bad.exit_code == 1
        assert "answered 400" in bad.stderr
