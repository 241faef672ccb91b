"""What is wrong, where, by which rule, and what would be right: in messages and in catalogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

Severity = Literal["error", "warning", "info"]


class Problem(Struct, frozen=True, kw_only=True, gc=False):
    """One broken rule in one message.

    ``message`` never holds the value found, so that equal causes group together; ``path`` is
    ``attributes.type``, ``metadata.topic_name``, ``metadata.headers.action``, ``content_type``,
    or a JSON pointer into the payload (``/weight``; the payload as a whole is ``/``).
    """

    path: str
    rule: str
    message: str
    expected: str | None = None
    found: str | None = None

    def __str__(self) -> str:
        seen = f" (found {self.found})" if self.found is not None else ""
        return f"{self.path}: {self.message}{seen} [{self.rule}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One observation about a catalog: ``location`` is a JSON pointer into ``file``."""

    file: str
    location: str
    rule: str
    severity: Severity
    message: str
    advice: str = ""
