"""Xids: the address of an entity inside a registry (requirement T-10)."""

from __future__ import annotations

from dataclasses import dataclass

from heraldry.errors import XidError


@dataclass(frozen=True, slots=True, order=True)
class Xid:
    """``/GROUPS/GID[/RESOURCES/RID[/versions/VID | /meta]]``; ids compare case-sensitively."""

    groups: str = ""
    group: str = ""
    resources: str = ""
    resource: str = ""
    version: str = ""
    meta: bool = False

    @classmethod
    def parse(cls, text: str) -> Xid:
        """Read an xid; raise :class:`XidError` where the form is wrong."""
        if not text.startswith("/"):
            raise XidError(text, "it must start with '/'")
        parts = text[1:].split("/") if text != "/" else []
        if any(not part for part in parts):
            raise XidError(text, "it has an empty part")
        match parts:
            case []:
                return cls()
            case [groups, group]:
                return cls(groups, group)
            case [groups, group, resources, resource]:
                return cls(groups, group, resources, resource)
            case [groups, group, resources, resource, "versions", version]:
                return cls(groups, group, resources, resource, version)
            case [groups, group, resources, resource, "meta"]:
                return cls(groups, group, resources, resource, meta=True)
        raise XidError(text, "expected /GROUPS/GID[/RESOURCES/RID[/versions/VID]]")

    @property
    def entity(self) -> Xid:
        """The xid of the resource (or group) this one is a version or the meta of."""
        return Xid(self.groups, self.group, self.resources, self.resource)

    def __str__(self) -> str:
        parts = [self.groups, self.group, self.resources, self.resource]
        if self.version:
            parts += ["versions", self.version]
        if self.meta:
            parts.append("meta")
        return "/" + "/".join(part for part in parts if part)
