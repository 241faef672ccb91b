"""Addresses of other catalogs, and the list of those that may be read.

An address is normalised first; what is compared is what is then asked for. Anything that servers
are known to read in different ways is refused instead of interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from heraldry.errors import UsageError

_PORTS = {"http": 80, "https": 443, "file": 0}
# Python's parser drops line breaks and tabs without a word; others read \ as /.
_TEXT = re.compile(r"[!-\[\]-~]+")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
# A server may read these as a separator or decode them twice; "..;" is ".." to some, and
# %C0%AE, which is no UTF-8, is "." to others.
_FORBIDDEN = re.compile(r"%(?:2F|5C|25|[01][0-9A-F]|7F|C[01])|(?:^|/)\.{1,2}(?:;|%3B)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why something was not fetched; never an error (M17).

    ``away`` where it is no answer at all: another time it may be there.
    """

    reason: str
    away: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A normalised URL without credentials; a file has neither host nor port."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""
    fragment: str = ""

    @property
    def document(self) -> Address:
        """The address of the document that a fragment points into."""
        return replace(self, fragment="")

    @property
    def origin(self) -> str:
        """Scheme, host and port, the latter where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    def __str__(self) -> str:
        query = f"?{self.query}" if self.query else ""
        return self.origin + self.path + query + (f"#{self.fragment}" if self.fragment else "")


@dataclass(frozen=True, slots=True)
class AllowList:
    """The prefixes of the addresses that may be read."""

    prefixes: tuple[Address, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> AllowList:
        """The list of some prefixes; UsageError where one is no address."""
        return cls(tuple(_prefix(text) for text in texts))

    def permits(self, address: Address) -> bool:
        """Whether an address lies within a prefix: the same server, and a path below or at it."""
        place = (address.scheme, address.host, address.port)
        return any(
            (one.scheme, one.host, one.port) == place and _is_below(address.path, one.path)
            for one in self.prefixes
        )


def parse(text: str) -> Address | Refused:
    """The address a text means, normalised (RFC 3986, 6.2.2), or why it is not used."""
    if not _TEXT.fullmatch(text):
        return Refused(reason="the address has characters that must be percent-escaped")
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        return Refused(reason="the address is not a URL")
    if parts.scheme not in _PORTS:
        return Refused(reason="the address is neither of http, https nor file")
    if "@" in parts.netloc:
        return Refused(reason="the address holds a user or password, which are never sent")
    if parts.scheme == "file" and parts.netloc.lower() in {"", "localhost"}:
        port, host = None, ""
    elif parts.scheme == "file" or not _HOST.fullmatch(host):
        return Refused(reason="the address has no valid host")
    path = _normal_path(parts.path)
    if path is None:
        return Refused(reason="the path of the address can be read in two ways")
    return Address(
        scheme=parts.scheme,
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        path=path,
        query=parts.query,
        fragment=parts.fragment,
    )


def _prefix(text: str) -> Address:
    found = parse(text)
    shown = "the address" if "@" in text else repr(text)
    if isinstance(found, Refused):
        raise UsageError(f"{shown} cannot be allowed", found.reason)
    if found.query or found.fragment:
        advice = "give a prefix, such as https://catalog.example.com/registry/"
        raise UsageError(f"{shown} cannot be allowed with a query or fragment", advice)
    return found


def _is_below(path: str, prefix: str) -> bool:
    whole = prefix.removesuffix("/")
    return path in (prefix, whole) or path.startswith(f"{whole}/")


def _normal_path(path: str) -> str | None:
    """The path with plain characters unescaped and dot segments resolved; None if in doubt."""
    if _BROKEN_ESCAPE.search(path):
        return None
    plain = _ESCAPE.sub(_unescaped, path)
    if _FORBIDDEN.search(plain):
        return None
    kept: list[str] = []
    segments = plain.removeprefix("/").split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _unescaped(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()
