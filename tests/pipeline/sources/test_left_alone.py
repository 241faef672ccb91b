"""What is told of a folder whose files are not read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from heraldry.pipeline.sources.left_alone import EmptyFiles, below, tell_left_alone
from heraldry.pipeline.sources.stored_files import LOG

NAMES = (
    "names must end with .jsonl, .ndjson, .json, .parquet, .avro, or lines with .gz, .bz2, .zst"
    " behind that, and not begin with . or _"
)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        pytest.param([], None, id="none"),
        pytest.param(["a.jsonl", "b.txt"], None, id="one-is-read"),
        pytest.param(["b.txt", "deep/A.JSONL"], None, id="one-is-read-in-capitals"),
        pytest.param(["a.txt"], f"1 file is left alone (a.txt): {NAMES}", id="another-ending"),
        pytest.param(["part-0000"], f"1 file is left alone (part-0000): {NAMES}", id="no-ending"),
        pytest.param(["_x.jsonl"], f"1 file is left alone (_x.jsonl): {NAMES}", id="private"),
        pytest.param(
            ["_x/a.json", "b.csv"],
            f"2 files are left alone (_x/a.json, b.csv): {NAMES}",
            id="in-a-private-folder",
        ),
        pytest.param([".gitkeep", "_SUCCESS"], None, id="marks"),
        pytest.param(
            ["e.txt", "c.txt", "b/d.txt", "a.gz"],
            f"4 files are left alone (a.gz, b/d.txt, c.txt, ...): {NAMES}",
            id="several",
        ),
    ],
)
def test_a_folder_of_which_nothing_is_read(
    tmp_path: Path, names: list[str], told: str | None
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"1")
    heard: list[str] = []
    with FilesSource(str(folder), LandSettings(source="files", warehouse="w")).open(heard.append):
        assert heard == ([told] if told else [])
    stored: list[str] = []
    tell_left_alone((file.path for file in Storage.open(str(folder)).walk("")), stored.append)
    assert stored == heard


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.jsonl").touch()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    assert list(below(str(tmp_path / "in"))) == ["link/a.jsonl"]


def test_links_may_go_round(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).symlink_to(folder)
    (folder / "b.txt").touch()
    heard: list[str] = []
    tell_left_alone(below(str(folder)), heard.append)
    assert heard[0].startswith("20,000 files are left alone (b.txt, ")


def test_a_store_that_is_known_is_not_listed_again(tmp_path: Path) -> None:
    """One that is away is told by whoever reads it."""
    heard: list[str] = []
    checkpoint = str(tmp_path / "checkpoint")
    settings = LandSettings(source="files", warehouse="w", checkpoint=checkpoint)
    Storage.open(checkpoint).write(f"{LOG}/000000000000.json", b"[]")
    with FilesSource("s3://nowhere/in", settings).open(heard.append):
        assert heard == []


READ = "as read, also when filled later: write files under another name and rename them"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        pytest.param(["a.parquet"], f"a.parquet is empty and counts {READ}", id="parquet"),
        pytest.param(["deep/A.AVRO"], f"deep/A.AVRO is empty and counts {READ}", id="avro"),
        pytest.param(["a.jsonl.gz"], f"a.jsonl.gz is empty and counts {READ}", id="packed"),
        pytest.param(["a.json"], f"a.json is empty and counts {READ}", id="json"),
        pytest.param(
            ["d.json", "c.json", "b.json", "a.json"],
            f"4 files are empty (a.json, b.json, c.json, ...) and count {READ}",
            id="several",
        ),
        pytest.param(["a.jsonl", "b.NDJSON"], None, id="lines-that-have-settled"),
        pytest.param(["_a.parquet", ".b.parquet", "c.parquet.tmp"], None, id="drafts"),
    ],
)
def test_empty_files_are_told(tmp_path: Path, names: list[str], told: str | None) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "full.jsonl").write_bytes(b"1")
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - 3700))
    heard: list[str] = []
    EmptyFiles(str(tmp_path), heard.append).look()
    assert heard == ([told] if told else [])


def test_an_empty_file_is_told_before_each_batch_but_once(tmp_path: Path) -> None:
    """Lines too, while they may still be under way."""
    heard: list[str] = []
    source = FilesSource(str(tmp_path), LandSettings(source="files", warehouse="w"))
    with source.open(heard.append):
        assert heard == []
        for name in ("a.parquet", "b.jsonl"):
            (tmp_path / name).touch()
            source.reader()
            source.reader()
        assert heard == [f"{name} is empty and counts {READ}" for name in ("a.parquet", "b.jsonl")]
    (tmp_path / "c.json").touch()
    source.reader()
    assert len(heard) == 2


def test_what_is_gone_is_not_empty(tmp_path: Path) -> None:
    heard: list[str] = []
    EmptyFiles(str(tmp_path / "gone"), heard.append).look()
    (tmp_path / "a.json").symlink_to(tmp_path / "gone")
    EmptyFiles(str(tmp_path), heard.append).look()
    assert heard == []
