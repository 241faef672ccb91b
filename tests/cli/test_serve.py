"""`heraldry serve`: what it starts with, and what it says where it cannot."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from tests.cli.served import serving, start

MODEL = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}


def said(process) -> tuple[int, str]:
    """How a server ended that could not start."""
    told = process.communicate(timeout=20)[1]
    return process.returncode, told


def test_a_new_registry_has_the_messaging_model(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        registry = served.get("/")
        assert served.registryid == registry["registryid"] == "heraldry"
        assert registry["specversion"] == "1.0-rc2"
        assert registry["self"] == f"{served.url}/"
        assert {"messagegroupsurl", "endpointsurl", "schemagroupsurl"} <= registry.keys()


def test_what_a_new_registry_is_given(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(MODEL))
    base = "https://catalog.example.com/reg"
    given = ("--registry-id", "mine", "--model", str(file), "--specversion", "1.0-rc4")
    with serving(tmp_path, *given, "--base-url", f"{base}/") as served:
        assert served.url == base
    with serving(tmp_path, "--specversion", "1.0-rc4") as served:
        registry = served.get("/")
        assert (registry["registryid"], registry["specversion"]) == ("mine", "1.0-rc4")
        assert registry["dirscount"] == 0
        assert served.get("/modelsource") == MODEL


def test_model_none_is_empty(tmp_path: Path) -> None:
    with serving(tmp_path, "--model", "none") as served:
        assert not [name for name in served.get("/") if name.endswith("url")]
        assert served.get("/modelsource") == {}


def test_a_model_includes_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "dirs.yaml").write_text("dirs: {singular: dir}\n")
    (tmp_path / "model.json").write_text('{"groups": {"$include": "dirs.yaml"}}')
    with serving(tmp_path, "--model", str(tmp_path / "model.json")) as served:
        assert served.get("/")["dirscount"] == 0
        assert served.get("/modelsource") == {"groups": {"dirs": {"singular": "dir"}}}


def test_a_wrong_model_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text('{"groups": {"dirs": {"plural": "d"}}}')
    code, told = said(start("--db", f"sqlite:{tmp_path}/r.db", "--model", str(file)))
    assert code == 2
    assert told.startswith(f"heraldry: {file} is no model: ")
    assert not (tmp_path / "r.db").exists()


def test_another_id_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "--registry-id", "one"):
        pass
    db = f"sqlite:{tmp_path / 'registry.db'}"
    code, told = said(start("--db", db, "--registry-id", "two"))
    assert code == 2
    assert told == (
        f"heraldry: {db} holds the registry 'one', not 'two': "
        "leave out --registry-id, or name another database\n"
    )


def test_an_existing_model_stays_and_that_is_said(tmp_path: Path) -> None:
    with serving(tmp_path, "--model", "none"):
        pass
    with serving(tmp_path, "--model", "messaging") as served:
        assert served.get("/modelsource") == {}
        served.process.terminate()
        told = served.process.stderr.read()
    assert "has a model already, which stays; `heraldry model update` changes it" in told


def test_the_same_model_again_is_not_worth_a_word(tmp_path: Path) -> None:
    for _ in range(2):
        with serving(tmp_path, "--model", "messaging") as served:
            served.process.terminate()
            assert served.process.stderr.read() == ""


def test_documents_are_imported_by_the_rules_of_a_post(tmp_path: Path, examples: Path) -> None:
    given = ("--import", str(examples / "shop"), "--import", str(examples / "formats"))
    with serving(tmp_path, *given) as served:
        first = served.get("/messagegroups")
        served.ok("create", "/messagegroups/mine")
    with serving(tmp_path, *given) as served:
        again = served.get("/messagegroups")
    assert again.keys() == first.keys() | {"mine"}
    assert again["shop.orders"]["epoch"] > first["shop.orders"]["epoch"]


def test_a_document_that_does_not_fit_is_told(tmp_path: Path, examples: Path) -> None:
    given = ("--model", "none", "--import", str(examples / "shop"))
    code, told = said(start("--db", f"sqlite:{tmp_path}/r.db", *given))
    assert code == 2
    assert "shop.xreg.json cannot be imported: The attribute" in told
    assert "only Group types are" in told


def test_includes_are_only_fetched_from_allowed_addresses(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-include", "http://127.0.0.1:9/models/") as served:
        for url, reason in (
            ("http://127.0.0.1:9/models/m.json", "no answer"),
            ("http://127.0.0.1:9/other/m.json", "not on the list"),
            ("file:///etc/hostname", "not on the list"),
        ):
            refused = served.run(
                "upsert", "/modelsource", "--replace", "-d", json.dumps({"$include": url})
            )
            assert refused.exit_code == 1
            assert reason in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("--db", "mysql://u:secret@h/x"), "no such kind of store", id="database"),
        pytest.param(("--allow-include", "models/"), "cannot be allowed", id="allow-include"),
        pytest.param(("--allow-origin", "a.b"), "write it as https://HOST", id="allow-origin"),
        pytest.param(("--model", "no-such-file"), "cannot be read", id="model"),
        pytest.param(("--host", "256.0.0.1"), "cannot listen at 256.0.0.1", id="host"),
        pytest.param(("--base-url", "nonsense"), "write it as https://HOST/PATH", id="base-url"),
        pytest.param(("--base-url", "http://a/?b"), "write it as https://HOST/PATH", id="query"),
    ],
)
def test_what_cannot_be_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, error = said(start(*arguments))
    assert code == 2
    assert told in error
    assert "secret" not in error
    assert error.count("\n") == 1


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        port = served.url.rpartition(":")[2]
        code, told = said(start("--db", f"sqlite:{tmp_path}/other.db", "--port", port))
        assert code == 2
        assert told == f"heraldry: cannot listen at 127.0.0.1 port {port}: Address already in use\n"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGTERM, 0, id="sigterm"),
        pytest.param(signal.SIGINT, 130, id="sigint"),
    ],
)
def test_it_stops_when_it_is_told_to(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with serving(tmp_path) as served:
        served.get("/")
        served.process.send_signal(number)
        assert served.process.wait(timeout=20) == code
        assert served.process.stderr.read() == ""


def test_it_starts_fast(tmp_path: Path) -> None:
    best = 10.0
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        start_time = time.perf_counter()
        with serving(folder) as served:
            served.get("/")
            best = min(best, time.perf_counter() - start_time)
    assert best < 2.0  # 0.5 s on an idle machine
