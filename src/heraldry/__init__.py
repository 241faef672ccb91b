"""Heraldry: describe messages once, then build, recognise and land them.

Names are loaded when first used, so that ``import heraldry`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heraldry.errors import HeraldryError
    from heraldry.messages.catalog import MessageCatalog, open  # noqa: A004
    from heraldry.messages.message import Message
    from heraldry.messages.verdict import Match, NoMatch

    __version__: str

__all__ = ["HeraldryError", "Match", "Message", "MessageCatalog", "NoMatch", "__version__", "open"]

_HOMES = {
    "HeraldryError": "heraldry.errors",
    "Match": "heraldry.messages.verdict",
    "Message": "heraldry.messages.message",
    "MessageCatalog": "heraldry.messages.catalog",
    "NoMatch": "heraldry.messages.verdict",
    "open": "heraldry.messages.catalog",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("heraldry")
    if name not in _HOMES:
        raise AttributeError(f"module 'heraldry' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
