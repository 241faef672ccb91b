"""Rules about single attributes that no type expresses (CA-11, CA-15, ME-06, VE-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.errors import RegistryError
from heraldry.registry.versionmodes import moment

_FILLED = ("name", "documentation", "icon", "format", "compatibility")


def check_entity(values: Mapping[str, Any], subject: str) -> None:
    """Refuse empty texts where something must be said, and a removal before its time."""
    for name in _FILLED:
        if values.get(name) == "":
            raise _invalid(subject, name, "must not be an empty string")
    deprecated = values.get("deprecated")
    if not isinstance(deprecated, Mapping):
        return
    effective, removal = deprecated.get("effective"), deprecated.get("removal")
    if effective and removal and moment(removal) < moment(effective):
        raise _invalid(subject, "deprecated.removal", 'must not be before "deprecated.effective"')


def _invalid(subject: str, name: str, detail: str) -> RegistryError:
    return RegistryError("invalid_attribute", subject, {"name": name, "error_detail": detail})
