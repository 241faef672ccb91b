"""The payload formats Heraldry compiles, by family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from heraldry.errors import SchemaError
from heraldry.model.formats import family
from heraldry.schemas import json_schema
from heraldry.schemas.payload_schema import PayloadSchema

_Loader = Callable[[str, str, bytes, str], PayloadSchema]

_LOADERS: dict[str, _Loader] = {"jsonschema": json_schema.load}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def supported(format: str) -> bool:  # noqa: A002
    """Whether payloads of this format are checked and given columns."""
    return family(format)[0] in _LOADERS


def compile(format: str, document: Any, link: str = "") -> PayloadSchema:  # noqa: A001, A002
    """The schema of a document (its text, or its value) or of the part a link names (C43).

    Nothing is ever fetched; equal documents are compiled once. SchemaError says why there is none.
    """
    if not supported(format):
        reason = "this format is not supported yet; the payload is carried as it is"
        raise SchemaError(format, link, reason)
    try:
        return _compiled(format, _content(document), link)
    except (TypeError, UnicodeError, RecursionError):
        raise SchemaError(format, link, "the document is not JSON") from None


@lru_cache(maxsize=4096)
def _compiled(format: str, content: bytes, link: str) -> PayloadSchema:  # noqa: A002
    name, version = family(format)
    return _LOADERS[name](format, version, content, link)


def _content(document: Any) -> bytes:
    # The order of members is kept: it is the order of the columns.
    if isinstance(document, str):
        document = document.encode("utf-8")
    if isinstance(document, bytes):
        return document.removeprefix(_BYTE_ORDER_MARK)
    return msgspec.json.encode(document, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
