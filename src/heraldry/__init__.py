"""Heraldry: describe messages once, then build, recognise and land them.

Names are loaded when first used, so that ``import heraldry`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heraldry.client.resolver import Resolver
    from heraldry.errors import HeraldryError
    from heraldry.messages.catalog import MessageCatalog, open  # noqa: A004
    from heraldry.messages.handlers import Handled
    from heraldry.messages.mapping import Mapped
    from heraldry.messages.message import Message
    from heraldry.messages.verdict import Match, NoMatch, Rejected

    __version__: str

__all__ = [
    "Handled", "HeraldryError", "Mapped", "Match", "Message", "MessageCatalog",
    "NoMatch", "Rejected", "Resolver", "__version__", "open",
]  # fmt: skip

_HOMES = {
    "Handled": "messages.handlers", "HeraldryError": "errors", "Mapped": "messages.mapping",
    "Match": "messages.verdict", "Message": "messages.message", "open": "messages.catalog",
    "MessageCatalog": "messages.catalog", "NoMatch": "messages.verdict",
    "Rejected": "messages.verdict", "Resolver": "client.resolver",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("heraldry")
    if name not in _HOMES:
        raise AttributeError(f"module 'heraldry' has no attribute {name!r}")
    return getattr(import_module(f"heraldry.{_HOMES[name]}"), name)
