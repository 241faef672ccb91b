"""What a registry answered, and what its headers say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from heraldry.errors import ClientError

_LINK = re.compile(r'<([^>]*)>\s*((?:;[^,<"]*(?:"[^"]*")?[^,<"]*)*)')
_REL_NEXT = re.compile(r';\s*rel\s*=\s*"?next"?\s*(?:;|$)', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; the names of ``headers`` are in lower case."""

    url: str
    code: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The content as JSON; an error where it is something else."""
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            told = {"title": "the answer is not JSON; is this the root of a registry?"}
            raise ClientError(self.url, self.code, told) from None

    def problem(self) -> dict[str, object]:
        """Why a request was refused (ER-01); a server that does not say it in JSON is quoted."""
        try:
            found = msgspec.json.decode(self.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        text = " ".join(self.content.decode(errors="replace").split())
        return {"title": text[:200]} if text else {}

    @property
    def is_document(self) -> bool:
        """Whether the content is a document, its attributes beside it in headers (HB-02)."""
        return "xregistry-xid" in self.headers or "xregistry-self" in self.headers

    @property
    def next(self) -> str:
        """The address of the next page of a collection, if there is one (PG-02)."""
        for target, parameters in _LINK.findall(self.headers.get("link", "")):
            if _REL_NEXT.search(parameters):
                return str(target)
        return ""

    @property
    def retry_after(self) -> float:
        """The seconds a busy server asks for; 0 where it does not say it in seconds."""
        text = self.headers.get("retry-after", "")
        return float(text) if text.isdigit() else 0.0
