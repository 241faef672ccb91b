"""The libraries this layer stands on: where one is missing, the error names the extra."""

from __future__ import annotations

from importlib.util import find_spec

from heraldry.errors import MissingExtraError

NEEDED = ("pyspark", "pyarrow", "deltalake", "numpy")
"""Modules that the extra ``spark`` brings."""


def require() -> None:
    """Raise :class:`MissingExtraError` for the first library that is not installed."""
    for module in NEEDED:
        if find_spec(module) is None:
            raise MissingExtraError("spark", module)


require()
