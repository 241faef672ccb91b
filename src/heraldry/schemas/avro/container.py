"""Avro object container files: their records, block by block.

A block may be packed by any codec that fastavro knows. An instant without a time zone
(``local-timestamp``) is one in UTC, as it is wherever records of files are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from typing import IO, Any

from fastavro import block_reader

from heraldry.errors import HeraldryError, MessageError, MissingExtraError
from heraldry.model.problem import Problem

_LIBRARIES = {
    "snappy": "cramjam",
    "zstandard": "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",
    "lz4": "lz4.block",
}
"""What unpacks the codecs that Python itself does not."""


def read_blocks(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every record that is an Avro record, with the number of its block.

    MessageError where the file is none, or breaks off; all records before that have come.
    MissingExtraError where nothing is wrong with it, but a library to unpack it is missing.
    """
    codec = None
    try:
        blocks = block_reader(file)
        codec = blocks.codec
        local = "local-timestamp" in str(blocks.writer_schema)
        for number, block in enumerate(blocks):
            for record in block:
                found = _in_utc(record) if local else record
                yield number, found if isinstance(found, dict) else {"value": found}
    except HeraldryError:
        raise
    except OSError as error:
        if error.errno is not None:
            raise  # the machine's fault, not the file's
        raise _broken(error) from error
    except Exception as error:  # every codec's library has an error of its own, of no family
        if (library := _missing(codec)) is not None:
            raise MissingExtraError("avro", library) from error
        raise _broken(error) from error


def _missing(codec: str | None) -> str | None:
    """The library that a codec needs, where it cannot be had."""
    library = _LIBRARIES.get(codec or "")
    if library is None:
        return None
    try:
        import_module(library)
    except ImportError:
        return library.removesuffix(".block")
    return None


def _in_utc(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value
    if isinstance(value, dict):
        return {name: _in_utc(one) for name, one in value.items()}
    return [_in_utc(one) for one in value] if isinstance(value, list) else value


def _broken(error: Exception) -> MessageError:
    told = str(error).partition("\n")[0][:200] or type(error).__name__
    problem = Problem(path="/", rule="avro", message="cannot be read as Avro", found=told)
    return MessageError((problem,))
