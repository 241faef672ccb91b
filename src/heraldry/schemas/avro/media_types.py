"""Which encoding of Avro a content type names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

Encoding = Literal["binary", "json", "single-object", "any"]

BINARY: Final = "avro/binary"
"""The content type of binary payloads."""


@lru_cache(maxsize=1024)
def encoding_of(content_type: str | None) -> Encoding:
    """The encoding of a content type; ``any`` where it names none.

    JSON is ``application/json``, ``text/json``, ``avro/json`` and everything in ``+json``;
    ``avro/single-object`` or a parameter ``encoding=single-object`` is that, for payloads that
    begin with the fingerprint of their schema; other types with ``avro`` in their name are binary.
    """
    name, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    if name.endswith(("/json", "+json")) or "encoding=json" in parameters:
        return "json"
    if name == "avro/single-object" or "encoding=single-object" in parameters:
        return "single-object"
    return "binary" if "avro" in name or name == "application/octet-stream" else "any"
