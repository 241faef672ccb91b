"""Message definitions: what a message must look like, after inheritance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.model.xid import Xid

TYPES = frozenset(
    [
        "any",
        "binary",
        "boolean",
        "duration",
        "integer",
        "number",
        "string",
        "symbol",
        "timestamp",
        "uri",
        "urireference",
        "uritemplate",
        "ulong",
        "uuid",
    ]
)
"""The types a property may have (M35, M57)."""

NOW = "0000-01-01T00:00:00Z"
"""The current-time sentinel (M41)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyDefinition:
    """What one header, property or attribute must be; ``type`` None means not declared.

    ``has_value`` tells a declared ``null`` from no value.
    """

    name: str
    type: str | None = None
    value: Any = None
    has_value: bool = False
    required: bool = False
    description: str = ""
    specurl: str = ""

    @classmethod
    def of(cls, name: str, declared: Any) -> PropertyDefinition:
        """Read a property definition, or a plain value as one that has only ``value`` (C3)."""
        if not isinstance(declared, Mapping):
            return cls(name=name, value=declared, has_value=declared is not None)
        value = declared.get("value")
        kind = declared.get("type")
        return cls(
            name=str(declared.get("name", name)),
            type=str(kind) if kind is not None else None,
            value=value,
            has_value="value" in declared and value not in (None, ""),
            required=declared.get("required") is True,
            description=str(declared.get("description", "")),
            specurl=str(declared.get("specurl", "")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One message definition with everything it inherits; attribute names as in the spec."""

    xid: Xid
    versionid: str = "1"
    envelope: str | None = None
    envelopemetadata: Mapping[str, Any] = field(default_factory=dict)
    envelopeoptions: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    protocoloptions: Mapping[str, Any] = field(default_factory=dict)
    dataschemaformat: str | None = None
    dataschema: Any = None
    dataschemauri: str | None = None
    dataschemaxid: str | None = None
    datacontenttype: str | None = None
    basemessage: str | None = None
    bases: tuple[str, ...] = ()
    """The base messages found, nearest first: xids, and URIs of those kept elsewhere."""
    deprecated: bool = False
    description: str = ""
