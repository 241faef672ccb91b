"""AMQP messages as the bytes of a transfer: the sections, each value in its type (M55..M59)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from proton import (
    Array,
    Data,
    DataException,
    Described,
    decimal32,
    decimal64,
    decimal128,
    symbol,
    timestamp,
    ubyte,
    uint,
    ulong,
)

from heraldry.errors import MessageError
from heraldry.messages.message import Pairs
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.model.problem import Problem
from heraldry.model.rules_amqp import HEADER, PROPERTIES

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HEADER, _DELIVERY, _ANNOTATIONS, _PROPERTIES, _APPLICATION = 0x70, 0x71, 0x72, 0x73, 0x74
_DATA, _SEQUENCE, _VALUE, _FOOTER = 0x75, 0x76, 0x77, 0x78
_MAPS = {
    _DELIVERY: "delivery_annotations",
    _ANNOTATIONS: "message_annotations",
    _APPLICATION: "application_properties",
    _FOOTER: "footer",
}
_NAMES = {
    "amqp:header:list": _HEADER,
    "amqp:delivery-annotations:map": _DELIVERY,
    "amqp:message-annotations:map": _ANNOTATIONS,
    "amqp:properties:list": _PROPERTIES,
    "amqp:application-properties:map": _APPLICATION,
    "amqp:data:binary": _DATA,
    "amqp:amqp-sequence:list": _SEQUENCE,
    "amqp:amqp-value:*": _VALUE,
    "amqp:footer:map": _FOOTER,
}
# The order of the specification's lists, and the types of members that Python's do not tell.
_HEADER_ORDER = ("durable", "priority", "ttl", "first-acquirer", "delivery-count")
_PROPERTIES_ORDER = (
    *("message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type"),
    *("content-encoding", "absolute-expiry-time", "creation-time", "group-id", "group-sequence"),
    "reply-to-group-id",
)
_TYPES: Mapping[str, Callable[[Any], Any]] = {
    "priority": ubyte,
    "ttl": uint,
    "delivery-count": uint,
    "group-sequence": uint,
    "content-type": symbol,
    "content-encoding": symbol,
    "message-id": lambda value: ulong(value) if isinstance(value, int) else value,
    "correlation-id": lambda value: ulong(value) if isinstance(value, int) else value,
}
_FAULTS = (DataException, AttributeError, KeyError, TypeError, ValueError, OverflowError)
assert set(_HEADER_ORDER) == set(HEADER)
assert set(_PROPERTIES_ORDER) == set(PROPERTIES)


def encode(raw: AmqpMessage) -> bytes:
    """The message as bytes: sections that say nothing are left out; MessageError if it cannot be.

    The body is one data section; where there is none, the null that AMQP wants in its place.
    """
    try:
        sections = [
            _list(_HEADER, raw.header, _HEADER_ORDER),
            _map(_DELIVERY, raw.delivery_annotations, symbol),
            _map(_ANNOTATIONS, raw.message_annotations, symbol),
            _list(_PROPERTIES, raw.properties, _PROPERTIES_ORDER),
            _map(_APPLICATION, raw.application_properties, str),
            _section(_VALUE, None) if raw.body is None else _section(_DATA, raw.body),
            _map(_FOOTER, raw.footer, symbol),
        ]
    except (AssertionError, *_FAULTS) as error:  # proton asserts the ranges of its numbers
        raise _wrong(f"cannot be an AMQP message: {error}") from None
    return b"".join(sections)


def decode(content: bytes) -> AmqpMessage:
    """The inverse of :func:`encode`, for any message; MessageError where it is none.

    A body that is one text or binary value is taken as its bytes, other values and sequences as
    their JSON text.
    """
    sections: dict[str, Any] = {}
    body = _Body()
    try:
        for code, value in _sections(content):
            if code in _MAPS:
                sections[_MAPS[code]] = tuple((str(k), _plain(v)) for k, v in value.items())
            elif code in (_HEADER, _PROPERTIES):
                order = _HEADER_ORDER if code == _HEADER else _PROPERTIES_ORDER
                name = "header" if code == _HEADER else "properties"
                known = zip(order, value, strict=False)
                sections[name] = tuple((n, _plain(v)) for n, v in known if v is not None)
            else:
                body.add(code, value)
        return AmqpMessage(**sections, body=body.content())
    except RecursionError:
        raise _wrong("is not an AMQP message: its values are nested too deep") from None
    except _FAULTS as error:
        raise _wrong(f"is not an AMQP message: {error}") from None


def _wrong(told: str) -> MessageError:
    return MessageError((Problem(path="/", rule="amqp", message=told),))


def _sections(content: bytes) -> Iterable[tuple[int, Any]]:
    rest = memoryview(content)
    while rest:
        data = Data()
        length = data.decode(rest)
        rest = rest[length:]
        data.rewind()
        data.next()
        section = data.get_object()
        if not isinstance(section, Described):
            raise TypeError("a section has no name")
        code: Any = section.descriptor
        yield _NAMES.get(code, 0) if isinstance(code, str) else int(code), section.value


def _section(code: int, value: Any) -> bytes:
    data = Data()
    data.put_object(Described(ulong(code), value))
    encoded: bytes = data.encode()
    return encoded


def _list(code: int, pairs: Pairs, order: tuple[str, ...]) -> bytes:
    if not pairs:
        return b""
    given = {name: _TYPES.get(name, _typed)(value) for name, value in pairs}
    last = max(order.index(name) for name in given)
    return _section(code, [given.get(name) for name in order[: last + 1]])


def _map(code: int, pairs: Pairs, key: Callable[[str], str]) -> bytes:
    if not pairs:
        return b""
    return _section(code, {key(name): _typed(value) for name, value in pairs})


def _typed(value: Any) -> Any:
    """A value as proton knows its AMQP type."""
    match value:
        case bool():
            return value
        case int():
            return value if value < 2**63 else ulong(value)
        case datetime():
            return timestamp((value - _EPOCH) // timedelta(milliseconds=1))
        case list():
            return [_typed(one) for one in value]
        case dict():
            return {name: _typed(one) for name, one in value.items()}
    return value


def _plain(value: Any) -> Any:
    """A value of proton in the types that messages hold (see ``messages/amqp_types.py``)."""
    match value:
        case None | bool() | UUID():
            return value
        case timestamp():
            return _EPOCH + timedelta(milliseconds=int(value))
        case decimal32() | decimal64() | decimal128():
            raise TypeError("a decimal number cannot be read")
        case int():
            return int(value)
        case float():
            return float(value)
        case bytes() | memoryview():
            return bytes(value)
        case str():
            return str(value)
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {str(name): _plain(one) for name, one in value.items()}
        case Array():
            return [_plain(one) for one in value.elements]
        case Described():
            return _plain(value.value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be read")


class _Body:
    """The sections of a body, which may be many of data or of sequences."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._sequence: list[Any] = []
        self._code = 0
        self._value: Any = None

    def add(self, code: int, value: Any) -> None:
        """Take one section."""
        if self._code and (code != self._code or code == _VALUE):
            raise ValueError("a body is of one kind, and a value stands alone")
        self._code = code
        match code, value:
            case 0x75, bytes() | memoryview():
                self._parts.append(bytes(value))
            case 0x76, list():
                self._sequence += _plain(value)
            case 0x77, _:
                self._value = _plain(value)
            case _:
                raise ValueError("a section is none of AMQP")

    def content(self) -> bytes | None:
        """The bytes of all sections, None where there is nothing."""
        if self._code == _DATA:
            return b"".join(self._parts)
        plain = self._sequence if self._code == _SEQUENCE else self._value
        if plain is None or isinstance(plain, bytes):
            return plain
        return plain.encode() if isinstance(plain, str) else msgspec.json.encode(plain)
