"""The registry a server offers, and what must be known of it to understand a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from heraldry.errors import RegistryError
from heraldry.model.metamodel import Model
from heraldry.registry.capabilities import Capabilities, read_capabilities
from heraldry.registry.registry import Registry
from heraldry.registry.request import Reply, Request
from heraldry.registry.view_short import long_path


@dataclass(frozen=True, slots=True)
class Types:
    """Model and capabilities of one revision."""

    revision: int
    model: Model
    capabilities: Capabilities


class Offer:
    """A registry; its types are read again only when something was written."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.last_types = self._read_types(self.revision())
        """The types when they were looked at last."""
        with registry.store.read() as tx:
            self.mount = f"/reg-{tx.state().id}"
        """The path that names the registry, as the reference server has it; no type can (A-02)."""

    @property
    def reads_block(self) -> bool:
        """Whether reading may wait for a network."""
        return self._registry.reads_block

    def fetch(
        self,
        needed: Iterable[tuple[str, str]],
        fetched: dict[str, bytes | RegistryError],
        byte_limit: int,
        cancelled: Callable[[], bool],
    ) -> None:
        """Fetch documents that are kept elsewhere, at most so many bytes of them."""
        fetch = self._registry.fetch
        for address, subject in needed:
            if fetch is None or cancelled():
                return
            try:
                content = fetch(address, subject)
            except RegistryError as error:
                fetched[address] = error
                continue
            byte_limit -= len(content)
            reason = "the documents that are kept elsewhere are too large together"
            refusal = RegistryError("bad_request", subject, {"error_detail": reason})
            fetched[address] = content if byte_limit >= 0 else refusal

    def revision(self) -> int:
        """Changes with every write, also of other processes."""
        return self._registry.store.revision()

    def types(self, revision: int | None = None) -> Types:
        """The model and capabilities that hold now; ``revision`` spares the look for it."""
        if revision is None:
            revision = self.revision()
        types = self.last_types
        if types.revision != revision:
            types = self.last_types = self._read_types(revision)
        return types

    def _read_types(self, revision: int) -> Types:
        with self._registry.store.read() as tx:
            state = tx.state()
        model = self._registry.model_of(state)
        return Types(revision, model, read_capabilities(state.capabilities))

    def long_path(self, short: str) -> str:
        """The path that a short one stands for (CA-06)."""
        with self._registry.store.read() as tx:
            return long_path(tx, short)

    def run(self, request: Request) -> Reply:
        """Carry out a request."""
        return self._registry.run(request)
