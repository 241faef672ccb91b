"""What every payload format offers: decoding, checks, columns, rows and samples."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Protocol

from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column


class PayloadSchema(Protocol):
    """A compiled payload schema; it never fetches anything and never raises on a value."""

    @property
    def format(self) -> str:
        """The format as the catalog writes it, such as ``JSONSchema/Draft-07``."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table that a valid payload lands in."""
        ...

    def decode(self, payload: bytes) -> Any:
        """The value in the bytes of a payload; MessageError when they hold none."""
        ...

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value."""
        ...

    def check(self, value: Any) -> tuple[Problem, ...]:
        """Why the schema refuses a value: located problems, the first error first; or nothing."""
        ...

    def to_row(self, value: Any) -> dict[str, Any] | tuple[Problem, ...]:
        """A valid value by column name, or why it does not fit its columns."""
        ...

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value; ``hints`` are used for top-level properties where they are valid."""
        ...
