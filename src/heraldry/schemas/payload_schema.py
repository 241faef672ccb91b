"""What every payload format offers: decoding, encoding, checks, columns, rows and samples."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Protocol

from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column
from heraldry.schemas.rows import Row
from heraldry.schemas.source import Source


class PayloadSchema(Protocol):
    """A compiled payload schema; it never fetches anything and pickles by its source.

    Values are those of JSON, with ``bytes``, ``Decimal``, ``datetime``, ``date``, ``time`` and
    ``UUID`` where the format has such a type. ``check`` and ``encode`` also take the JSON
    spelling of those (RFC 3339 text, decimal text, base64).
    """

    @property
    def source(self) -> Source:
        """What the schema was compiled from."""
        ...

    @property
    def media_type(self) -> str:
        """The content type of a payload, where nothing else states one."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was guessed where the source does not say it, such as the draft."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table that a valid payload lands in."""
        ...

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The valid value in the bytes of a payload; MessageError says why there is none.

        The content type chooses the encoding where a format has several. The prefixes that
        registries put before a payload are recognised and left out.
        """
        ...

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The bytes of a valid value; MessageError says why there are none."""
        ...

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value."""
        ...

    def check(self, value: Any) -> tuple[Problem, ...]:
        """Why the schema refuses a value: located problems, the first error first; or nothing."""
        ...

    def to_row(self, value: Any) -> Row:
        """A decoded value by column name, or why it does not fit its columns."""
        ...

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value; ``hints`` are used for top-level members where they are valid."""
        ...
