"""The payload formats Heraldry compiles: one folder each, with the same names inside.

``schema`` has ``load``, ``references`` has ``references``, and ``compare`` has ``changes``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

import msgspec

from heraldry.errors import MissingExtraError, SchemaError
from heraldry.model.formats import family
from heraldry.schemas.changes import Change
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.source import Reference, Source


@dataclass(frozen=True, slots=True)
class _Format:
    """Where a format is implemented, and the optional dependency it needs."""

    folder: str
    extra: str = ""
    needs: str = ""


_FORMATS = {
    "jsonschema": _Format("json_schema"),
    "avro": _Format("avro", "avro", "fastavro and avro"),
    "protobuf": _Format("protobuf", "protobuf", "protobuf and protoc"),
    "xsd": _Format("xsd", "xsd", "lxml and xmlschema"),
    "jsonstructure": _Format("json_structure"),
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def supported(format: str) -> bool:  # noqa: A002
    """Whether payloads of this format are checked and given columns."""
    return family(format)[0] in _FORMATS


def compile(  # noqa: A001
    format: str,  # noqa: A002
    document: Any,
    link: str = "",
    *,
    name: str = "",
    references: tuple[Reference, ...] = (),
) -> PayloadSchema:
    """The schema of a document (its text, or its value) or of the part a link names (C43).

    Nothing is ever fetched; equal sources are compiled once. SchemaError says why there is none,
    MissingExtraError what to install.
    """
    if not supported(format):
        reason = "this format is not supported; the payload is carried as it is"
        raise SchemaError(format, link, reason)
    return load(
        Source(
            format=format,
            version=family(format)[1],
            content=content_of(format, document),
            link=link,
            name=name,
            references=references,
        )
    )


@lru_cache(maxsize=4096)
def load(source: Source) -> PayloadSchema:
    """The schema of a source of a supported format, compiled once."""
    return cast("PayloadSchema", _part(source.format, "schema").load(source))


def references_of(format: str, document: Any) -> tuple[str, ...]:  # noqa: A002
    """The other documents that a document names, as it names them; none where it is unreadable."""
    if not supported(format):
        return ()
    read: Callable[[bytes], tuple[str, ...]] = _part(format, "references").references
    return read(content_of(format, document))


def changes(old: PayloadSchema, new: PayloadSchema) -> tuple[Change, ...]:
    """The differences of two versions, in the order of the new document."""
    before, after = (family(one.source.format)[0] for one in (old, new))
    if before != after:
        told = f"The format changed from {old.source.format} to {new.source.format}."
        return (
            Change(
                rule="format-changed",
                old="",
                new="",
                message=told,
                backward="breaking",
                forward="breaking",
            ),
        )
    return cast("tuple[Change, ...]", _part(new.source.format, "compare").changes(old, new))


def _part(format: str, module: str) -> Any:  # noqa: A002
    known = _FORMATS[family(format)[0]]
    try:
        return import_module(f"heraldry.schemas.{known.folder}.{module}")
    except ModuleNotFoundError as error:
        if not known.extra or str(error.name).startswith("heraldry"):
            raise
        raise MissingExtraError(known.extra, known.needs) from None


def content_of(format: str, document: Any) -> bytes:  # noqa: A002
    """The text of a document; a value of JSON is written in the order of its members."""
    # The order of members is the order of the columns.
    if isinstance(document, str):
        document = document.encode("utf-8", "surrogatepass")
    if isinstance(document, bytes):
        return document.removeprefix(_BYTE_ORDER_MARK)
    try:
        return msgspec.json.encode(document, enc_hook=_plain)
    except (TypeError, UnicodeError, RecursionError):
        raise SchemaError(format, "", "the document is not JSON") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
