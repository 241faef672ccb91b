from __future__ import annotations

import zlib

import pytest

from heraldry.errors import MessageError
from heraldry.model.problem import Problem
from heraldry.schemas.framing import INFLATED_LIMIT, inflate, unframed

GLUE = b"\x03\x00" + bytes(range(16))
ZIPPED = b"\x03\x05" + bytes(range(16))


def read(payload: bytes) -> bytes:
    """Reads what starts with an x, and says what it was given otherwise."""
    if payload.startswith(b"x"):
        return payload
    raise MessageError((Problem(path="/", rule="x", message=payload.hex()),))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(b"xyz", b"xyz", id="plain"),
        pytest.param(b"\x00\x00\x00\x00\x07xyz", b"xyz", id="confluent"),
        pytest.param(GLUE + b"xyz", b"xyz", id="glue"),
        pytest.param(ZIPPED + zlib.compress(b"xyz"), b"xyz", id="glue, compressed"),
    ],
)
def test_the_part_behind_the_prefix_is_read(payload, expected):
    assert unframed(payload, read) == expected


@pytest.mark.parametrize(
    ("payload", "rule", "message"),
    [
        pytest.param(b"abc", "x", b"abc".hex(), id="no prefix"),
        pytest.param(b"", "x", "", id="empty"),
        pytest.param(b"\x00\x00\x00\x00\x07", "x", "0000000007", id="a prefix alone"),
        pytest.param(b"\x00\x00\x00\x00\x07abc", "x", b"abc".hex(), id="behind the prefix"),
        pytest.param(GLUE, "x", "", id="glue alone"),
        pytest.param(b"\x03\x01" + bytes(16), "x", (b"\x03\x01" + bytes(16)).hex(), id="not glue"),
        pytest.param(ZIPPED + b"xyz", "compression", "is not a zlib stream", id="not compressed"),
        pytest.param(
            ZIPPED + zlib.compress(b"x" * 99)[:-6],
            "compression",
            "ends before the zlib stream does",
            id="cut off",
        ),
    ],
)
def test_the_reason_is_that_of_the_part_behind_the_prefix(payload, rule, message):
    with pytest.raises(MessageError) as caught:
        unframed(payload, read)
    (problem,) = caught.value.problems
    assert (problem.path, problem.rule, problem.message) == ("/", rule, message)


def test_an_ambiguous_format_gives_the_reason_of_the_payload_as_it_is():
    with pytest.raises(MessageError, match=b"\x00\x00\x00\x00\x07abc".hex()):
        unframed(b"\x00\x00\x00\x00\x07abc", read, ambiguous=True)


def test_a_compressed_bomb_is_refused_before_it_unfolds():
    bomb = zlib.compress(bytes(INFLATED_LIMIT + 1))
    assert len(bomb) < 20_000
    with pytest.raises(MessageError, match="becomes more than"):
        inflate(bomb)
    assert len(inflate(zlib.compress(bytes(INFLATED_LIMIT)))) == INFLATED_LIMIT
