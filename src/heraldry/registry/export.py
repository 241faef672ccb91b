"""The whole registry as one document: ``/export`` (VW-02, VW-03)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heraldry.registry.capabilities import require_available

if TYPE_CHECKING:
    from heraldry.registry.request import Flags
    from heraldry.registry.session import Session

_CONTENT: Final = ("*", "capabilities", "modelsource")


def export_flags(session: Session, flags: Flags) -> Flags:
    """``/export`` is ``/?doc&inline=*,capabilities,modelsource``; an explicit inline overrides.

    It works also where the flags themselves are off; what is not available is left out.
    """
    require_available(session, "export")
    inline = flags.inline
    if inline is None:
        available = session.capabilities.available
        inline = tuple(name for name in _CONTENT if name == "*" or name in available)
    return replace(flags, doc=True, inline=inline)
