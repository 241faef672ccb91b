"""Changing capabilities: by a whole map, or capability by capability (CP-12, CP-13)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from heraldry.dialects.xreg_1_0.wire import Wire, normal_specversion
from heraldry.errors import RegistryError
from heraldry.registry.capabilities import (
    AVAILABLE,
    EVERYTHING,
    FLAGS,
    FORMATS,
    IGNORES,
    NEWEST,
    SPECVERSIONS,
    VERSIONMODES,
    Capabilities,
)
from heraldry.schemas.compatibility import MODES
from heraldry.schemas.verdicts import format_listed

_SUBJECT: Final = "/capabilities"
_STALE: Final = frozenset(("apis", "mutable"))
"""Names that the text still shows though their capabilities are gone (CP-11)."""
_NAMES: Final = frozenset(field.name for field in fields(Capabilities))
_DEFAULT_MUTABLE: Final = {"capabilities": False, "entities": True, "model": False}


def change_capabilities(
    current: Capabilities, given: Any, *, patch: bool, wire: Wire
) -> Capabilities:
    """The capabilities after a client's change; ``None`` stands for those of a new registry.

    Without ``patch`` a capability that is not given gets the specification's default, with it
    one that is given as null (CP-13).
    """
    if given is None:
        return EVERYTHING
    if not isinstance(given, Mapping):
        raise _refused("a map of capabilities by name is needed")
    named = {name: value for name, value in given.items() if _is_known(name, wire)}
    bare = _bare(current, wire)
    start = bare
    if patch:
        absent = {name: getattr(bare, name) for name in named if named[name] is None}
        start = replace(current, **absent)
    changed = {
        name: _READERS[name](value, wire)
        for name, value in named.items()
        if value is not None and name != "compatibilities"
    }
    return _with_compatibilities(replace(start, **changed), named.get("compatibilities"))


def refuse_closing(before: Capabilities, after: Capabilities) -> None:
    """``capability_error`` where capabilities could not be changed back by any later request.

    A map that leaves them out of ``available`` does that, too; so it must be said twice.
    """
    if before.available.get("capabilities") and not after.available.get("capabilities"):
        reason = 'afterwards no request could change them back, as "available.capabilities"'
        reason += " would not be mutable"
        detail = 'Add {"capabilities":{"mutable":true}} to "available", or repeat the request with'
        detail += " ?confirm=immutable if it is meant; then only `heraldry unlock` leads back."
        raise RegistryError("capability_error", _SUBJECT, {"error_detail": reason}, detail)


def unlocked(current: Capabilities) -> Capabilities:
    """The same capabilities, where everything can be read and changed that ever can be."""
    return replace(current, available=AVAILABLE)


def _bare(current: Capabilities, wire: Wire) -> Capabilities:
    """The defaults of the specification; what is spoken stays spoken (CP-02, CP-04..CP-10)."""
    return Capabilities(
        available={name: _DEFAULT_MUTABLE[name] for name in wire.always_available},
        compatibilities={},
        flags=(),
        formats=(),
        ignores=(),
        pagination=False,
        shortself=False,
        specversions=tuple(sorted({NEWEST, wire.specversion})),
        # A generation that does not have it leaves it as it is.
        stickyversions=wire.stickyversions or current.stickyversions,
        versionmodes=("manual",),
    )


def _is_known(name: str, wire: Wire) -> bool:
    """Whether a name is to be read; ``capability_unknown`` where it means nothing (KD-13)."""
    if name in _STALE:
        return False
    if name not in _NAMES or (name == "stickyversions" and not wire.stickyversions):
        raise RegistryError("capability_unknown", _SUBJECT, {"field": name})
    return True


def _available(given: Any, wire: Wire) -> dict[str, bool]:
    if not isinstance(given, Mapping):
        raise _bad(given, "available", AVAILABLE)
    found: dict[str, bool] = {}
    for key, entry in given.items():
        name = key.lower()
        if name not in AVAILABLE:
            raise _refused(f'"available" knows no "{key}", only {", ".join(AVAILABLE)}')
        if not isinstance(entry, Mapping) or set(entry) - {"mutable"}:
            raise _bad(entry, f"available.{name}", ('{"mutable":false}', '{"mutable":true}'))
        mutable = _switch(entry.get("mutable", False), f"available.{name}.mutable")
        if mutable and not AVAILABLE[name]:
            raise _refused(f'"{name}" of "available" can never be mutable')
        found[name] = mutable
    always = {name: _DEFAULT_MUTABLE[name] for name in wire.always_available}
    return dict(sorted((always | found).items()))


def _specversions(given: Any, _: Wire) -> tuple[str, ...]:
    """CP-09: the newest version is among them, whatever its patch level."""
    listed = _texts(given, "specversions", SPECVERSIONS)
    for text in listed:
        if normal_specversion(text) not in SPECVERSIONS:
            raise _bad(text, "specversions", SPECVERSIONS)
    if NEWEST not in map(normal_specversion, listed):
        raise _missing("specversions", NEWEST)
    return listed


def _versionmodes(given: Any, _: Wire) -> tuple[str, ...]:
    """CP-08: a registry without ``manual`` there is none."""
    listed = _members(given, "versionmodes", VERSIONMODES)
    if "manual" not in listed:
        raise _missing("versionmodes", "manual")
    return listed


def _formats(given: Any, _: Wire) -> tuple[str, ...]:
    """CP-06: one that is offered, or a narrower name of one: ``avro/1.11`` for ``avro*``."""
    listed = _texts(given, "formats", FORMATS)
    for text in listed:
        if not format_listed(text, FORMATS):
            raise _refused(f'the format "{text}" is not supported, only {", ".join(FORMATS)}')
    return listed


def _with_compatibilities(new: Capabilities, given: Any) -> Capabilities:
    """CP-04: rules are for formats that the capabilities list after the change."""
    found = new.compatibilities if given is None else _compatibilities(given)
    for name in found:
        if not format_listed(name, new.formats):
            raise _refused(f'"compatibilities" has "{name}", which "formats" does not list')
    return replace(new, compatibilities=found)


def _compatibilities(given: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(given, Mapping):
        raise _bad(given, "compatibilities", FORMATS)
    found = {
        key.lower(): _texts(modes, f"compatibilities[{key}]", MODES) for key, modes in given.items()
    }
    for name, modes in found.items():
        for mode in modes:
            if mode not in MODES:
                told = f'the compatibility "{mode}" is not supported for "{name}"'
                raise _refused(f"{told}, only {', '.join(MODES)}")
    return dict(sorted(found.items()))


def _members(given: Any, name: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    listed = _texts(given, name, offered)
    for text in listed:
        if text not in offered:
            raise _bad(text, name, offered)
    return listed


def _texts(given: Any, name: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    """A list of texts, each once; ``*`` alone stands for all that are offered (CP-12)."""
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise _bad(given, name, offered)
    if "*" in given:
        if len(given) > 1:
            raise RegistryError("capability_wildcard", _SUBJECT, {"field": name})
        return offered
    return tuple(sorted({one.lower() for one in given}))


def _switch(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise _bad(given, name, ("false", "true"))
    return given


_READERS: Final[Mapping[str, Callable[[Any, Wire], Any]]] = {
    "available": _available,
    "flags": lambda given, _: _members(given, "flags", FLAGS),
    "formats": _formats,
    "ignores": lambda given, _: _members(given, "ignores", IGNORES),
    "pagination": lambda given, _: _switch(given, "pagination"),
    "shortself": lambda given, _: _switch(given, "shortself"),
    "specversions": _specversions,
    "stickyversions": lambda given, _: _switch(given, "stickyversions"),
    "versionmodes": _versionmodes,
}


def _refused(reason: str) -> RegistryError:
    return RegistryError("capability_error", _SUBJECT, {"error_detail": reason})


def _missing(name: str, value: str) -> RegistryError:
    return RegistryError("capability_missing_value", _SUBJECT, {"name": name, "value": value})


def _bad(value: Any, name: str, allowed: Iterable[str]) -> RegistryError:
    text = value if isinstance(value, str) else json.dumps(value)
    arguments = {"value": text, "field": name, "list": ",".join(allowed)}
    return RegistryError("capability_value", _SUBJECT, arguments)
