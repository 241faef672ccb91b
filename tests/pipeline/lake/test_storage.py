"""Storages: what a local folder does, and which addresses are none."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake import object_store
from heraldry.pipeline.lake import storage as storages
from heraldry.pipeline.lake.storage import Storage
from tests.suites.storages import StorageBehaviour


class TestLocalFolder(StorageBehaviour):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> Storage:
        return Storage.open(str(tmp_path / "lake"))

    def test_a_path_becomes_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        storage = Storage.open("lake/x/..")
        assert storage.url == str(tmp_path / "lake")
        assert storage.join("a", "b") == f"{storage.url}/a/b"
        assert storage.delta("a/b") == (f"{storage.url}/a/b", {})

    def test_without_a_call_for_one_file_system_all_are_settled(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[str] = []
        monkeypatch.setattr(storages, "_SYNCFS", None)
        monkeypatch.setattr(os, "sync", lambda: synced.append("all"))
        storage.write("a", b"")
        storage.settle()
        assert synced == ["all"]

    def test_what_the_disk_has_lost_is_an_error(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(folder: int) -> int:
            ctypes.set_errno(errno.EIO)
            return -1

        monkeypatch.setattr(storages, "_SYNCFS", failing)
        storage.write("a", b"")
        with pytest.raises(OSError, match="Input/output error"):
            storage.settle()

    def test_a_draft_is_no_file(self, storage: Storage) -> None:
        """What a kill leaves behind half written does not count, and is written over."""
        draft = Path(storage.join("x.json.draft"))
        draft.parent.mkdir()
        draft.write_bytes(b"hal")
        assert storage.read("x.json") is None
        storage.write("x.json", b"whole")
        assert not draft.exists()


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("s3://lake", "s3://lake"),
        ("s3://lake//a/b/", "s3://lake/a/b"),
        ("gs://lake/a", "gs://lake/a"),
        ("abfss://c@acc.dfs.core.windows.net/a/", "abfss://c@acc.dfs.core.windows.net/a"),
    ],
)
def test_an_address_is_kept_without_loose_ends(address: str, kept: str) -> None:
    storage = Storage.open(address)
    assert storage.url == kept
    assert not storage.is_local


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://host/a", "no place that tables can be kept in"),
        ("s3a://lake/a", "no place that tables can be kept in"),
        ("s3://", "is not a bucket and a path"),
        ("s3:///a", "is not a bucket and a path"),
        ("s3://lake/a%20b", "is not a bucket and a path"),
        ("s3://lake/a?b=c", "is not a bucket and a path"),
        ("s3://key:secret@lake/a", "port or a secret"),
        ("s3://host:9000/lake", "port or a secret"),
        ("gs://me@lake", "port or a secret"),
    ],
)
def test_an_address_that_is_refused(address: str, reason: str) -> None:
    with pytest.raises(WarehouseError, match=reason) as error:
        Storage.open(address)
    assert "secret@" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "told"), [("a%b", "percent sign"), ("a\\b", "backslash")], ids=["percent", "backslash"]
)
def test_a_folder_that_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(WarehouseError, match=f"a folder with a {told} in its path"):
        Storage.open(str(tmp_path / name))


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///srv/my%20l%C3%A4ke/d/g/m/", "/srv/my läke/d/g/m"),
        ("s3://lake/my%20lake/d/g/m/", "lake/my lake/d/g/m"),
        ("abfss://c@acc.dfs.core.windows.net/my%20lake/d/g/m/", "c/my lake/d/g/m"),
    ],
    ids=["folder", "S3", "Azure"],
)
def test_where_a_table_is_by_the_address_that_delta_has_for_it(address: str, path: str) -> None:
    assert Storage.at(address).filesystem()[1] == path


def environment(monkeypatch: pytest.MonkeyPatch, values: Mapping[str, str]) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ALLOW_HTTP", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, {"aws_region": "us-east-1"}),
        ({"AWS_REGION": "eu-west-1"}, {"aws_region": "eu-west-1"}),
        (
            {"AWS_ENDPOINT_URL": "https://s3.example/", "AWS_DEFAULT_REGION": "x"},
            {"aws_region": "x", "aws_endpoint": "https://s3.example"},
        ),
        (
            {"AWS_ENDPOINT_URL": "http://localhost:9000", "AWS_ALLOW_HTTP": "TRUE"},
            {"aws_region": "us-east-1", "aws_endpoint": "http://localhost:9000"},
        ),
    ],
    ids=["Amazon", "a region", "another maker", "plain HTTP"],
)
def test_what_delta_is_told_of_s3(
    monkeypatch: pytest.MonkeyPatch, values: Mapping[str, str], told: Mapping[str, str]
) -> None:
    environment(monkeypatch, values)
    address, options = Storage.open("s3://lake/w").delta("d/t")
    assert address == "s3://lake/w/d/t"
    assert options == {"aws_conditional_put": "etag", **told}


def test_plain_http_must_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, {"AWS_ENDPOINT_URL": "http://localhost:9000"})
    with pytest.raises(WarehouseError, match="AWS_ALLOW_HTTP"):
        Storage.open("s3://lake").filesystem()


def test_paths_in_the_file_systems() -> None:
    assert object_store.filesystem("s3://lake/a/b")[1] == "lake/a/b"
    assert object_store.delta_options("gs://lake/a") == {}
