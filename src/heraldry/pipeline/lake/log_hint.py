"""The hint in a table's log that says where its last checkpoint is, when there is none.

delta-rs writes a checkpoint and then the hint, and waits for the disk with neither. A file that
replaces another may be there after a power cut while one with a new name is empty: the hint then
names a checkpoint that nobody can read, and the table cannot be opened, though its log is whole.
"""

from __future__ import annotations

import os

import msgspec

from heraldry.pipeline.lake.storage import Storage

_HINT = "_last_checkpoint"
_MAGIC = b"PAR1"


class _Hint(msgspec.Struct):
    """What the hint says; more may stand in it."""

    version: int


def forget_lost_hint(storage: Storage, path: str) -> bool:
    """Remove the hint of a table on a local folder where its checkpoint is not whole.

    False where it names a whole one, or there is none: then that is not what is wrong. A reader
    goes on from the checkpoint before, or from the first entry.
    """
    if not storage.is_local:
        return False  # a store takes a file whole or not at all
    log = f"{path}/_delta_log"
    told = storage.read(f"{log}/{_HINT}")
    if told is None:
        return False
    try:
        begin = f"{msgspec.json.decode(told, type=_Hint).version:020d}.checkpoint"
    except msgspec.DecodeError:
        begin = ""  # a hint that says nothing
    named = [name for name in storage.names(log) if begin and name.startswith(begin)]
    broken = [name for name in named if not _is_whole(os.path.join(storage.url, log, name))]
    if named and not broken:
        return False
    for name in (_HINT, *broken):  # the hint first: it must not outlive what it names
        storage.delete(f"{log}/{name}")
    return True


def _is_whole(file: str) -> bool:
    """Whether a Parquet file has its end."""
    with open(file, "rb") as content:
        content.seek(max(0, os.fstat(content.fileno()).st_size - len(_MAGIC)))
        return content.read() == _MAGIC
