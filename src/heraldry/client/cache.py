"""Replies kept in a folder, so that a job starts while the registry is down."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

_KEPT_HEADERS = ("content-type", "etag", "link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A reply of an earlier time; ``at`` says when it was fetched."""

    url: str
    at: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def tag(self) -> str:
        """The ETag it came with, if it had one."""
        return self.headers.get("etag", "")


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """One file per address: a line of JSON about the reply, then its content."""

    folder: Path

    def find(self, url: str) -> Kept | None:
        """The reply that an address gave last; None where there is none that can be read."""
        try:
            head, _, content = self._file(url).read_bytes().partition(b"\n")
            said: Any = msgspec.json.decode(head)
            if said["url"] != url or said["size"] != len(content):
                return None
            return Kept(url=url, at=said["at"], headers=said["headers"], content=content)
        except (OSError, msgspec.DecodeError, KeyError, TypeError):
            return None

    def keep(self, url: str, headers: Mapping[str, str], content: bytes) -> None:
        """Replace the reply of an address, whole or not at all; a full disk is no error."""
        head = {
            "url": url,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "size": len(content),
            "headers": {name: headers[name] for name in _KEPT_HEADERS if name in headers},
        }
        new = None
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
                new = Path(file.name)
                file.write(msgspec.json.encode(head) + b"\n" + content)
            new.replace(self._file(url))
        except OSError:
            if new is not None:
                new.unlink(missing_ok=True)

    def _file(self, url: str) -> Path:
        return self.folder / f"{sha256(url.encode()).hexdigest()}.reply"


def default_folder() -> Path:
    """Where replies are kept unless another folder is named: the user's cache (XDG)."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "heraldry"
