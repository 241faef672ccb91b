"""Models as they lie in files: with what they include, which may be files beside them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from heraldry.errors import DocumentError, UsageError


def read_source(name: str) -> dict[str, Any]:
    """The source in a file, in JSON or YAML; ``-`` is standard input."""
    from heraldry.dialects.limits import DEFAULT
    from heraldry.dialects.load import parse_document

    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} cannot be read", error.strerror or str(error)) from None
    value = parse_document(data, name, DEFAULT)
    if not isinstance(value, dict):
        raise DocumentError(name, "", "expected a model, an object with groups")
    return value


def resolved(source: dict[str, Any], name: str, allow: tuple[str, ...]) -> dict[str, Any]:
    """A source with its includes in place: files in its folder, and addresses that are allowed."""
    from heraldry.client.registry_includes import Includes
    from heraldry.model.model_includes import resolve_includes

    if name == "-":
        return resolve_includes(source, Includes(allow=allow).load)
    file = Path(name).resolve()
    includes = Includes(allow=(f"{file.parent.as_uri()}/", *allow))
    return resolve_includes(source, includes.load, base=file.as_uri())
