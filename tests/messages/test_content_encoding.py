"""Content encodings within their limit."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import content_encoding

ENCODINGS = [None, "", "identity", "gzip", "X-GZIP", "deflate", "gzip, deflate", "deflate,gzip"]


def rule(payload: bytes, encoding: str, limit: int = 1000) -> str:
    with pytest.raises(MessageError) as error:
        content_encoding.decode(payload, encoding, limit)
    return error.value.problems[0].rule


@pytest.mark.parametrize("encoding", [pytest.param(one, id=repr(one)) for one in ENCODINGS])
@given(payload=st.binary(max_size=100))
def test_decode_inverts_encode(encoding: str | None, payload: bytes) -> None:
    encoded = content_encoding.encode(payload, encoding)
    assert content_encoding.decode(encoded, encoding) == payload
    assert content_encoding.encode(payload, encoding) == encoded


def test_every_member_of_a_gzip_stream_counts() -> None:
    data = gzip.compress(b"one") + gzip.compress(b"two")
    assert content_encoding.decode(data, "gzip") == b"onetwo"


def test_deflate_without_its_frame() -> None:
    assert content_encoding.decode(zlib.compress(b"x" * 50)[2:-4], "deflate") == b"x" * 50


@pytest.mark.parametrize("encoding", [pytest.param(one, id=one) for one in ("gzip", "deflate")])
def test_the_limit(encoding: str) -> None:
    encoded = content_encoding.encode(b"x" * 1000, encoding)
    assert len(content_encoding.decode(encoded, encoding, 1000)) == 1000
    assert rule(encoded, encoding, 999) == "too-large"
    # A bomb is noticed without being unpacked.
    assert rule(content_encoding.encode(b"x" * 10_000_000, encoding), encoding) == "too-large"


@pytest.mark.parametrize(
    ("payload", "encoding"),
    [
        pytest.param(b"", "gzip", id="nothing, gzip"),
        pytest.param(b"", "deflate", id="nothing, deflate"),
        pytest.param(b'{"a":1}', "gzip", id="not gzip"),
        pytest.param(b'{"a":1}', "deflate", id="not deflate"),
        pytest.param(gzip.compress(b"x" * 99)[:-9], "gzip", id="cut, gzip"),
        pytest.param(zlib.compress(b"x" * 99)[:-9], "deflate", id="cut, deflate"),
        pytest.param(zlib.compress(b"x") + b"more", "deflate", id="more than deflate"),
        pytest.param(b"x", "br", id="brotli"),
        pytest.param(b"x", "gzip, zstd", id="one of two"),
        pytest.param(b"x", ", ".join(["gzip"] * 9), id="too many"),
    ],
)
def test_what_cannot_be_decoded(payload: bytes, encoding: str) -> None:
    assert rule(payload, encoding) == "content-encoding"


def test_an_unknown_encoding_is_not_written_as_another() -> None:
    with pytest.raises(MessageError):
        content_encoding.encode(b"x", "br")
