"""One request at work: the transaction it runs in and what holds for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heraldry.model.metamodel import Model
from heraldry.registry.capabilities import Capabilities
from heraldry.registry.limits import Limits
from heraldry.registry.proxy import Proxy
from heraldry.registry.request import Flags, Request
from heraldry.store.rows import State
from heraldry.store.store import Reader

if TYPE_CHECKING:
    from heraldry.dialects.xreg_1_0.wire import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What reading needs: a snapshot, the registry's state at its start, and the request."""

    tx: Reader
    state: State
    model: Model
    capabilities: Capabilities
    limits: Limits
    request: Request
    """Without the flags that are not supported."""
    asked: Flags
    """All flags that were given."""
    proxy: Proxy
    """Reads documents that are kept elsewhere."""
    revision: int | None = None
    """The store's revision, asked before the snapshot began; ``None``: it is not known."""

    @property
    def wire(self) -> Wire:
        """The generation that is spoken."""
        return self.request.wire
