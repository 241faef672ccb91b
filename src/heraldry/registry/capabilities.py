"""Capabilities: which features the registry has, and what it offers (CP-01..CP-16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heraldry.dialects.xreg_1_0.wire import WIRES, Wire
from heraldry.errors import RegistryError
from heraldry.registry.documents_numbers import NUMBERS
from heraldry.schemas.compatibility import MODES

if TYPE_CHECKING:
    from heraldry.registry.session import Session

FLAGS: Final = (
    "binary",
    "collections",
    "doc",
    "epoch",
    "filter",
    "ignore",
    "inline",
    "setdefaultversionid",
    "sort",
    "specversion",
)
FORMATS: Final = (
    "avro*",
    "jsonschema*",
    "jsonstructure*",
    NUMBERS,
    "protobuf*",
    "xmlschema*",
    "xsd*",
)
"""What ``heraldry.schemas`` compiles; the text behind a name is the version of the format."""
IGNORES: Final = (
    "capabilities",
    "defaultversionid",
    "defaultversionsticky",
    "epoch",
    "id",
    "modelsource",
    "readonly",
)
VERSIONMODES: Final = ("createdat", "manual", "modifiedat", "semver")
SPECVERSIONS: Final = tuple(wire.specversion for wire in WIRES)
NEWEST: Final = SPECVERSIONS[-1]

AVAILABLE: Final = {
    ".xregistry": False,
    "capabilities": True,
    "capabilitiesoffered": False,
    "entities": True,
    "export": False,
    "model": False,
    "modelsource": True,
}
"""What can be asked for, and whether it may be declared to be changeable (CP-02)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The features that are on; texts are in lower case, lists are sorted."""

    available: Mapping[str, bool]
    """By name: whether it may be changed."""
    compatibilities: Mapping[str, tuple[str, ...]]
    """By format, which may hold ``*``: the compatibility rules."""
    flags: tuple[str, ...]
    formats: tuple[str, ...]
    ignores: tuple[str, ...]
    pagination: bool
    shortself: bool
    specversions: tuple[str, ...]
    stickyversions: bool
    versionmodes: tuple[str, ...]


EVERYTHING: Final = Capabilities(
    available=AVAILABLE,
    compatibilities=dict.fromkeys(FORMATS, MODES),
    flags=FLAGS,
    formats=FORMATS,
    ignores=IGNORES,
    pagination=True,
    shortself=False,
    specversions=SPECVERSIONS,
    stickyversions=True,
    versionmodes=VERSIONMODES,
)
"""The capabilities of a new registry: all that is offered, and no ``shortself`` in entities."""


def read_capabilities(stored: Mapping[str, Any]) -> Capabilities:
    """The capabilities that :func:`stored_capabilities` wrote; those of a new registry for {}."""
    if not stored:
        return EVERYTHING
    compatibilities = stored["compatibilities"]
    return Capabilities(
        available=stored["available"],
        compatibilities={name: tuple(modes) for name, modes in compatibilities.items()},
        flags=tuple(stored["flags"]),
        formats=tuple(stored["formats"]),
        ignores=tuple(stored["ignores"]),
        pagination=stored["pagination"],
        shortself=stored["shortself"],
        specversions=tuple(stored["specversions"]),
        stickyversions=stored["stickyversions"],
        versionmodes=tuple(stored["versionmodes"]),
    )


def stored_capabilities(capabilities: Capabilities) -> dict[str, Any]:
    """The form a store keeps; {} for what a new registry has, so that it grows with upgrades."""
    return {} if capabilities == EVERYTHING else _written(capabilities)


def show_capabilities(capabilities: Capabilities, wire: Wire) -> dict[str, Any]:
    """The map as a client sees it: every capability of its generation (CP-01, CP-10)."""
    shown = _written(capabilities)
    shown["available"] = {
        name: {"mutable": mutable} for name, mutable in capabilities.available.items()
    }
    if not wire.stickyversions:
        del shown["stickyversions"]
    return shown


def _written(capabilities: Capabilities) -> dict[str, Any]:
    listed = {name: list(modes) for name, modes in capabilities.compatibilities.items()}
    return {
        "available": dict(capabilities.available),
        "compatibilities": listed,
        "flags": list(capabilities.flags),
        "formats": list(capabilities.formats),
        "ignores": list(capabilities.ignores),
        "pagination": capabilities.pagination,
        "shortself": capabilities.shortself,
        "specversions": list(capabilities.specversions),
        "stickyversions": capabilities.stickyversions,
        "versionmodes": list(capabilities.versionmodes),
    }


def offered(wire: Wire) -> dict[str, Any]:
    """What a client may choose from: ``/capabilitiesoffered`` (CP-16)."""
    shown = {
        "available": {
            "type": "object",
            "attributes": {name: _offered_data(free=free) for name, free in AVAILABLE.items()},
        },
        "compatibilities": {
            "type": "object",
            "attributes": {name: _offered_list(MODES) for name in FORMATS},
        },
        "flags": _offered_list(FLAGS),
        "formats": _offered_list(FORMATS),
        "ignores": _offered_list(IGNORES),
        "pagination": _offered_switch(),
        "shortself": _offered_switch(),
        "specversions": _offered_list(SPECVERSIONS),
        "stickyversions": _offered_switch(),
        "versionmodes": _offered_list(VERSIONMODES),
    }
    if not wire.stickyversions:
        del shown["stickyversions"]
    return shown


def _offered_data(*, free: bool) -> dict[str, Any]:
    mutable = _offered_switch() if free else {"type": "boolean", "enum": [False]}
    return {"type": "object", "attributes": {"mutable": mutable}}


def _offered_list(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "enum": list(values), "item": {"type": "string"}}


def _offered_switch() -> dict[str, Any]:
    return {"type": "boolean", "enum": [False, True]}


def require_available(session: Session, name: str, *, write: bool = False) -> None:
    """``not_available`` for data that is not listed, or not to be changed (CP-03, KD-14, KD-24).

    ``name`` is one of ``available``; that of the subject is the path for entities.
    """
    mutable = session.capabilities.available.get(name)
    if mutable is None or (write and not mutable):
        subject = session.request.target.xid if name == "entities" else f"/{name}"
        detail = "It can be read but not changed." if mutable is not None else ""
        raise RegistryError("not_available", subject, detail=detail)
