"""Checkpoints in a table's log that a power cut has torn, and the hint that says which is the last.

delta-rs writes a checkpoint and then the hint, and waits for the disk with neither. A file that
replaces another may be there after a power cut while one with a new name is empty or cut short:
the table cannot be opened then, though the entries of its log are whole.
"""

from __future__ import annotations

import os
import re

import msgspec

from heraldry.pipeline.lake.storage import Storage

_HINT = "_last_checkpoint"
_MAGIC = b"PAR1"
_FORMS = (".parquet", ".json")
_CHECKPOINT = re.compile(r"(?P<version>[0-9]{20})\.checkpoint\.(?:[^#]+\.)?parquet")


class _Hint(msgspec.Struct):
    """What the hint says; more may stand in it."""

    version: int


def mend_log(storage: Storage, path: str) -> bool:
    """Remove the checkpoints of a table on a local folder that are not whole, and a hint at none.

    False where all is whole, or cannot be mended: then that is not what is wrong. A reader goes on
    from the checkpoint before, or from the first entry.
    """
    if not storage.is_local:
        return False  # a store takes a file whole or not at all
    log = os.path.join(storage.url, path, "_delta_log")
    try:
        names = os.listdir(log)
        torn = [name for name in names if _CHECKPOINT.fullmatch(name) and not _is_whole(log, name)]
        lost = _HINT in names and not _names_one(log, set(names) - set(torn))
        # The hint first: it must not outlive what it names.
        for name in [_HINT] * lost + torn:
            os.unlink(os.path.join(log, name))
    except OSError:
        return False  # it may only be read, or another is mending it
    return lost or bool(torn)


def _names_one(log: str, names: set[str]) -> bool:
    """Whether the hint names a checkpoint, in whatever form, that is among these files."""
    with open(os.path.join(log, _HINT), "rb") as told:
        try:
            version = msgspec.json.decode(told.read(), type=_Hint).version
        except msgspec.DecodeError:
            return False
    begin = f"{version:020d}.checkpoint."
    return any(name.startswith(begin) and name.endswith(_FORMS) for name in names)


def _is_whole(log: str, name: str) -> bool:
    """Whether a Parquet file has its end."""
    with open(os.path.join(log, name), "rb") as content:
        content.seek(max(0, os.fstat(content.fileno()).st_size - len(_MAGIC)))
        return content.read() == _MAGIC
