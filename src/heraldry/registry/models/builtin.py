"""The models that come with Heraldry, by name."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, cast

from heraldry.errors import UsageError

NAMES = ("messaging", "none")
"""``messaging``: message groups, endpoints and schema groups; ``none``: no type at all."""


def builtin_model(name: str) -> dict[str, Any]:
    """The source of a model that comes with Heraldry, in the terms of 1.0-rc4."""
    if name not in NAMES:
        raise UsageError(f"there is no model {name!r}", f"one of {', '.join(NAMES)}")
    if name == "none":
        return {}
    text = files("heraldry.registry.models").joinpath(f"{name}.json").read_text("utf-8")
    return cast("dict[str, Any]", json.loads(text))
