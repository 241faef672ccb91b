"""Container files in every codec: read, broken, and without the library that unpacks them."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import fastavro
import pytest

from heraldry.errors import MessageError
from heraldry.schemas.avro.container import read_blocks

RECORD = {"type": "record", "name": "R", "fields": [{"name": "number", "type": "long"}]}
CODECS = ["null", "deflate", "bzip2", "xz", "snappy", "zstandard", "lz4"]
RECORDS = [{"number": number} for number in range(1000)]


def written(schema: Any, records: list[Any], codec: str) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), records, codec, sync_interval=500)
    return out.getvalue()


def test_these_are_all_codecs() -> None:
    assert set(CODECS) == fastavro.read.BLOCK_READERS.keys()


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read(codec: str) -> None:
    found = list(read_blocks(io.BytesIO(written(RECORD, RECORDS, codec))))
    assert [record for _, record in found] == RECORDS
    assert found[-1][0] > 1


@pytest.mark.parametrize("codec", CODECS)
def test_a_broken_block_is_a_message_error(codec: str) -> None:
    data = bytearray(written(RECORD, RECORDS, codec))
    half = len(data) // 2
    data[half:] = b"\xff" * (len(data) - half)
    read = []
    with pytest.raises(MessageError, match="cannot be read as Avro"):
        read.extend(record for _, record in read_blocks(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("codec", "module"),
    [("snappy", "cramjam"), ("zstandard", "backports.zstd"), ("lz4", "lz4")],
    ids=["snappy", "zstandard", "lz4"],
)
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zstandard is part of Python")
def test_a_missing_library_is_no_fault_of_the_file(codec: str, module: str) -> None:
    """In a process of its own, because the library is there."""
    program = f"""
import io, sys
sys.modules[{module!r}] = None
from heraldry.errors import MissingExtraError
from heraldry.schemas.avro.container import read_blocks
try:
    list(read_blocks(io.BytesIO(bytes.fromhex(sys.stdin.read()))))
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=written(RECORD, RECORDS, codec).hex(),
        capture_output=True,
        text=True,
        check=False,
    )
    wanted = f"this needs {module}: pip install 'heraldry[avro]'\n"
    assert (done.stdout, done.stderr) == (wanted, "")


def test_an_instant_without_a_zone_is_in_utc() -> None:
    local = {"type": "long", "logicalType": "local-timestamp-millis"}
    fields = [
        {"name": "at", "type": local},
        {"name": "all", "type": {"type": "array", "items": {"type": "map", "values": local}}},
    ]
    schema = {"type": "record", "name": "R", "fields": fields}
    naive, aware = datetime(2026, 11, 16, 8), datetime(2026, 11, 16, 8, tzinfo=UTC)
    data = written(schema, [{"at": naive, "all": [{"a": naive}]}], "null")
    ((_, found),) = read_blocks(io.BytesIO(data))
    assert found == {"at": aware, "all": [{"a": aware}]}
