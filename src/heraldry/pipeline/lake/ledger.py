"""The job's own ledger: a batch is prepared once, committed once, whatever kills the job.

A batch first writes its data files, then its manifest (one atomic write), then one commit per
table. Whoever finds a manifest finishes those commits and judges nothing again: a catalog that
changed in between can therefore neither lose nor double a message.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import msgspec

from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake.storage import Storage

_KEEP = 100
_BATCHES = "heraldry/batches"
_PATIENCE = 300.0
_BUSY = "another job is landing with this checkpoint"
_ADVICE = "wait for it; a job of another source needs a --checkpoint of its own"


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One data file of a batch; ``partition`` and ``stats`` are what its commit says of it.

    ``definition`` is the one that its rows are of, where the table is named after another.
    """

    table: str
    name: str
    rows: int
    size: int
    partition: str = "{}"
    stats: str = ""
    definition: str = ""


class DeprecatedRows(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Rows that landed of a deprecated definition, and what its notice says."""

    rows: int
    removal: str = ""
    alternative: str = ""
    documentation: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything a batch wrote; ``tables`` maps a table's path to its configuration.

    ``repeated`` counts what had come before, ``reasons`` the dead letters by rule, ``nearest`` by
    definition; ``catalog`` is the digest of the catalog that judged, ``newest`` the latest event
    time, ``deprecated`` what landed of definitions that were so then.
    """

    batch: int
    files: tuple[ManifestFile, ...]
    tables: Mapping[str, Mapping[str, str]]
    committed: bool = False
    run: str = ""
    catalog: str = ""
    seconds: float = 0.0
    repeated: int = 0
    reasons: Mapping[str, int] = {}
    nearest: Mapping[str, int] = {}
    newest: datetime | None = None
    lag: int | None = None
    deprecated: Mapping[str, DeprecatedRows] = {}


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger in a checkpoint folder; ``job`` names it in every table's transaction log."""

    storage: Storage
    job: str

    @classmethod
    def open(cls, checkpoint: str) -> Ledger:
        """Open or begin the ledger of a checkpoint; of two that begin it at once one names it."""
        storage = Storage.open(checkpoint)
        name = storage.read("heraldry/job")
        if name is None:
            with storage.locked("heraldry/beginning") as free:
                if not free:
                    raise WarehouseError(storage.url, _BUSY, _ADVICE)
                name = storage.read("heraldry/job")
                if name is None:
                    name = f"heraldry-{uuid.uuid4()}".encode()
                    storage.write("heraldry/job", name)
        return cls(storage, name.decode())

    @classmethod
    def find(cls, checkpoint: str) -> Ledger | None:
        """The ledger of a checkpoint, or None where none was begun; nothing is written."""
        storage = Storage.open(checkpoint)
        name = storage.read("heraldry/job")
        return None if name is None else cls(storage, name.decode())

    def bind(self, warehouse: str) -> None:
        """A checkpoint belongs to one warehouse: with another, messages would be lost."""
        owner = self.storage.read("heraldry/warehouse")
        if owner is None:
            self.storage.write("heraldry/warehouse", warehouse.encode())
        elif owner.decode() != warehouse:
            reason = f"this checkpoint belongs to the warehouse {owner.decode()}"
            raise WarehouseError(self.storage.url, reason, "give another --checkpoint")

    @contextmanager
    def locked(self, busy: str = _BUSY, advice: str = _ADVICE) -> Iterator[None]:
        """One writer at a time: the lock dies with its process, also by SIGKILL.

        Whoever comes second is told that another is ``busy``, and what helps.
        """
        with self.storage.locked("heraldry/lock") as free:
            if not free:
                raise WarehouseError(self.storage.url, busy, advice)
            yield

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """One at a time looks identities up and decides: a job, or a replay of its letters."""
        end = time.monotonic() + _PATIENCE
        while True:
            with self.storage.locked("heraldry/deciding") as free:
                if free:
                    yield
                    return
            if time.monotonic() > end:
                reason = "another job or replay takes very long to decide a batch"
                raise WarehouseError(self.storage.url, reason, "try again")
            time.sleep(0.05)

    @property
    def last(self) -> int | None:
        """The number of the last batch that was decided, or None before the first."""
        names = [name for name in self.storage.names(_BATCHES) if name.endswith(".json")]
        return int(names[-1].removesuffix(".json")) if names else None

    def manifest(self, batch: int) -> Manifest | None:
        """The manifest of a batch that was prepared, or None."""
        data = self.storage.read(_path(batch))
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=Manifest)
        except msgspec.DecodeError as error:
            reason = f"the manifest of batch {batch} cannot be read: {error}"
            raise WarehouseError(self.storage.join(_path(batch)), reason) from error

    def pending(self) -> Manifest | None:
        """The manifest of a batch that was prepared but not committed: only the last can be."""
        last = self.last
        found = self.manifest(last) if last is not None else None
        return found if found is not None and not found.committed else None

    def before(self, batch: int) -> Iterator[Manifest]:
        """The manifests before a batch, the last one first, as far back as they are kept."""
        for number in range(batch - 1, max(batch - 1 - _KEEP, -1), -1):
            found = self.manifest(number)
            if found is None:
                return
            yield found

    def prepare(self, manifest: Manifest) -> None:
        """Write a manifest: from here on the batch is decided. It is decided once."""
        self.confirm(manifest)
        self._write(manifest)

    def confirm(self, manifest: Manifest) -> None:
        """Refuse to go on with a batch that stands otherwise: who hung may have lost its lease.

        The manifest of one that others went on from may be forgotten by now.
        """
        standing = self.manifest(manifest.batch)
        if standing is None and (self.last or 0) > manifest.batch:
            raise _taken_over(manifest)
        if standing is not None and _open(standing) != _open(manifest):
            raise _taken_over(manifest)

    def commit(self, manifest: Manifest) -> None:
        """Mark a batch as committed and forget manifests long past."""
        self.confirm(manifest)
        self._write(msgspec.structs.replace(manifest, committed=True))
        self.storage.delete(_path(manifest.batch - _KEEP))

    def _write(self, manifest: Manifest) -> None:
        self.storage.write(_path(manifest.batch), msgspec.json.encode(manifest))


def _open(manifest: Manifest) -> Manifest:
    """What was decided, whether it is committed or not."""
    return msgspec.structs.replace(manifest, committed=False)


def _taken_over(manifest: Manifest) -> PipelineError:
    reason = "another job has gone on with this checkpoint"
    return PipelineError(f"decided batch {manifest.batch}", reason)


def _path(batch: int) -> str:
    return f"{_BATCHES}/{batch:012d}.json"
