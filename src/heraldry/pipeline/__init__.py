"""Whole streams into typed tables on Spark: source, decode, match, validate, land."""

from heraldry.pipeline.extra import NEEDED

__all__ = ["NEEDED"]
