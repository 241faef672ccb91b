"""Catalogs as text: the document of the dialect they came in."""

from __future__ import annotations

import msgspec

from heraldry.dialects.xreg_1_0 import write
from heraldry.model.catalog import Catalog


def dump(catalog: Catalog) -> bytes:
    """The catalog as an indented JSON document that ends in a line break."""
    text = msgspec.json.format(msgspec.json.encode(write(catalog)), indent=2)
    return text + b"\n"
