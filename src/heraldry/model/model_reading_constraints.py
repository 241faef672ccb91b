"""Reading the constraints of a group type; what they refer to is checked later (MD-50)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.model.metamodel import Constraint
from heraldry.model.model_reading_aspects import Aspects

_ASPECTS = ("default", "enum", "equals")


def read_constraints(source: Mapping[str, Any], path: str) -> dict[str, Constraint]:
    """Constraints by their key, ``RESOURCES.PATH``."""
    found = {}
    for key, given in source.items():
        aspects = Aspects(given, f"{path}.constraints.{key}", _ASPECTS)
        found[key] = Constraint(
            default=aspects.given.get("default"),
            enum=tuple(aspects.items("enum")),
            equals=aspects.text("equals"),
        )
    return found
