"""How a server is set up; every value has a default."""

from __future__ import annotations

from dataclasses import dataclass, field

from heraldry.dialects.xreg_1_0.wire import RC2, Wire
from heraldry.registry.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What a server needs to know besides the registry it offers."""

    base_url: str = ""
    """The address clients use, without a slash at its end; empty: as each request says."""
    wire: Wire = RC2
    """What is spoken where a request does not say (KD-12)."""
    limits: Limits = field(default_factory=Limits)
    cache: int = 64 * 1024 * 1024
    """How many bytes of replies are kept for the next one who asks."""
    readers: int = 4
    """How many requests that only read may run at once, besides small ones."""
    origins: tuple[str, ...] = ()
    """Whose pages may read and write here: ``https://example.com``; ``*`` is everybody's."""
    hosts: tuple[str, ...] | None = None
    """The names that requests may use for it besides those of its own machine; ``*`` is any.

    ``None``: they are not checked.
    """
    correlation: bool = False
    """Whether replies to writes name the id that their change events carry (HB-12, EV-08)."""
