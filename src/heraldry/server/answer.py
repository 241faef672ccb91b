"""An HTTP response as a value: ready to be sent, kept, or turned into a 304."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from heraldry.server.incoming import Header
from heraldry.server.preconditions import packed_tag

COMPRESS_FROM: Final = 1024
_TEXT = (b"application/json", b"text/", b"application/xml")
_PIECE: Final = 64 * 1024
_BODILESS = (204, 304)
_OF_REPLY = (b"location", b"content-location", b"xRegistry-xregcorrelationid")
"""Headers that say nothing of a representation but what other headers and the body say, too."""
_KEPT = (b"etag", b"link", b"vary", b"cache-control", b"content-location")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response. ``rest`` follows ``body`` and is made while it is sent; ``place`` is counted.

    ``methods`` are those of the place, as ``Allow`` lists them, where somebody may want to know.
    """

    status: int
    headers: tuple[Header, ...]
    body: bytes = b""
    rest: Iterator[bytes] | None = None
    etag: bytes = b""
    place: str = ""
    methods: bytes = b""
    memory: int = 0
    """How many bytes it takes until it is sent."""

    def not_modified(self) -> Answer:
        """The answer to one who has it already."""
        headers = tuple(header for header in self.headers if header[0] in _KEPT)
        return Answer(
            status=304,
            headers=headers,
            etag=self.etag,
            place=self.place,
            methods=self.methods,
        )

    def close(self) -> None:
        """Let go of what is still read from."""
        if self.rest is not None:
            _close(self.rest)


def completed(
    status: int,
    headers: list[Header],
    body: bytes = b"",
    *,
    rest: Iterator[bytes] | None = None,
    size: int | None = None,
    memory: int = 0,
    place: str = "",
    tag: str | None = None,
    gzips: bool = False,
) -> Answer:
    """An answer with its ETag, packed where that is worth it, and with its length.

    ``size`` is that of body and rest, where it is known, and ``memory`` what the rest takes of it;
    ``tag`` is None where nothing may be reused; ``gzips`` says that the client takes gzip.
    """
    etag = b"" if tag is None else _etag(headers, body, rest, tag)
    if (rest is not None or len(body) >= COMPRESS_FROM) and _is_text(headers):
        headers.append((b"vary", b"accept-encoding"))
        if gzips:
            etag = packed_tag(etag) if etag else b""
            headers.append((b"content-encoding", b"gzip"))
            if rest is None:
                body = gzip.compress(body, compresslevel=5, mtime=0)
            else:
                body, rest, size = b"", _Packed(body, rest), None
    if etag:
        headers += ((b"etag", etag), (b"cache-control", b"no-cache"))  # clients must ask each time
    size = len(body) if rest is None else size
    if size is not None and status not in _BODILESS:
        headers.append((b"content-length", b"%d" % size))
    return Answer(
        status=status,
        headers=tuple(headers),
        body=body,
        rest=rest,
        etag=etag,
        place=place,
        memory=max(len(body), memory),
    )


def _etag(headers: list[Header], body: bytes, rest: Iterator[bytes] | None, tag: str) -> bytes:
    """The digest of what is said, or the reply's own tag, weak, where that is not known yet."""
    if rest is not None:
        return b'W/"' + tag.encode("ascii") + b'"' if tag else b""
    digest = hashlib.blake2b(body, digest_size=12)
    digest.update(repr([header for header in headers if header[0] not in _OF_REPLY]).encode())
    return b'"' + digest.hexdigest().encode("ascii") + b'"'


def _is_text(headers: list[Header]) -> bool:
    for name, value in headers:
        if name == b"content-type":
            kind = value.partition(b";")[0].strip().lower()
            return kind.startswith(_TEXT) or kind.endswith((b"+json", b"+xml"))
    return False


class _Packed(Iterator[bytes]):
    """Pieces in gzip. Closing them lets go of what is read from, also before the first piece."""

    def __init__(self, first: bytes, rest: Iterator[bytes]) -> None:
        self._rest, self._pieces = rest, _packed(first, rest)

    def __next__(self) -> bytes:
        """The next piece."""
        return next(self._pieces)

    def close(self) -> None:
        """Let go of what is still read from."""
        _close(self._rest)


def _packed(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    packing = zlib.compressobj(level=5, wbits=31)
    yield packing.compress(first)
    for piece in rest:
        yield packing.compress(piece)
    yield packing.flush()


def take(pieces: Iterator[bytes], enough: int = _PIECE) -> tuple[bytes, bool]:
    """The next pieces, together of a size worth sending, and whether there may be more."""
    taken: list[bytes] = []
    size = 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size >= enough:
            return b"".join(taken), True
    return b"".join(taken), False


def _close(pieces: Iterator[bytes]) -> None:
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
