"""Paths of a registry as they are written on the command line, and the option of its address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heraldry.cli.settings import option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.client.registry import RegistryClient

_DETAILS = "$details"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPath:
    """``dirs/d1/files/f1?inline``: an xid with or without its first slash, and flags."""

    parts: tuple[str, ...]
    details: bool = False
    query: str = ""

    @classmethod
    def parse(cls, text: str, server: str = "") -> EntityPath:
        """Read a path; an address of the server itself is one, too."""
        path, _, query = text.removeprefix(server).partition("?")
        parts = tuple(part for part in path.split("/") if part)
        details = bool(parts) and parts[-1].endswith(_DETAILS)
        if details:
            parts = (*parts[:-1], parts[-1].removesuffix(_DETAILS))
        if len(parts) > 6 or (len(parts) > 4 and parts[4] not in ("meta", "versions")):
            raise UsageError(f"{text} is no path of a registry", "such as GROUPS/ID/RESOURCES/ID")
        return cls(parts=parts, details=details, query=query)

    @property
    def xid(self) -> str:
        """The path alone."""
        return "/" + "/".join(self.parts)

    @property
    def may_be_document(self) -> bool:
        """Whether it is a resource or a version, which may have a document."""
        return len(self.parts) in (4, 6)

    @property
    def is_collection(self) -> bool:
        """Whether it names many entities; what stands at the root by itself is no collection."""
        if len(self.parts) == 5:
            return self.parts[4] == "versions"
        single = ("capabilities", "capabilitiesoffered", "model", "modelsource", "export")
        return len(self.parts) == 3 or (len(self.parts) == 1 and self.parts[0] not in single)

    def asked(self, *, details: bool = False) -> str:
        """The path to ask for: with ``$details`` where metadata is wanted (HT-08)."""
        suffix = _DETAILS if (details or self.details) and self.may_be_document else ""
        return self.xid + suffix + (f"?{self.query}" if self.query else "")


def server_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that names the registry to talk to."""
    return option("server")(command)


def connect(server: str) -> RegistryClient:
    """A client of the registry at an address; loaded now, so that ``--help`` is quick."""
    from heraldry.client.registry import RegistryClient

    return RegistryClient(server)
