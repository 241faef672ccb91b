"""Conditional requests: ``If-Match`` and ``If-None-Match`` (RFC 9110, section 13).

A tag names the bytes of one representation at one address. Those of gzip end in ``-gzip``; where
something is to be written, the tag of either form names what is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from heraldry.errors import RegistryError
from heraldry.server.incoming import Incoming

GZIP: Final = b"-gzip"
_WEAK: Final = b"W/"
_ANY: Final = b"*"
_TAG: Final = rb'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS: Final = re.compile(rb"[ \t,]*%s(?:[ \t]*,[ \t,]*%s)*[ \t,]*" % (_TAG, _TAG))

Tags = tuple[bytes, ...]
"""Entity tags as they were sent, or ``*`` alone: whatever is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """What must hold of the current representation before a request is carried out."""

    subject: str
    match: Tags | None
    none_match: Tags | None

    @classmethod
    def of(cls, incoming: Incoming) -> Self | None:
        """Those of a request, if it has any; ``header_error`` for what is no list of tags."""
        match, none_match = (_tags(incoming, name) for name in ("If-Match", "If-None-Match"))
        if match is None and none_match is None:
            return None
        return cls(subject=incoming.subject, match=match, none_match=none_match)

    def check(self, etag: bytes | None) -> None:
        """``precondition_failed`` unless they hold of a tag.

        ``None``: there is nothing; empty: there is something that has no tag.
        """
        if self.match is not None and not _is_named(etag, self.match, weakly=False):
            raise self._failed("If-Match", _mismatch(etag))
        if self.none_match is not None and _is_named(etag, self.none_match, weakly=True):
            raise self._failed("If-None-Match", "It exists already.")

    def _failed(self, name: str, detail: str) -> RegistryError:
        return RegistryError("precondition_failed", self.subject, {"name": name}, detail)


def _mismatch(etag: bytes | None) -> str:
    if etag is None:
        return "It does not exist: read it again before you write."
    if not etag or etag.startswith(_WEAK):
        return (
            "It is large or kept elsewhere, so it has no strong tag: use its $details, or ?epoch."
        )
    return "It is not what it was: read it again before you write."


def is_current(etag: bytes, if_none_match: bytes) -> bool:
    """Whether a client that reads has this very representation, by weak comparison."""
    named = _split(if_none_match)
    return bool(etag) and (named == (_ANY,) or etag.removeprefix(_WEAK) in map(_opaque, named))


def packed_tag(etag: bytes) -> bytes:
    """The tag of the same representation with gzip: other bytes, so another tag if it is strong."""
    return etag if etag.startswith(_WEAK) else etag[:-1] + GZIP + b'"'


def _is_named(etag: bytes | None, tags: Tags, *, weakly: bool) -> bool:
    if etag is None:
        return False
    if tags == (_ANY,):
        return True
    if not etag or (etag.startswith(_WEAK) and not weakly):
        return False
    comparable = tags if not weakly else map(_opaque, tags)
    return etag.removeprefix(_WEAK) in map(_plain, comparable)


def _opaque(tag: bytes) -> bytes:
    return tag.removeprefix(_WEAK)


def _plain(tag: bytes) -> bytes:
    return tag[: -len(GZIP) - 1] + b'"' if tag.endswith(GZIP + b'"') else tag


def _tags(incoming: Incoming, name: str) -> Tags | None:
    header = name.lower().encode("ascii")
    values = [value for header_name, value in incoming.headers if header_name == header]
    if not values:
        return None
    value = b", ".join(values)
    if value.strip() != _ANY and not _TAGS.fullmatch(value):
        reason = 'it must be "*" or a list of entity tags, each in quotes'
        arguments = {"name": name, "error_detail": reason}
        raise RegistryError("header_error", incoming.subject, arguments)
    return _split(value)


def _split(value: bytes) -> Tags:
    """The tags of a header; a comma may be part of one."""
    return (_ANY,) if value.strip() == _ANY else tuple(re.findall(_TAG, value))
