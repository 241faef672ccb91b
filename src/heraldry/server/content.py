"""The body of a request: read within its limit, unpacked, and parsed as JSON."""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from heraldry.errors import RegistryError
from heraldry.model.json_fault import json_fault
from heraldry.registry.limits import Limits
from heraldry.registry.request import Null
from heraldry.server.incoming import Incoming

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

# Possessive: a way back for every character of a long string would take gigabytes.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+(:?)', re.DOTALL)


async def read_content(incoming: Incoming, receive: Receive, limits: Limits) -> bytes | None:
    """All bytes of a body, unpacked; refused as soon as it is larger than the limit.

    ``None``: the client went away.
    """
    declared = incoming.header(b"content-length") or "0"
    if declared.isdigit() and int(declared) > limits.body:
        raise _too_large(incoming, limits)
    pieces: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        size += len(piece)
        if size > limits.body:
            raise _too_large(incoming, limits)
        pieces.append(piece)
        more = message.get("more_body", False)
    return _unpacked(incoming, b"".join(pieces), limits)


def _unpacked(incoming: Incoming, data: bytes, limits: Limits) -> bytes:
    encoding = (incoming.header(b"content-encoding") or "identity").strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "x-gzip"):
        detail = "Send the body as it is, or with gzip."
        given = {"encoding": encoding}
        raise RegistryError("unsupported_encoding", incoming.subject, given, detail)
    unpacking = zlib.decompressobj(wbits=31)
    try:
        plain = unpacking.decompress(data, limits.body + 1)
    except zlib.error:
        raise _not_parsed(incoming, "the body is not gzip") from None
    if len(plain) > limits.body:
        raise _too_large(incoming, limits)
    if not unpacking.eof or unpacking.unused_data:
        raise _not_parsed(incoming, "the body is not one complete gzip stream")
    return plain


def read_json(incoming: Incoming, data: bytes, limits: Limits) -> Any:
    """The JSON value of a body: members given twice and deep nesting are refused (GN-04)."""
    _check_values(incoming, data, limits)
    try:
        value = msgspec.json.decode(data)
    except msgspec.MsgspecError as error:
        raise _not_parsed(incoming, json_fault(data, error).told(data)) from None
    except UnicodeDecodeError:
        raise _not_parsed(incoming, "the text is not UTF-8") from None
    except RecursionError:
        raise _too_deep(incoming, limits) from None
    if type(value) not in (dict, list):
        return Null.NULL if value is None else value
    members = _count_members(incoming, value, limits)
    if members and _STRING.findall(data).count(b":") != members:
        raise _not_parsed(incoming, "an object has the same member twice")
    return value


def _check_values(incoming: Incoming, data: bytes, limits: Limits) -> None:
    """Refuse more values than the limit while they are text: in memory each takes 20 times that."""
    if data.count(b",") >= limits.values <= _STRING.sub(b"", data).count(b","):
        raise _not_parsed(incoming, f"more than {limits.values} values")


def _count_members(incoming: Incoming, value: Any, limits: Limits) -> int:
    """How many members all objects have together; the walk also measures the depth."""
    members = depth = 0
    level = [value]
    while level:
        depth += 1
        if depth > limits.nesting:
            raise _too_deep(incoming, limits)
        below: list[Any] = []
        for one in level:
            if type(one) is dict:
                members += len(one)
                one = one.values()
            below += [inner for inner in one if type(inner) is dict or type(inner) is list]
        level = below
    return members


def _not_parsed(incoming: Incoming, reason: str) -> RegistryError:
    return RegistryError("parsing_data", incoming.subject, {"error_detail": reason})


def _too_deep(incoming: Incoming, limits: Limits) -> RegistryError:
    return _not_parsed(incoming, f"nested deeper than {limits.nesting} levels")


def _too_large(incoming: Incoming, limits: Limits) -> RegistryError:
    detail = f"At most {limits.body} bytes are taken."
    return RegistryError("request_too_large", incoming.subject, detail=detail)
