"""What a mirrored folder does, whatever its store: subclassed, with a fixture ``storage``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heraldry.errors import PipelineError
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.spark.progress_folder import MirroredFolder


class CutOffError(Exception):
    """The machine dies here."""


@dataclass(frozen=True)
class Watched(Storage):
    """A store that notes what is changed in it, and takes only so many changes."""

    changes: list[str] = field(default_factory=list, compare=False)
    limit: int = 10**9

    def write(self, path: str, data: bytes) -> None:
        self._change(f"+{path}")
        super().write(path, data)

    def delete(self, path: str) -> None:
        self._change(f"-{path}")
        super().delete(path)

    def _change(self, told: str) -> None:
        if len(self.changes) >= self.limit:
            raise CutOffError
        self.changes.append(told)


def put(folder: Path, *paths: str) -> None:
    """Write files as Spark does: each with its checksum, from a draft of its own."""
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"this is {path}")
        target.with_name(f".{target.name}.crc").write_text("sum")
        target.with_name(f".{target.name}.0815.tmp").write_text("draft")


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


class MirroredFolderBehaviour:
    """Only what is new, in an order that a crash may cut anywhere; nobody else's files."""

    def mirrored(self, storage: Storage, folder: Path) -> MirroredFolder:
        folder.mkdir(exist_ok=True)
        made = MirroredFolder(storage, folder)
        made.restore()
        return made

    def test_what_is_new_goes_up_in_order(self, storage: Storage, tmp_path: Path) -> None:
        store, here = Watched(storage.url), tmp_path / "here"
        progress = self.mirrored(store, here)
        put(here, "offsets/0", "sources/0/0", "metadata")
        progress.keep()
        assert store.changes == ["+metadata", "+sources/0/0", "+offsets/0"]
        store.changes.clear()
        progress.keep()
        assert store.changes == []
        put(here, "commits/0", "offsets/1", "sources/0/1", "sources/1/0")
        progress.keep()
        assert store.changes == ["+sources/0/1", "+sources/1/0", "+offsets/1", "+commits/0"]

    def test_where_sources_begin_goes_up_before_the_first_batch(
        self, storage: Storage, tmp_path: Path
    ) -> None:
        store, here = Watched(storage.url), tmp_path / "here"
        progress = self.mirrored(store, here)
        put(here, "metadata", "sources/0/0", "offsets/0")
        progress.begin()
        assert store.changes == ["+metadata", "+sources/0/0"]
        progress.keep()
        assert store.changes[2:] == ["+offsets/0"]

    def test_numbers_count_as_numbers(self, storage: Storage, tmp_path: Path) -> None:
        store, here = Watched(storage.url), tmp_path / "here"
        progress = self.mirrored(store, here)
        put(here, "offsets/10", "offsets/9", "commits/9")
        progress.keep()
        assert store.changes == ["+offsets/9", "+offsets/10", "+commits/9"]

    def test_what_spark_removes_is_removed_after_the_rest(
        self, storage: Storage, tmp_path: Path
    ) -> None:
        store, here = Watched(storage.url), tmp_path / "here"
        progress = self.mirrored(store, here)
        put(here, "sources/0/8", "sources/0/9", "offsets/8")
        progress.keep()
        store.changes.clear()
        put(here, "sources/0/10.compact", "offsets/9")
        (here / "sources/0/8").unlink()
        (here / "offsets/8").unlink()
        progress.keep()
        assert store.changes[:2] == ["+sources/0/10.compact", "+offsets/9"]
        assert sorted(store.changes[2:]) == ["-offsets/8", "-sources/0/8"]
        assert storage.names("offsets") == ["9"]

    def test_another_machine_goes_on(self, storage: Storage, tmp_path: Path) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        progress = self.mirrored(storage, first)
        put(first, "metadata", "sources/0/0", "offsets/0")
        progress.keep()
        store = Watched(storage.url)
        progress = self.mirrored(store, second)
        names = ("metadata", "offsets/0", "sources/0/0")
        assert content(second) == {name: f"this is {name}" for name in names}
        put(second, "offsets/1", "commits/0")
        (second / "offsets/0").unlink()
        progress.keep()
        assert store.changes == ["+offsets/1", "+commits/0", "-offsets/0"]

    def test_the_ledger_beside_is_left_alone(self, storage: Storage, tmp_path: Path) -> None:
        others = ("heraldry/job", "heraldry/batches/000000000000.json", "replay/heraldry/job")
        for path in others:
            storage.write(path, b"x")
        progress = self.mirrored(storage, tmp_path / "here")
        assert content(tmp_path / "here") == {}
        put(tmp_path / "here", "metadata", "offsets/0")
        progress.keep()
        assert {file.path for file in storage.walk("")} == {*others, "metadata", "offsets/0"}

    def test_a_run_that_was_overtaken_changes_nothing(
        self, storage: Storage, tmp_path: Path
    ) -> None:
        """It hung before it copied the offsets of a batch, which another run has planned since."""
        hung = self.mirrored(storage, tmp_path / "hung")
        put(tmp_path / "hung", "sources/0/0", "offsets/0")
        storage.write("offsets/0", b"others")
        with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
            hung.keep()
        assert storage.read("offsets/0") == b"others"
        assert storage.names("sources") == []

    def test_a_folder_that_was_emptied_empties_no_store(
        self, storage: Storage, tmp_path: Path
    ) -> None:
        """A machine may tidy its temporary files while a job streams."""
        progress = self.mirrored(storage, tmp_path / "here")
        put(tmp_path / "here", "metadata", "offsets/0")
        progress.keep()
        (tmp_path / "here" / "metadata").unlink()
        with pytest.raises(PipelineError, match="was emptied by somebody else"):
            progress.keep()
        assert storage.read("metadata") == b"this is metadata"
