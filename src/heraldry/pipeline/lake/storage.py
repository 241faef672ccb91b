"""Where tables and checkpoints are kept: a local folder, or object storage by its address.

lake = Storage.open("s3://bucket/lake")          # or a path: Storage.open("lake")
lake.write("_checkpoint/x.json", b"{}")          # whole or not at all
lake.read("_checkpoint/x.json")                  # bytes, or None
lake.delta("default/g/m")                        # (url, options) as delta-rs wants them
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake import object_store

_SYNCFS = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
"""Writes one file system to its disk; where there is none, all of them are written."""
_MOMENT = 0.5
"""For so many seconds a lock must have been held to count as held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One file: its path below where it was looked for, its bytes, and when it was written."""

    path: str
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Storage:
    """A root folder; travels to workers by pickle. Paths below it are relative, with ``/``.

    Credentials and endpoint of object storage come from the environment only, as the makers'
    tools name them (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``,
    ``AWS_ENDPOINT_URL``, ``AWS_ALLOW_HTTP``).
    """

    url: str

    @classmethod
    def open(cls, place: str) -> Storage:
        """A folder by path (made absolute) or by address; WarehouseError for what cannot be."""
        if "://" in place:
            return cls(object_store.check_address(place))
        path = os.path.abspath(place)
        for mark, name in (("%", "percent sign"), ("\\", "backslash")):
            if mark in path:
                reason = f"a folder with a {name} in its path cannot hold Delta tables"
                raise WarehouseError(path, reason, "choose another folder")
        return cls(path)

    @classmethod
    def at(cls, address: str) -> Storage:
        """A folder by the address that delta-rs has for it: with percent signs, and ``file://``."""
        return cls(unquote(address).removeprefix("file://").rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return "://" not in self.url

    def filesystem(self) -> tuple[fs.FileSystem, str]:
        """Arrow's file system, and the path of the root in it."""
        if self.is_local:
            return fs.LocalFileSystem(), self.url
        return object_store.filesystem(self.url)

    def join(self, *parts: str) -> str:
        """The full path or address of something below."""
        return "/".join((self.url.rstrip("/"), *parts))

    def delta(self, path: str) -> tuple[str, Mapping[str, str]]:
        """What delta-rs is given for a table below: its address and storage options."""
        return self.join(path), {} if self.is_local else object_store.delta_options(self.url)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None where there is none."""
        system, root = self.filesystem()
        try:
            with system.open_input_file(f"{root}/{path}") as handle:
                data: bytes = handle.read()
                return data
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes) -> None:
        """Write a file so that it is there whole or not at all, also after a power cut."""
        if not self.is_local:
            # An object is there when its upload has ended, and not before.
            with self.sink(path) as stream:
                stream.write(data)
            return
        target = os.path.join(self.url, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        draft = f"{target}.draft"
        with open(draft, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(draft, target)
        _settle_folder(os.path.dirname(target))

    def settle(self) -> None:
        """Wait until all that was written is on the disk, in one go: files are many and small.

        What is on object storage is there when its upload has ended.
        """
        if self.is_local and os.path.isdir(self.url):
            with _opened(self.url) as folder:
                _settle(folder)

    def names(self, path: str) -> list[str]:
        """The names of what is directly in a folder, sorted; none where there is no folder."""
        return sorted(str(info.base_name) for info in self._below(path, recursive=False))

    def walk(self, path: str) -> Iterator[StoredFile]:
        """Every file below a folder, in the order of their paths; none where there is no folder."""
        _, root = self.filesystem()
        start = len(f"{root}/{path}".rstrip("/")) + 1
        for info in sorted(self._below(path, recursive=True), key=lambda info: str(info.path)):
            if info.type == fs.FileType.File:
                yield _stored(info, info.path[start:])

    def stat(self, path: str) -> StoredFile | None:
        """What is known of a file, or None where there is none."""
        system, root = self.filesystem()
        info = system.get_file_info(f"{root}/{path}")
        return _stored(info, path) if info.type == fs.FileType.File else None

    def exists(self, path: str) -> bool:
        """Whether there is a file, or a folder with something in it."""
        system, root = self.filesystem()
        return bool(system.get_file_info(f"{root}/{path}".rstrip("/")).type != fs.FileType.NotFound)

    def size(self, path: str) -> int | None:
        """The bytes of a file, or None where there is none."""
        found = self.stat(path)
        return None if found is None else found.size

    def delete(self, path: str) -> None:
        """Remove a file; it is no error where there is none."""
        system, root = self.filesystem()
        try:
            system.delete_file(f"{root}/{path}")
        except FileNotFoundError:
            return

    def delete_tree(self, path: str) -> None:
        """Remove a folder with all that is in it; it is no error where there is none."""
        system, root = self.filesystem()
        try:
            system.delete_dir(f"{root}/{path}")
        except FileNotFoundError:
            return

    @contextmanager
    def locked(self, path: str) -> Iterator[bool]:
        """Hold a lock, or give False where another process has it and keeps it.

        On this machine it dies with its process; on object storage it is a lease.
        """
        if not self.is_local:
            from heraldry.pipeline.lake.lease import Lease  # workers need no delta-rs

            with Lease(storage=self, path=path).held() as free:
                yield free
            return
        target = os.path.join(self.url, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as handle:
            yield _take(handle.fileno())

    def sink(self, path: str) -> Any:
        """A file to write to, its folder made: for data files, which need not be atomic."""
        system, root = self.filesystem()
        full = f"{root}/{path}"
        try:
            stream: pa.NativeFile = system.open_output_stream(full)
        except FileNotFoundError:  # the first file of its folder
            system.create_dir(os.path.dirname(full), recursive=True)
            stream = system.open_output_stream(full)
        return stream

    def _below(self, path: str, *, recursive: bool) -> list[fs.FileInfo]:
        system, root = self.filesystem()
        folder = f"{root}/{path}".rstrip("/")
        selector = fs.FileSelector(folder, allow_not_found=True, recursive=recursive)
        return list(system.get_file_info(selector))


def _take(lock: int) -> bool:
    """Take a lock; tried for a while, as who looks whether it is held has it for a moment."""
    end = time.monotonic() + _MOMENT
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        else:
            return True


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    number = os.open(folder, os.O_RDONLY)
    try:
        yield number
    finally:
        os.close(number)


def _settle(folder: int) -> None:
    """Settle the file system of a folder; OSError where its disk has lost something."""
    if _SYNCFS is not None and not _SYNCFS(folder):
        return
    if _SYNCFS is not None and (number := ctypes.get_errno()) != errno.ENOSYS:
        raise OSError(number, os.strerror(number))
    os.sync()


def _settle_folder(folder: str) -> None:
    """Have the names in a folder on the disk: a file whose name is lost is lost."""
    with _opened(folder) as number:
        os.fsync(number)


def _stored(info: fs.FileInfo, path: str) -> StoredFile:
    modified = info.mtime or datetime.fromtimestamp(0, UTC)
    return StoredFile(path=path, size=info.size, modified=modified)
