"""What is told of a folder whose files are not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from heraldry.pipeline.sources.left_alone import below, tell_left_alone
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
