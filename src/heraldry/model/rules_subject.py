"""What a rule looks at: an entity with its attributes, and where each member stands in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.endpoint_options import COMMON
from heraldry.model.entities import Attributes, Group, Resource
from heraldry.model.problem import Finding, Severity

Path = tuple[str | int, ...]

_SPELLINGS = {
    "basemessage": ("basemessageuri", "basemessageurl"),
    "envelope": ("format",),
    "envelopemetadata": ("metadata",),
    "payload_format": ("payload_format_indicator",),
    "reply-to": ("reply",),
    "protocoloptions": ("config",),
    "url": ("uri",),
    "schema": ("schemabase64",),
}
"""How documents spell members that have another canonical name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A group, or one version of a message, under the rules.

    ``attributes`` are its own; ``definition`` is the message after inheritance, None for groups,
    older versions, borrowed messages and circular chains.
    """

    catalog: Catalog
    file: str
    steps: Path
    source: Attributes
    attributes: Attributes
    group: Group
    resource: Resource | None = None
    definition: Definition | None = None
    cycle: tuple[str, ...] = field(default=())

    def effective(self, name: str) -> Any:
        """An attribute after inheritance where that is known, else the own or the group's."""
        if self.definition is not None:
            return getattr(self.definition, name)
        value = self.attributes.get(name)
        if value is None and name in {"envelope", "protocol"}:
            value = self.group.attributes.get(name)
        return value

    def says(self, *path: str | int) -> bool:
        """Whether the entity itself has a member, not only what it inherits."""
        value: Any = self.attributes
        for step in path:
            if isinstance(step, int):
                if not isinstance(value, list) or step >= len(value):
                    return False
            elif not isinstance(value, Mapping) or step not in value:
                return False
            value = value[step]
        return True

    def error(self, rule: str, path: Path, message: str, advice: str) -> Finding:
        """A broken MUST."""
        return self._finding(rule, path, message, advice, "error")

    def warning(self, rule: str, path: Path, message: str, advice: str) -> Finding:
        """What is read all the same, but is not as the specification has it."""
        return self._finding(rule, path, message, advice, "warning")

    def info(self, rule: str, path: Path, message: str, advice: str) -> Finding:
        """What breaks no rule, but may not be meant."""
        return self._finding(rule, path, message, advice, "info")

    def _finding(
        self, rule: str, path: Path, message: str, advice: str, severity: Severity
    ) -> Finding:
        location = pointer(self.steps + located(self.source, path))
        return Finding(
            file=self.file,
            location=location,
            rule=rule,
            severity=severity,
            message=message,
            advice=advice,
        )


def pointer(steps: Path) -> str:
    """The JSON pointer of a path."""
    return "".join("/" + str(s).replace("~", "~0").replace("/", "~1") for s in steps)


def located(source: Any, path: Path) -> Path:
    """The path as the document spells it, as deep as the document goes."""
    found: list[str | int] = []
    for index, step in enumerate(path):
        steps: Path
        if isinstance(source, Mapping) and isinstance(step, str):
            rest = path[index + 1 :]
            if step == "protocoloptions" and rest and _stands_beside(source, rest[0]):
                continue
            steps = _member(source, step, rest)
            if not steps:
                break
        elif isinstance(source, list) and isinstance(step, int) and step < len(source):
            steps = (step,)
        else:
            break
        for one in steps:
            source = source[one]
            found.append(one)
    return tuple(found)


def _member(source: Mapping[str, Any], name: str, rest: Path) -> tuple[str, ...]:
    """The steps to a member: itself, another spelling, or where older documents keep it."""
    if name == "envelopemetadata" and rest:
        # Property definitions may stand in envelopeoptions (C1).
        metadata, options = source.get(name), source.get("envelopeoptions")
        if isinstance(options, Mapping) and rest[0] in options:
            inner = metadata if isinstance(metadata, Mapping) else {}
            if rest[0] not in inner:
                return ("envelopeoptions",)
    if name in source:
        return (name,)
    for other in _SPELLINGS.get(name, ()):
        if other in source:
            return (other,)
    folded = _fold(name)
    for key in source:
        if _fold(key) == folded:
            return (key,)
    for wrapper in ("attributes", "options"):
        wrapped = source.get(wrapper)
        steps = _member(wrapped, name, rest) if isinstance(wrapped, Mapping) else ()
        if steps:
            return (wrapper, *steps)
    return ()


def _stands_beside(source: Mapping[str, Any], name: str | int) -> bool:
    """Whether an endpoint has an option beside protocoloptions and not in it (C41)."""
    inner = source.get("protocoloptions", source.get("config"))
    has_own = isinstance(inner, Mapping) and name in inner
    return name in COMMON and name in source and not has_own


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "")
