"""The batch ledger: a batch is prepared once, committed once, whatever kills the job.

A batch first writes its data files, then its manifest (one atomic rename), then one commit per
table. Whoever finds a manifest finishes those commits and judges nothing again: a catalog that
changed in between can therefore neither lose nor double a message.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from heraldry.errors import WarehouseError

_KEEP = 100


class ManifestFile(msgspec.Struct, frozen=True):
    """One data file of a batch."""

    table: str
    name: str
    rows: int
    size: int


class Manifest(msgspec.Struct, frozen=True):
    """Everything a batch wrote; ``tables`` maps a table's path to its configuration."""

    batch: int
    files: tuple[ManifestFile, ...]
    tables: Mapping[str, Mapping[str, str]]
    committed: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger in a checkpoint folder; ``job`` names it in every table's transaction log."""

    folder: Path
    job: str

    @classmethod
    def open(cls, checkpoint: str) -> Ledger:
        """Open or begin the ledger of a checkpoint."""
        folder = Path(checkpoint) / "heraldry"
        (folder / "batches").mkdir(parents=True, exist_ok=True)
        identity = folder / "job"
        if not identity.exists():
            _replace(identity, f"heraldry-{uuid.uuid4()}".encode())
        return cls(folder, identity.read_text())

    def bind(self, warehouse: str) -> None:
        """A checkpoint belongs to one warehouse: with another, messages would be lost."""
        owner = self.folder / "warehouse"
        if not owner.exists():
            _replace(owner, warehouse.encode())
        elif owner.read_text() != warehouse:
            reason = f"this checkpoint belongs to the warehouse {owner.read_text()}"
            raise WarehouseError(str(self.folder.parent), reason, "give another --checkpoint")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One writer at a time: the lock dies with its process, also by SIGKILL."""
        with (self.folder / "lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                reason = "another job is landing with this checkpoint"
                raise WarehouseError(
                    str(self.folder.parent), reason, "wait for it, or give another --checkpoint"
                ) from error
            yield

    def manifest(self, batch: int) -> Manifest | None:
        """The manifest of a batch that was prepared, or None."""
        try:
            return msgspec.json.decode(self._path(batch).read_bytes(), type=Manifest)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            reason = f"the manifest of batch {batch} cannot be read: {error}"
            raise WarehouseError(str(self._path(batch)), reason) from error

    def pending(self) -> Manifest | None:
        """The manifest of a batch that was prepared but not committed: only the last can be."""
        last = max((self.folder / "batches").glob("*.json"), default=None)
        found = self.manifest(int(last.stem)) if last is not None else None
        return found if found is not None and not found.committed else None

    def prepare(self, manifest: Manifest) -> None:
        """Write a manifest: from here on the batch is decided."""
        _replace(self._path(manifest.batch), msgspec.json.encode(manifest))

    def commit(self, manifest: Manifest) -> None:
        """Mark a batch as committed and forget manifests long past."""
        self.prepare(msgspec.structs.replace(manifest, committed=True))
        old = self._path(manifest.batch - _KEEP)
        old.unlink(missing_ok=True)

    def _path(self, batch: int) -> Path:
        return self.folder / "batches" / f"{batch:012d}.json"


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut."""
    draft = path.with_suffix(".draft")
    with draft.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(path)
