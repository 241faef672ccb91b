"""The body of a request: read within its limits, unpacked, and parsed as JSON."""

from __future__ import annotations

import asyncio
import gc
import zlib
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

import msgspec

from heraldry.errors import RegistryError
from heraldry.model.json_fault import json_fault
from heraldry.registry.limits import Limits
from heraldry.registry.request import Null
from heraldry.server.incoming import Incoming
from heraldry.server.json_measure import Measure, measure_json
from heraldry.server.memory_budget import MemoryShare

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_UNPACKED: Final = 64 * 1024
"""So many bytes are unpacked at a time; others are served in between."""
_collecting = Lock()


async def read_content(
    incoming: Incoming, receive: Receive, limits: Limits, share: MemoryShare
) -> bytes | None:
    """All bytes of a body, unpacked; refused as soon as it is larger than the limit.

    ``None``: the client went away.
    """
    encoding = (incoming.header(b"content-encoding") or "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        detail = "Send the body as it is, or with gzip."
        arguments = {"encoding": encoding}
        raise RegistryError("unsupported_encoding", incoming.subject, arguments, detail)
    packed = encoding.endswith("gzip")
    try:
        return await read_body(
            receive, incoming.header(b"content-length"), limits.body, share, packed=packed
        )
    except OverflowError:
        raise _too_large(incoming, f"At most {limits.body} bytes are taken.") from None
    except ValueError as error:
        raise _not_parsed(incoming, str(error)) from None


async def read_body(
    receive: Receive, declared: str | None, most: int, share: MemoryShare, *, packed: bool = False
) -> bytes | None:
    """All bytes of a body; each is read only once ``share`` has got room for it.

    ``None``: the client went away. OverflowError: it is larger than ``most``; ValueError: it
    cannot be unpacked.
    """
    if declared and declared.isdigit() and int(declared) > most:
        raise OverflowError
    unpacking = zlib.decompressobj(wbits=31) if packed else None
    body = bytearray()
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(piece)
        if size > most:
            raise OverflowError
        for part in (piece,) if unpacking is None else _unpacked(unpacking, piece):
            if len(body) + len(part) > most:
                raise OverflowError
            await share.grow(len(part))
            body += part
            if unpacking is not None:
                await asyncio.sleep(0)
    if unpacking is not None and (not unpacking.eof or unpacking.unused_data):
        raise ValueError("the body is not one complete gzip stream")
    return bytes(body)


def _unpacked(unpacking: Any, piece: bytes) -> Iterator[bytes]:
    """What a piece of gzip holds, in pieces."""
    if unpacking.eof and piece:
        raise ValueError("something follows the gzip stream")
    part = b"x" * _UNPACKED
    while len(part) == _UNPACKED or piece:
        try:
            part = unpacking.decompress(piece, _UNPACKED)
        except zlib.error:
            raise ValueError("the body is not gzip") from None
        yield part
        piece = b"" if unpacking.eof else unpacking.unconsumed_tail


def read_json(incoming: Incoming, data: bytes, limits: Limits) -> Any:
    """The JSON value of a body: members given twice and deep nesting are refused (GN-04)."""
    measure = _measured(incoming, data, limits)
    if incoming.state.count_body_bytes is not None:
        incoming.state.count_body_bytes(measure.memory)
    try:
        with _without_collecting():
            value = msgspec.json.decode(data)
    except msgspec.MsgspecError as error:
        raise _not_parsed(incoming, json_fault(data, error).described(data)) from None
    except UnicodeDecodeError:
        raise _not_parsed(incoming, "the text is not UTF-8") from None
    except RecursionError:
        raise _too_deep(incoming, limits) from None
    if type(value) not in (dict, list):
        return Null.NULL if value is None else value
    if measure.members and _count_members(value) != measure.members:
        raise _not_parsed(incoming, "an object has the same member twice")
    return value


def _measured(incoming: Incoming, data: bytes, limits: Limits) -> Measure:
    """What a text holds, refused as soon as it is too much."""
    measure = Measure()
    for measure in measure_json(data):
        if measure.depth > limits.nesting:
            raise _too_deep(incoming, limits)
        if measure.values > limits.values:
            raise _not_parsed(incoming, f"more than {limits.values} values")
        if measure.memory + len(data) > limits.bodies:
            detail = f"To read it would take more than {limits.bodies} bytes of memory."
            raise _too_large(incoming, detail)
    return measure


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Hold off the collector, which would look at all values again and again while they are made.

    It holds up every other thread.
    """
    with _collecting:
        was_on = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_on:
                gc.enable()


def _count_members(value: Any) -> int:
    """How many members all objects have together."""
    members = 0
    level = [value]
    while level:
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


def _too_large(incoming: Incoming, detail: str) -> RegistryError:
    return RegistryError("request_too_large", incoming.subject, detail=detail)
