"""Where Spark keeps its own progress: in the checkpoint, or in a folder mirrored to object storage.

with progress_folder(ledger) as progress:
    start_query(..., progress.location)     # made anew from what the store has
    progress.keep()                         # in every batch, before anything of it is decided

Spark writes to a store only by Hadoop's clients for it. Here it writes to a folder of the driver,
and each of its files is copied once: so any machine can go on, and no jar is needed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from threading import Lock

from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage

_PARTS = ("metadata", "sources", "offsets", "commits")
"""What Spark keeps, in the order of copying: a batch has its offsets before it can be done."""
_BEGIN = ("metadata", "sources/")
_AT_ONCE = 16


class ProgressFolder:
    """The checkpoint itself, where that is a folder that Spark can write to."""

    def __init__(self, location: str) -> None:
        self.location = location
        """The folder as Spark is told of it."""

    def begin(self) -> None:
        """Where the sources begin is kept where it belongs, also before the first batch."""

    def keep(self) -> None:
        """What Spark has written is where it belongs."""


class MirroredFolder(ProgressFolder):
    """A folder of this machine whose files are copied to a store, each once.

    Spark never changes a file that it has written. Hidden files are left out: they are drafts, and
    checksums that Spark does without where there are none.
    """

    def __init__(self, store: Storage, folder: Path) -> None:
        # With its scheme: on a cluster a bare path may mean another file system.
        super().__init__(f"file://{folder}")
        self._store, self._folder = store, folder
        self._kept: set[str] = set()
        self._lock = Lock()

    def restore(self) -> None:
        """Make the folder, which is empty, from what the store has."""
        with self._told():
            paths = [path for part in _PARTS for path in _stored(self._store, part)]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for path, data in zip(paths, pool.map(self._store.read, paths), strict=True):
                    if data is not None:
                        target = self._folder / path
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(data)
                        self._kept.add(path)

    def begin(self) -> None:
        """Copy where the sources begin: a source that starts at its end would start later.

        Batches may be planned meanwhile, so nothing of them is looked at.
        """
        with self._lock, self._told():
            self._copy({path for path in self._files() if path.startswith(_BEGIN)} - self._kept)

    def keep(self) -> None:
        """Copy what is new to the store, then remove from there what Spark has removed here.

        Killed amid that, the next run finds the offsets of a batch and takes it up with them, or
        finds none and plans it anew; nothing of it was decided then.
        """
        with self._lock, self._told():
            here = set(self._files())
            if {_parent(path) for path in self._kept} - {_parent(path) for path in here}:
                reason = f"{self._folder} was emptied by somebody else"
                raise PipelineError("kept its progress", reason)
            self._copy(here - self._kept)
            for path in self._kept - here:
                self._store.delete(path)
            self._kept = here

    def _copy(self, new: set[str]) -> None:
        fresh = {path: (self._folder / path).read_bytes() for path in _ordered(new)}
        for path, data in fresh.items():
            if self._store.read(path) not in (None, data):
                # This run hung, lost its lease, and woke up: what it planned counts no more.
                reason = "another job has gone on with this checkpoint"
                raise PipelineError("kept its progress", reason)
        for path, data in fresh.items():
            self._store.write(path, data)
            self._kept.add(path)

    def _files(self) -> Iterator[str]:
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = Path(folder, name).relative_to(self._folder)
                if path.parts[0] in _PARTS and not name.startswith("."):
                    yield path.as_posix()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PipelineError(f"kept its progress in {self._store.url}", str(error)) from error


@contextmanager
def progress_folder(ledger: Ledger) -> Iterator[ProgressFolder]:
    """The folder that Spark is told of for a checkpoint; a mirrored one is gone afterwards."""
    location, checkpoint = spark_location(ledger), ledger.storage
    if checkpoint.is_local:
        yield ProgressFolder(location)
        return
    prefix = "heraldry-progress-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        mirrored = MirroredFolder(checkpoint, Path(folder).resolve())
        mirrored.restore()
        yield mirrored


def spark_location(ledger: Ledger) -> str:
    """The checkpoint itself as Spark is told of it, fit to go on from; WarehouseError if it is not.

    With its scheme: on a cluster a bare path may mean another file system. As it is: Hadoop takes
    a percent sign for one.
    """
    store, last = ledger.storage, ledger.last
    if store.is_local:
        _mend(store, -1 if last is None else last)
    if last is not None and not store.size(f"offsets/{last}"):
        # Spark would plan the batch anew, and its new messages would count as landed.
        reason = f"batch {last} is decided here, but Spark's progress (offsets/{last}) is gone"
        advice = "restore the checkpoint; a new one (--checkpoint) reads its source anew"
        raise WarehouseError(store.url, reason, advice)
    return f"file://{store.url}" if store.is_local else store.url


def _mend(store: Storage, decided: int) -> None:
    """Remove what a power cut has left empty, and plan what comes after the last decision anew.

    Spark does not wait for the disk. Who decides a batch does, for all that was written until
    then: nothing that is decided rests on an empty file.
    """
    empty = [path for path, size in _newest(store, decided).items() if not size]
    if any(not path.startswith("commits/") for path in empty):
        for part in ("commits", "offsets"):
            undecided = (number for number in _numbers(store, part) if number > decided)
            empty += [f"{part}/{number}" for number in undecided]
    for path in empty:
        folder, _, name = path.rpartition("/")
        store.delete(path)
        store.delete(f"{folder}/.{name}.crc".lstrip("/"))


def _newest(store: Storage, decided: int) -> dict[str, int | None]:
    """The files of Spark that may not be on the disk yet, each with its bytes."""
    found = ["metadata"] if decided < 0 and store.exists("metadata") else []
    found += [f"commits/{number}" for number in _numbers(store, "commits") if number >= decided]
    found += [f"offsets/{number}" for number in _numbers(store, "offsets") if number > decided]
    for source in store.names("sources"):
        names = [name for name in store.names(f"sources/{source}") if _number(name) >= 0]
        found += [f"sources/{source}/{name}" for name in sorted(names, key=_number)[-1:]]
    return {path: store.size(path) for path in found}


def _numbers(store: Storage, folder: str) -> list[int]:
    return [number for name in store.names(folder) if (number := _number(name)) >= 0]


def _number(name: str) -> int:
    """The number that a file of Spark has for a name, or -1; a source's may be of several files."""
    number = name.removesuffix(".compact")
    return int(number) if number.isdecimal() else -1


def _stored(store: Storage, part: str) -> list[str]:
    if part == "metadata":
        return [part]
    return [f"{part}/{file.path}" for file in store.walk(part)]


def _parent(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _ordered(paths: set[str]) -> list[str]:
    """Part by part; of the numbers that files have for names, the short ones are the first."""
    return sorted(paths, key=lambda path: (_PARTS.index(path.split("/")[0]), len(path), path))
