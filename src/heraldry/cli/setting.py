"""One setting: what it is called, where it may come from, and what it is by default."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click


class CatalogPlace(click.Path):
    """A path that exists, or the address of a registry or document."""

    _PLACES = re.compile(r"https?://(?:\[[^]]*\]|[^:/]+)(?::\d+)?[^:]*|[^:]+")

    def __init__(self) -> None:
        super().__init__(exists=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The place as it was given."""
        if isinstance(value, str) and value.startswith(("http://", "https://")):
            return value
        return super().convert(value, param, ctx)

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The places of a variable, which separates them as ``PATH`` does."""
        return self._PLACES.findall(rv) if os.pathsep == ":" else rv.split(os.pathsep)


CATALOG = CatalogPlace()


class FiniteRange(click.FloatRange):
    """Numbers from a smallest to a largest one; NaN is none of them.

    Click's own range takes NaN, which is neither less nor more than a bound. The help tells the
    smallest alone: the largest is far from what anybody wants.
    """

    def __init__(self, smallest: float, largest: float, *, min_open: bool = False) -> None:
        super().__init__(min=smallest, min_open=min_open)
        self.largest = largest

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, where it is in the range."""
        number = float(super().convert(value, param, ctx))
        if not number <= self.largest:
            self.fail(f"{value} is not a number up to {self.largest:,}.", param, ctx)
        return number


HOURS = 876_000
"""A hundred years: no time that can be set is longer."""
SECONDS = HOURS * 3600
"""The same in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: ``name`` is the long flag without dashes and the key in the TOML file."""

    name: str
    help: str
    env: str
    default: Any = None
    type: Any = str
    metavar: str | None = None
    is_flag: bool = False
    multiple: bool = False
    short: str | None = None
    also: str = ""
    """A variable of another tool that is looked at after our own."""

    @property
    def key(self) -> str:
        """The name as a Python identifier."""
        return self.name.replace("-", "_")
