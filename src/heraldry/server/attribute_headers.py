"""Attributes that travel as ``xRegistry-*`` headers beside a document (HB-02..HB-11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from heraldry.dialects.xreg_1_0.header_values import decode_value, encode_value
from heraldry.dialects.xreg_1_0.wire import Wire
from heraldry.errors import RegistryError
from heraldry.server.incoming import Header, Incoming

_PREFIX = b"xregistry-"
_OLD_LABELS = "labels-"


def refuse_headers(incoming: Incoming) -> None:
    """Metadata in the body and in headers at once is an ``extra_xregistry_header`` (WR-08)."""
    for name, _ in incoming.headers:
        if name.startswith(_PREFIX):
            reason = "the attributes of this request belong into its body"
            raise _extra(incoming, name.decode("latin-1"), reason)


def read_headers(incoming: Incoming, content: bytes, singular: str, wire: Wire) -> dict[str, Any]:
    """The attributes of a request's headers, as texts; ``None`` deletes (HB-06..HB-11)."""
    found: dict[str, Any] = {}
    for raw, value in incoming.headers:
        if not raw.startswith(_PREFIX):
            continue
        name = raw[len(_PREFIX) :].decode("latin-1").strip()
        if not name:
            raise _error(incoming, "", 'the name of an attribute must follow the "-"')
        if name in (singular, f"{singular}base64"):
            raise _extra(incoming, f"xRegistry-{name}", "the document is sent as the body")
        if name == "contenttype":
            raise _extra(incoming, f"xRegistry-{name}", "it is sent as Content-Type")
        text = _read_value(incoming, name, value.decode("latin-1"))
        if content and text is not None and name in (f"{singular}url", f"{singular}proxyurl"):
            raise _extra(incoming, f"xRegistry-{name}", "the body must be empty beside it")
        _add(incoming, found, name, text)
    return {wire.inside(name): _whole(value) for name, value in found.items()}


def _read_value(incoming: Incoming, name: str, text: str) -> str | None:
    if text == "null":
        return None
    try:
        return decode_value(text)
    except ValueError as error:
        raise _error(incoming, name, str(error)) from None


def _add(incoming: Incoming, found: dict[str, Any], name: str, text: str | None) -> None:
    """Everything behind the first dot is a key of a map, also behind an old ``labels-``."""
    if name.startswith(_OLD_LABELS):
        name = f"labels.{name.removeprefix(_OLD_LABELS)}"
    name, dot, key = name.partition(".")
    if not dot:
        if isinstance(found.get(name), dict) and text is None:
            return  # the keys that are given beside a deletion are the new map
        if name in found and found[name] != text:
            raise _error(incoming, name, "it is given twice")
        found[name] = text
        return
    keys = found.get(name)
    if keys is None:
        keys = found[name] = {}
    if not isinstance(keys, dict):
        raise _error(incoming, name, "it is given as a value and as a map")
    key = unquote(key)
    if key in keys and keys[key] != text:
        raise _error(incoming, f"{name}.{key}", "it is given twice")
    keys[key] = text


def _whole(value: Any) -> Any:
    """A map replaces the one that was there: keys to be deleted are left out of it (HB-06)."""
    if not isinstance(value, dict):
        return value
    return {key: text for key, text in value.items() if text is not None} or None


def write_headers(attributes: Mapping[str, Any], wire: Wire) -> list[Header]:
    """The headers of a reply: scalars, and the members of maps of scalars (HB-02, HB-04)."""
    headers: list[Header] = []
    for name, value in attributes.items():
        if name == "contenttype":
            continue
        outside = wire.outside(name)
        if isinstance(value, Mapping):
            for key, member in value.items():
                if not isinstance(member, dict | list):
                    # a colon ends the name of a header; keys hold no percent sign of their own
                    headers.append(_header(f"{outside}.{key.replace(':', '%3A')}", member))
        elif value is not None and not isinstance(value, list):
            headers.append(_header(outside, value))
    return headers


def _header(name: str, value: Any) -> Header:
    return f"xRegistry-{name}".encode("ascii"), encode_value(value).encode("ascii")


def _error(incoming: Incoming, name: str, reason: str) -> RegistryError:
    given = {"name": f"xRegistry-{name}", "error_detail": reason}
    return RegistryError("header_error", incoming.subject, given)


def _extra(incoming: Incoming, name: str, reason: str) -> RegistryError:
    given = {"name": name, "error_detail": reason}
    return RegistryError("extra_xregistry_header", incoming.subject, given)
