"""Committing the files of a batch to many tables: each once, and cheaply while nobody interferes.

delta-rs reads a table's log from its last checkpoint on for every commit, which at a thousand
tables costs more than judging a million messages. A job that is the last to have written to a
table knows where the table stands: it adds the next entry to the log itself, by the rule of the
Delta protocol that an entry is made once or not at all. Whenever someone else was there first, on
object storage, and for tables with protocols beyond the plain one, delta-rs commits.
"""

from __future__ import annotations

import json
import os
import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import DeltaTable

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.layout import DEFINITION_KEY, NAME_KEY
from heraldry.pipeline.lake.storage import Storage

CHECKPOINT_EVERY = 20
"""About so many entries of a log readers have to read one by one at most."""

_NO_BATCH = -1
_READER, _WRITER = 1, 2
"""The versions of the Delta protocol that tables are made with, and that entries are for."""


@dataclass(slots=True)
class Committer:
    """Commits the batches of one job; remembers the version that each table has after it."""

    storage: Storage
    job: str
    _versions: dict[str, tuple[int, int]] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)
    _drafts: dict[str, str] = field(default_factory=dict)

    def draft(self, path: str, configuration: Mapping[str, str], file: DataFile) -> bool:
        """Write the first entry of a table that is not there, for :meth:`make`: whether it is one.

        Once its storage is settled, a power cut cannot leave the entry's name without its content:
        no table could be read or made from that. Drafts of many tables are settled in one go.
        """
        if not self.storage.is_local or path in self._made:
            return False
        if delta.open_table(self.storage, path) is not None:
            return False
        columns = delta.schema_of_file(self.storage, path, file)
        os.makedirs(_log(self.storage, path), exist_ok=True)
        self._drafts[path] = _draft(self.storage, path, _creation(columns, configuration))
        return True

    def make(self, path: str, configuration: Mapping[str, str], file: DataFile) -> bool:
        """Make a table without rows where there is none: whether it is one for files like this.

        Who is first makes it. Any table made thus is for this job's files for ever: tables only
        gain columns.
        """
        if path in self._made:
            return True
        draft = self._drafts.pop(path, None)
        if draft is not None and _link(draft, 0):
            return self._first(path)
        # The files know their columns; the catalog may have changed since they were written.
        columns = delta.schema_of_file(self.storage, path, file)
        table = delta.open_table(self.storage, path)
        if table is None:
            if _append(self.storage, path, 0, _creation(columns, configuration)):
                return self._first(path)
            table = delta.create_table(self.storage, path, columns, configuration)
        if not delta.is_made_for(table, columns, configuration):
            return False
        self._made.add(path)
        return True

    def _first(self, path: str) -> bool:
        self._versions[path] = (0, _NO_BATCH)
        self._made.add(path)
        return True

    def commit(
        self,
        path: str,
        configuration: Mapping[str, str],
        files: Sequence[DataFile],
        batch: int,
    ) -> int:
        """Add a batch's files in one commit: the version of the table that has them.

        The transaction identifier in the same entry makes it happen once, however often a batch is
        tried again.
        """
        version, done = self._versions.get(path, (-1, _NO_BATCH))
        if version >= 0:
            if done >= batch:
                return version
            if _append(self.storage, path, version + 1, self._entry(files, batch)):
                return self._note(path, version + 1, batch)
        # The transaction identifier is looked at again, too.
        return delta.tried(partial(self._open_and_commit, path, configuration, files, batch))

    def _open_and_commit(
        self,
        path: str,
        configuration: Mapping[str, str],
        files: Sequence[DataFile],
        batch: int,
    ) -> int:
        table = delta.open_table(self.storage, path)
        if table is None:
            # Somebody has removed it, or the batch was decided before tables were made first.
            columns = delta.schema_of_file(self.storage, path, files[0])
            made = [*_creation(columns, configuration), *self._entry(files, batch)]
            if _append(self.storage, path, 0, made):
                return self._note(path, 0, batch)
            table = delta.create_table(self.storage, path, columns, configuration)
        if delta.is_committed(table, self.job, batch):
            return table.version()
        following = table.version() + 1
        plain = _is_plain(table)
        if plain and _append(self.storage, path, following, self._entry(files, batch)):
            return self._note(path, following, batch)
        table.update_incremental()
        version = delta.commit_files(table, files, self.job, batch)
        return self._note(path, version, batch) if plain else version

    def _note(self, path: str, version: int, batch: int) -> int:
        if self.storage.is_local:
            self._versions[path] = (version, batch)
        # Not all tables in the same batch, and none that has had its first one only.
        if version > 1 and (version + zlib.crc32(path.encode())) % CHECKPOINT_EVERY == 0:
            table = delta.open_table(self.storage, path)
            if table is not None:
                table.create_checkpoint()
        return version

    def _entry(self, files: Sequence[DataFile], batch: int) -> list[dict[str, Any]]:
        now = int(time.time() * 1000)
        told = {"mode": "Append", "partitionBy": "[]"}
        info = {"timestamp": now, "operation": "WRITE", "operationParameters": told}
        added = [
            {
                "path": file.name.replace("%", "%25"),
                "partitionValues": json.loads(file.partition),
                "size": file.size,
                "modificationTime": now,
                "dataChange": True,
                "stats": file.stats or json.dumps({"numRecords": file.rows}),
            }
            for file in files
        ]
        return [
            {"commitInfo": {**info, "engineInfo": "heraldry"}},
            {"txn": {"appId": self.job, "version": batch, "lastUpdated": now}},
            *({"add": one} for one in added),
        ]


def _creation(columns: pa.Schema, configuration: Mapping[str, str]) -> list[dict[str, Any]]:
    """The first words of a table's log: its protocol, and what it is."""
    name = configuration.get(NAME_KEY)
    metadata = {
        "id": str(uuid.uuid4()),
        "name": ".".join(json.loads(name)) if name else None,
        "description": configuration.get(DEFINITION_KEY),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": delta.table_schema(columns, configuration).to_json(),
        "partitionColumns": list(Arrangement.read(configuration).names),
        "configuration": delta.kept(configuration),
        "createdTime": int(time.time() * 1000),
    }
    protocol = {"minReaderVersion": _READER, "minWriterVersion": _WRITER}
    return [{"protocol": protocol}, {"metaData": metadata}]


def _is_plain(table: DeltaTable) -> bool:
    """Whether nothing but the plain protocol is asked of those who write to a table."""
    protocol = table.protocol()
    return protocol.min_reader_version <= _READER and protocol.min_writer_version <= _WRITER


def _append(storage: Storage, path: str, version: int, entry: Sequence[Mapping[str, Any]]) -> bool:
    """Make an entry of a table's log whole, after the one before it.

    False where there is one already, where the one before is gone, and on object storage.
    """
    if not storage.is_local:
        return False
    folder = _log(storage, path)
    if not version:
        os.makedirs(folder, exist_ok=True)
    elif not os.path.exists(_entry_path(folder, version - 1)):
        return False
    # The first entry is what a table is: without its content, nobody could go on from its name.
    return _link(_draft(storage, path, entry, settled=not version), version)


def _draft(
    storage: Storage, path: str, entry: Sequence[Mapping[str, Any]], *, settled: bool = False
) -> str:
    """Write an entry of a table's log under a name that nobody reads."""
    draft = os.path.join(_log(storage, path), f".{uuid.uuid4()}.draft")
    with open(draft, "wb") as handle:
        handle.write(b"\n".join(msgspec.json.encode(action) for action in entry))
        if settled:
            handle.flush()
            os.fsync(handle.fileno())
    return draft


def _link(draft: str, version: int) -> bool:
    """Have a draft be an entry of its log: whether there was none yet."""
    try:
        # A link, unlike a renaming, never takes the place of another's entry.
        os.link(draft, _entry_path(os.path.dirname(draft), version))
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
    return True


def _log(storage: Storage, path: str) -> str:
    return os.path.join(storage.url, path, "_delta_log")


def _entry_path(folder: str, version: int) -> str:
    return os.path.join(folder, f"{version:020d}.json")
