"""What a ``.proto`` document refers to."""

from __future__ import annotations

from heraldry.schemas.protobuf.document import Document


def references(content: bytes) -> tuple[str, ...]:
    """The names in the import statements of a document, as written."""
    return Document(content).imports
