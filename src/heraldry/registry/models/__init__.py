"""The models that a new registry may start with."""

from heraldry.registry.models.builtin import NAMES, builtin_model

__all__ = ["NAMES", "builtin_model"]
