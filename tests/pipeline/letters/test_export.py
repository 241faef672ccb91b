"""Letters for other tools: one message a line, whatever it holds."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from heraldry.pipeline.letters.export import Exported, export_letters
from heraldry.pipeline.letters.foreign import unwrap
from tests.pipeline.letters.lettering import land_lines
from tests.suites.streams import WIDE

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "none", "data": {"a": "b\r\nc"}}
RECORD = {"protocol": "KAFKA", "metadata": {"topic": "none", "key": "k"}, "payload": {"a": ["\n"]}}

BROKEN = {
    "an event": (json.dumps(EVENT, indent=1).encode(), EVENT),
    "an event between carriage returns": (
        json.dumps(EVENT, indent=1).replace("\n", "\r\n").encode(),
        EVENT,
    ),
    "a Kafka record": (json.dumps(RECORD, indent=1).encode(), RECORD),
    "a text": (b"no\nmessage", {"payload_text": "no\nmessage"}),
    "a line end in a text of JSON": (b'{"a":"\n"}', {"payload_text": '{"a":"\n"}'}),
    "bytes": (b"\xff\r", {"payload_base64": "/w0="}),
}
WHOLE = {
    "an event with spaces": json.dumps(EVENT).encode(),
    "a text": b"no message",
    "bytes": b"\xff",
    "other spaces": "\x0b\x0c\x85\u2028".encode(),
    "an empty line": b"",
}


def exported(warehouse: Path, line: bytes, *, connect: bool = False) -> bytes:
    """The one line that a letter of this message is exported as."""
    land_lines(warehouse, WIDE, [line])
    target = io.BytesIO()
    told = export_letters(str(warehouse), target, connect=connect)
    assert told == Exported(written=1, masked=0)
    written = target.getvalue()
    assert written.endswith(b"\n")
    found = written[:-1]
    assert b"\n" not in found
    assert b"\r" not in found
    return found


@pytest.mark.parametrize(("line", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_message_with_line_ends_is_one_line(
    tmp_path: Path, line: bytes, expected: object
) -> None:
    found = exported(tmp_path, line)
    assert json.loads(found) == expected


@pytest.mark.parametrize("line", WHOLE.values(), ids=WHOLE)
def test_a_message_of_one_line_is_as_it_came(tmp_path: Path, line: bytes) -> None:
    assert exported(tmp_path, line) == line


@pytest.mark.parametrize(("line", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_kafka_record_is_one_line(tmp_path: Path, line: bytes, expected: object) -> None:
    found = json.loads(exported(tmp_path, line, connect=True))
    assert found["protocol"] == "KAFKA"
    payload = {name: value for name, value in found.items() if name.startswith("payload")}
    if expected is EVENT:
        assert payload == {"payload": EVENT}
    elif expected is RECORD:
        assert payload == {"payload": RECORD["payload"]}
    else:
        assert payload == expected


def test_a_record_over_several_lines_comes_back(tmp_path: Path) -> None:
    found = unwrap(exported(tmp_path, BROKEN["a Kafka record"][0], connect=True))
    assert found is not None
    assert json.loads(found.line) == RECORD
