"""Which parts of entities a reply holds inside them: the flag ``inline`` (FL-50..FL-53)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from heraldry.errors import RegistryError
from heraldry.model.dotpath import ANY, EACH, Step, parse_path
from heraldry.registry.request import Place, Target

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType, Model, ResourceType
    from heraldry.registry.session import Session

SETTINGS: Final = ("capabilities", "model", "modelsource")
"""Inlineable in the registry, but only by their own names (FL-52)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlining:
    """What is inlined in an entity; ``everything``: all of it, and in all that is below."""

    everything: bool = False
    parts: Mapping[str, Inlining] = field(default_factory=dict)

    def at(self, name: str) -> Inlining | None:
        """What is inlined in a part of the entity; ``None``: the part itself is not."""
        return ALL if self.everything else self.parts.get(name)

    def names(self, name: str) -> bool:
        """Whether a setting is inlined: ``*`` is not enough (RG-03)."""
        return name in self.parts


NOTHING: Final = Inlining()
ALL: Final = Inlining(everything=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlineable:
    """What can be inlined in a kind of entity (FL-51)."""

    parts: Mapping[str, Inlineable | None] = field(default_factory=dict)
    """By name; ``None``: a part that has no parts."""


def in_registry(model: Model) -> Inlineable:
    """In the registry itself."""
    groups = {name: in_group(one) for name, one in model.groups.items()}
    return Inlineable(parts={**dict.fromkeys(SETTINGS), **groups})


def in_group(type: GroupType) -> Inlineable:  # noqa: A002
    """In groups of a type."""
    parts = {name: in_resource(one) for name, one in type.resources.items()}
    return Inlineable(parts=parts)


def in_resource(type: ResourceType) -> Inlineable:  # noqa: A002
    """In resources of a type."""
    version = in_version(type)
    parts = {"meta": None, "versions": version, **version.parts}
    return Inlineable(parts=parts)


def in_version(type: ResourceType) -> Inlineable:  # noqa: A002
    """In versions of a type of resource."""
    return Inlineable(parts={type.singular: None} if type.hasdocument else {})


def read_inline(
    session: Session, values: Sequence[str] | None, start: Inlineable | None
) -> Inlining:
    """What a request asks for, by paths that start in what it addresses.

    No value at all stands for ``*`` (FL-50).
    """
    if values is None:
        return NOTHING
    asked: set[tuple[str, ...]] = set()
    for text in values or ("*",):
        path = _read(session, text)
        if path != (ANY,):
            _check(session, text, path, start)
        asked.add(tuple("*" if step == ANY else str(step) for step in path))
    return _gathered(asked)


def _gathered(paths: set[tuple[str, ...]]) -> Inlining:
    below: dict[str, set[tuple[str, ...]]] = {}
    for path in paths:
        if path and path[0] != "*":
            below.setdefault(path[0], set()).add(path[1:])
    return Inlining(
        everything=("*",) in paths,
        parts={name: _gathered(rest) for name, rest in below.items()},
    )


def _read(session: Session, text: str) -> tuple[Step, ...]:
    try:
        path = parse_path(text or "*")
    except ValueError as error:
        raise _bad(session, text, str(error)) from None
    if text.startswith(".") or ANY in path[:-1] or EACH in path:
        raise _bad(session, text, "a path starts with a name, and only its last part may be *")
    return path


def _check(session: Session, text: str, path: Sequence[Step], start: Inlineable | None) -> None:
    """Refuse well-formed paths that lead to nothing that can be inlined (KD-28)."""
    at = start
    for step in path:
        if at is not None and step == ANY:
            return
        if at is None or step not in at.parts:
            arguments = {"name": _named(session.request.target, text)}
            raise RegistryError("inline_noninlineable", session.request.path, arguments)
        at = at.parts[str(step)]


def _named(target: Target, text: str) -> str:
    """A path as errors name it: below resources from the root, as the reference server does."""
    if not target.resources:
        return text
    versions = ("versions",) if target.place in (Place.VERSIONS, Place.VERSION) else ()
    return ".".join((target.groups, target.resources, *versions, text))


def _bad(session: Session, text: str, detail: str) -> RegistryError:
    arguments = {"value": text, "error_detail": detail}
    return RegistryError("bad_inline", session.request.path, arguments)
