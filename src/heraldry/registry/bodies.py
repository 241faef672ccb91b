"""Bodies of writes: objects and maps of objects, and what they must not be (CO-07, HT-07)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.request import Null

if TYPE_CHECKING:
    from heraldry.registry.request import Request


def object_body(request: Request) -> dict[str, Any]:
    """The object that was sent, without ``$schema`` (GN-06); nothing at all is an error (HT-07)."""
    body = request.body
    if body is None:
        raise RegistryError("missing_body", request.path)
    if body is Null.NULL:
        return {}
    if not isinstance(body, Mapping):
        detail = "the body must be a JSON object"
        raise RegistryError("parsing_data", request.path, {"error_detail": detail})
    return {name: value for name, value in body.items() if name != "$schema"}


def entries_of(
    request: Request, body: Mapping[str, Any], name: str, subject: str
) -> dict[str, Mapping[str, Any]]:
    """A collection in a body: a map of entities, nothing else (CO-07)."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        arguments = {"name": name, "error_detail": "must be a map of entities"}
        raise RegistryError("invalid_attribute", subject, arguments)
    return checked_entries(request, value)


def checked_entries(request: Request, value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """A map whose values are all objects, else ``bad_request`` (CO-07)."""
    for key, entry in value.items():
        if not isinstance(entry, Mapping):
            detail = f'the value of "{key}" must be an object'
            raise RegistryError("bad_request", request.path, {"error_detail": detail})
    return dict(value)
