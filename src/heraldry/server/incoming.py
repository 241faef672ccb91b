"""An HTTP request as it arrived: the parts that matter, and the limits they must keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.server.request_state import RequestState
from heraldry.server.settings import ServerSettings

Header = tuple[bytes, bytes]

_HOST = re.compile(rb"[A-Za-z0-9._~\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_ZERO = re.compile(r";\s*q=0(\.0*)?\s*$")


@dataclass(frozen=True, slots=True)
class Incoming:
    """One HTTP request without its body; ``headers`` have names in lower case."""

    method: str
    path: str
    """Decoded, as it was sent; ``raw_path`` is still encoded."""
    raw_path: bytes
    query: bytes
    scheme: str
    host: bytes
    accept_encoding: bytes
    if_none_match: bytes
    headers: Sequence[Header]
    mount: str = ""
    """What stood before ``path``: the name of the registry, where it was used (HT-01)."""
    state: RequestState = field(default_factory=RequestState, compare=False)

    @classmethod
    def of(cls, scope: Any) -> Incoming:
        """The request of an ASGI scope."""
        host = accept_encoding = if_none_match = b""
        for name, value in scope["headers"]:
            if name == b"host":
                host = host + b"," + value if host else value  # two of them are none
            elif name == b"accept-encoding":
                accept_encoding = value
            elif name == b"if-none-match":
                if_none_match = value
        path = scope["path"]
        return cls(
            scope["method"],
            path,
            scope.get("raw_path") or path.encode(),
            scope["query_string"],
            scope.get("scheme", "http"),
            host,
            accept_encoding,
            if_none_match,
            scope["headers"],
        )

    def within(self, mount: str) -> Incoming:
        """The request as it is behind a beginning of its path; as it is where that is another."""
        beginning = mount.encode("ascii")
        if not (self.raw_path + b"/").startswith(beginning + b"/"):
            return self
        path, raw = self.path[len(mount) :], self.raw_path[len(beginning) :]
        return replace(self, path=path or "/", raw_path=raw or b"/", mount=mount)

    @property
    def subject(self) -> str:
        """The path as errors name it: one slash at its start, none at its end."""
        return "/" + self.path.strip("/ ")

    @property
    def reads(self) -> bool:
        """Whether nothing can change by this request."""
        return self.method in ("GET", "HEAD", "OPTIONS")

    def header(self, name: bytes) -> str | None:
        """The first value of a header."""
        for one, value in self.headers:
            if one == name:
                return value.decode("latin-1")
        return None

    def gzip(self) -> bool:
        """Whether the client takes gzip."""
        for part in self.accept_encoding.decode("latin-1").lower().split(","):
            coding = part.strip()
            if coding.startswith(("gzip", "x-gzip", "*")) and not _ZERO.search(coding):
                return True
        return False

    def base(self, settings: ServerSettings) -> str:
        """The address of the registry's root as the request has it."""
        return self.root(settings) + self.mount

    def root(self, settings: ServerSettings) -> str:
        """The address of the server; a malformed Host names none."""
        if settings.base_url:
            return settings.base_url
        if not _HOST.fullmatch(self.host):
            return f"{self.scheme}://localhost"
        return f"{self.scheme}://{self.host.decode('ascii')}"

    def check(self, limits: Limits) -> None:
        """Refuse what is too long, and a Host that is none (the base address comes from it)."""
        subject = self.subject
        if len(self.query) > limits.query or len(self.raw_path) > limits.query:
            detail = f"Path and query may have {limits.query} bytes each."
            raise RegistryError("query_too_long", subject, detail=detail)
        size = sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > limits.headers or size > limits.header_size:
            detail = f"At most {limits.headers} headers with {limits.header_size} bytes in all."
            raise RegistryError("headers_too_large", subject, detail=detail)
        if self.host and not _HOST.fullmatch(self.host):
            detail = "The header Host must be a host name with an optional port."
            raise RegistryError("bad_request", subject, {"error_detail": detail})
