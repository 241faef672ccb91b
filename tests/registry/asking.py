"""Asking a registry in memory, without a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from heraldry.dialects.xreg_1_0.wire import RC4, Wire
from heraldry.errors import RegistryError
from heraldry.registry.registry import Registry
from heraldry.registry.request import Document, Flags, Request, Target


def registry(
    model: str | Mapping[str, Any] = "none", include: Callable[[str], Any] | None = None
) -> Registry:
    """A new registry in memory."""
    return Registry.open("sqlite::memory:", registry_id="reg", model=model, include=include)


def ask(
    to: Registry, action: Any, path: str, body: Any = None, *, wire: Wire = RC4, **flags: Any
) -> Any:
    """The body of the reply to a request; a document is answered as it is."""
    reply = to.run(
        Request(
            action=action,
            target=Target.parse(path),
            flags=Flags(**flags),
            body=Document(content=body) if isinstance(body, bytes) else body,
            wire=wire,
            base="http://reg.example",
            path=path,
        )
    )
    if reply.pieces is not None:
        return msgspec.json.decode(b"".join(reply.pieces))
    return reply.document if reply.document is not None else reply.body


def refused(to: Registry, action: Any, path: str, body: Any = None, **more: Any) -> RegistryError:
    """The error that a request leads to."""
    try:
        found = ask(to, action, path, body, **more)
    except RegistryError as error:
        return error
    message = f"{action} {path} was not refused: {found}"
    raise AssertionError(message)


def changes(to: Registry, after: int = 0) -> list[tuple[str, str, tuple[str, ...]]]:
    """What the journal has: action, xid and changed names."""
    with to.store.read() as tx:
        return [(one.action, one.xid, one.changed) for one in tx.journal(after, 10_000)]
