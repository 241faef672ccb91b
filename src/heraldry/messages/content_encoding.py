"""Content encodings: gzip and deflate within a size limit; others are refused."""

from __future__ import annotations

import gzip
import io
import zlib

from heraldry.errors import MessageError
from heraldry.model.problem import Problem

LIMIT = 64 * 1024 * 1024
"""The largest payload after decoding, so that a small message cannot become a huge one."""

IN_HEADERS = "metadata.headers.content-encoding"
"""Where HTTP names the codings."""

_GZIP = ("gzip", "x-gzip")
_MOST = 4


def decode(
    payload: bytes, encoding: str | None, limit: int = LIMIT, path: str = IN_HEADERS
) -> bytes:
    """The payload behind a ``Content-Encoding``, whose codings were applied in their order.

    Raises :class:`MessageError` where a coding is unknown, the payload is not in it, or the
    result would be larger than ``limit``; ``path`` is where the message names its codings.
    """
    for name in reversed(_codings(encoding, path)):
        try:
            data = _gunzip(payload, limit) if name in _GZIP else _inflate(payload, limit)
        except (zlib.error, EOFError, gzip.BadGzipFile):
            raise _wrong(path, "the payload is not in this encoding", found=name) from None
        if len(data) > limit:
            told = f"the payload is larger than {limit} bytes when decoded"
            raise _wrong(path, told, rule="too-large", expected=f"{limit} bytes")
        payload = data
    return payload


def encode(payload: bytes, encoding: str | None, path: str = IN_HEADERS) -> bytes:
    """The inverse of :func:`decode`; the same bytes give the same bytes."""
    for name in _codings(encoding, path):
        payload = gzip.compress(payload, mtime=0) if name in _GZIP else zlib.compress(payload)
    return payload


def _codings(encoding: str | None, path: str) -> list[str]:
    names = [name.strip().lower() for name in (encoding or "").split(",")]
    names = [name for name in names if name not in ("", "identity")]
    for name in names:
        if name not in (*_GZIP, "deflate"):
            raise _wrong(path, "is not gzip or deflate", expected="gzip, deflate", found=name)
    if len(names) > _MOST:
        raise _wrong(path, f"has more than {_MOST} codings", found=str(len(names)))
    return names


def _gunzip(payload: bytes, limit: int) -> bytes:
    # A gzip stream may have several members; the file reader joins them in linear time.
    with gzip.GzipFile(fileobj=io.BytesIO(payload)) as stream:
        data = stream.read(limit + 1)
    if not payload:
        raise EOFError
    return data


def _inflate(payload: bytes, limit: int) -> bytes:
    # RFC 9110 means zlib's form; some senders leave its frame away.
    try:
        return _stream(payload, limit, zlib.MAX_WBITS)
    except zlib.error:
        return _stream(payload, limit, -zlib.MAX_WBITS)


def _stream(payload: bytes, limit: int, window: int) -> bytes:
    reader = zlib.decompressobj(window)
    data = reader.decompress(payload, limit + 1)
    if len(data) <= limit and (not reader.eof or reader.unused_data):
        raise zlib.error
    return data


def _wrong(
    path: str,
    message: str,
    *,
    rule: str = "content-encoding",
    expected: str | None = None,
    found: str | None = None,
) -> MessageError:
    problem = Problem(path=path, rule=rule, message=message, expected=expected, found=found)
    return MessageError((problem,))
