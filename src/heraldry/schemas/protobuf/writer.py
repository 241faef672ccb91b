"""Messages of the runtime from plain values: one closure per message type, made once.

A value may use the JSON spelling: names in camel case, 64-bit integers as text, base64, RFC 3339
text, and null for what is absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from heraldry.model.problem import Problem
from heraldry.schemas.located import PROBLEM_LIMIT, pointer, short
from heraldry.schemas.protobuf.fields import (
    DURATION,
    FIELD_MASK,
    NESTING_LIMIT,
    TIMESTAMP,
    WRAPPERS,
    choices,
    entry,
    is_map,
    reachable,
    special,
    takes_null,
)
from heraldry.schemas.protobuf.scalars import base64_bytes, enum, map_key, scalar
from heraldry.schemas.protobuf.well_known import set_duration, set_mask, set_timestamp

_SETTERS: dict[str, Callable[[Any, Any], None]] = {
    TIMESTAMP: set_timestamp,
    DURATION: set_duration,
    FIELD_MASK: set_mask,
}
_VALUE = "google.protobuf.Value"
_CAPITAL = re.compile(r"[A-Z]")


class Problems:
    """The problems of one value, and where in it the writer is.

    In the JSON encoding an Any is opened and a field mask is in camel case; elsewhere they are
    as in a decoded value.
    """

    def __init__(self, *, is_json: bool = False) -> None:
        self.is_json = is_json
        self.found: list[Problem] = []
        self.path: list[str | int] = []

    def add(self, rule: str, message: str, value: Any = None) -> None:
        """Take down a problem at this place, unless there are enough of them."""
        if len(self.found) < PROBLEM_LIMIT:
            found = None if value is None else short(value)
            path = pointer(self.path)
            self.found.append(Problem(path=path, rule=rule, message=message, found=found))

    @property
    def is_full(self) -> bool:
        """Whether no more problems are taken down."""
        return len(self.found) >= PROBLEM_LIMIT


# Sets a message, or a field of one, to a value.
_Write = Callable[[Any, Any, Problems], None]


class Writers:
    """The writers of a message type and of all those below it."""

    def __init__(self, root: Descriptor, pool: DescriptorPool) -> None:
        self._pool = pool
        self._made: dict[str, _Write] = {}
        self._enums: dict[str, Callable[[Any], Any]] = {}
        # One after the other: messages may hold each other in chains too long for recursion.
        for one in reversed(reachable(root)):
            kind = special(one)
            self._made[one.full_name] = self._special(kind, one) if kind else self._record(one)

    def message(self, message: Descriptor) -> _Write:
        """A procedure that fills an empty message with a value, or adds to the problems."""
        name = message.full_name
        # A message that is not made yet, such as one that holds itself, is looked up when written.
        return self._made.get(name) or (lambda one, value, at: self._made[name](one, value, at))

    def _special(self, kind: str, message: Descriptor) -> _Write:
        if kind in WRAPPERS:
            return _scalar("value", scalar(message.fields[0]))
        if kind in _SETTERS:
            return _simple(kind, _SETTERS[kind])
        return _any(self._pool) if kind == "google.protobuf.Any" else _json(kind)

    def _record(self, message: Descriptor) -> _Write:
        fields: dict[str, tuple[FieldDescriptor, _Write]] = {}
        for field in message.fields:
            fields[field.name] = field, self._field(field)
        for field in message.fields:
            fields.setdefault(field.json_name, fields[field.name])
        required = frozenset(one.name for one in message.fields if one.is_required)
        unions = [frozenset(one.name for one in union.fields) for union in choices(message)]

        def write(one: Any, value: Any, at: Problems) -> None:
            if type(value) is not dict:
                at.add("type", "is not an object", value)
                return
            if len(at.path) > 2 * NESTING_LIMIT:
                at.add("depth", f"is nested deeper than {NESTING_LIMIT} messages")
                return
            given = _members(one, value, fields, at)
            for name in sorted(required - given):
                at.path.append(name)
                at.add("required", "is required, and missing")
                at.path.pop()
            for union in unions:
                if len(union & given) > 1:
                    told = ", ".join(sorted(union & given))
                    at.add("oneof", "has more than one member of a oneof", told)

        return write

    def _field(self, field: FieldDescriptor) -> _Write:
        if is_map(field):
            return self._map(field)
        if field.message_type is None:
            return (_scalars if field.is_repeated else _scalar)(field.name, self._scalar(field))
        name, write = field.name, self.message(field.message_type)
        if field.is_repeated:
            return _messages(name, write)
        present = GetMessageClass(field.message_type).SetInParent

        def inner(one: Any, value: Any, at: Problems) -> None:
            held = getattr(one, name)
            present(held)
            write(held, value, at)

        return inner

    def _scalar(self, field: FieldDescriptor) -> Callable[[Any], Any]:
        kind = field.enum_type
        if kind is None:
            return scalar(field)
        # Once for all its fields: a document may have many of them, and many names.
        if kind.full_name not in self._enums:
            self._enums[kind.full_name] = enum(kind)
        return self._enums[kind.full_name]

    def _map(self, field: FieldDescriptor) -> _Write:
        key_field, value_field = entry(field)
        name, key = field.name, map_key(key_field)
        inner = value_field.message_type
        write = self.message(inner) if inner is not None else None
        convert = self._scalar(value_field) if inner is None else None

        def entries(one: Any, value: Any, at: Problems) -> None:
            if type(value) is not dict:
                at.add("type", "is not an object", value)
                return
            held = getattr(one, name)
            for text, item in value.items():
                at.path.append(str(text))
                try:
                    if write is not None:
                        write(held[key(text)], item, at)
                    elif convert is not None:
                        held[key(text)] = convert(item)
                except ValueError as error:
                    at.add("type", str(error), item)
                at.path.pop()
                if at.is_full:
                    return

        return entries


def _members(
    one: Any, value: dict[Any, Any], fields: dict[str, tuple[FieldDescriptor, _Write]], at: Problems
) -> set[str]:
    given: set[str] = set()
    for key, member in value.items():
        at.path.append(str(key))
        known = fields.get(key) if type(key) is str else None
        if known is None:
            at.add("unknown-field", "is not a field of the message", member)
        elif member is not None or takes_null(known[0]):
            field, write = known
            if field.name in given:
                at.add("duplicate-field", "is there twice, under both of its names", member)
            given.add(field.name)
            write(one, member, at)
        at.path.pop()
        if at.is_full:
            break
    return given


def _scalar(name: str, convert: Callable[[Any], Any]) -> _Write:
    def write(one: Any, value: Any, at: Problems) -> None:
        try:
            setattr(one, name, convert(value))
        except ValueError as error:
            at.add("type", str(error), value)

    return write


def _scalars(name: str, convert: Callable[[Any], Any]) -> _Write:
    def write(one: Any, value: Any, at: Problems) -> None:
        if type(value) is not list:
            at.add("type", "is not a list", value)
            return
        held = getattr(one, name)
        for position, item in enumerate(value):
            try:
                held.append(convert(item))
            except ValueError as error:
                at.path.append(position)
                at.add("type", str(error), item)
                at.path.pop()
                if at.is_full:
                    return

    return write


def _messages(name: str, write: _Write) -> _Write:
    def each(one: Any, value: Any, at: Problems) -> None:
        if type(value) is not list:
            at.add("type", "is not a list", value)
            return
        held = getattr(one, name)
        for position, item in enumerate(value):
            at.path.append(position)
            write(held.add(), item, at)
            at.path.pop()
            if at.is_full:
                return

    return each


def _simple(kind: str, take: Callable[[Any, Any], None]) -> _Write:
    rule = kind.rpartition(".")[2].lower()

    def write(one: Any, value: Any, at: Problems) -> None:
        try:
            if isinstance(value, str):
                value.encode()
                if at.is_json and kind == FIELD_MASK:
                    value = _snake_case(value)
            take(one, value)
        except UnicodeEncodeError:
            at.add(rule, "is a text that UTF-8 cannot hold")
        except ValueError as error:
            at.add(rule, str(error), value)

    return write


def _snake_case(mask: str) -> str:
    if "_" in mask:
        raise ValueError("is not a field mask of JSON, which is in camel case, like a,bC.d")
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", mask)


def _json(kind: str) -> _Write:
    wanted = {"google.protobuf.Struct": dict, "google.protobuf.ListValue": list}.get(kind, object)

    def write(one: Any, value: Any, at: Problems) -> None:
        if not isinstance(value, wanted):
            at.add("type", f"is not a JSON {'object' if wanted is dict else 'array'}", value)
            return
        try:
            _fill(kind, one, value, 0)
        except (ValueError, OverflowError):
            at.add("json", "is not a JSON value that a message can hold", value)

    return write


def _fill(kind: str, one: Any, value: Any, depth: int) -> None:
    """Set a Struct, ListValue or Value."""
    if depth > NESTING_LIMIT:
        raise ValueError
    if kind == "google.protobuf.Struct":
        for key, member in value.items():
            if type(key) is not str:
                raise ValueError
            _fill(_VALUE, one.fields[key], member, depth + 1)
    elif kind == "google.protobuf.ListValue":
        for item in value:
            _fill(_VALUE, one.values.add(), item, depth + 1)
    elif value is None:
        one.null_value = 0
    elif type(value) is bool:
        one.bool_value = value
    elif type(value) in (int, float):
        one.number_value = float(value)
    elif type(value) is str:
        one.string_value = value
    elif type(value) is dict:
        one.struct_value.SetInParent()
        _fill("google.protobuf.Struct", one.struct_value, value, depth + 1)
    elif type(value) is list:
        one.list_value.SetInParent()
        _fill("google.protobuf.ListValue", one.list_value, value, depth + 1)
    else:
        raise ValueError


def _any(pool: DescriptorPool) -> _Write:
    def write(one: Any, value: Any, at: Problems) -> None:
        if type(value) is not dict or type(value.get("@type", "")) is not str:
            at.add("any", "is not an object with @type and value", value)
        elif not (not at.is_json and _closed_any(one, value)) and not _open_any(one, value, pool):
            other = "" if at.is_json else "neither @type and base64 nor "
            at.add("any", f"is {other or 'not '}a message of a known type", value)

    return write


def _closed_any(one: Any, value: dict[str, Any]) -> bool:
    held, url = value.get("value", ""), value.get("@type", "")
    try:
        if type(held) is not str or not set(value) <= {"@type", "value"}:
            return False
        one.value = base64_bytes(held)
        one.type_url = url
    except ValueError:
        return False
    return True


def _open_any(one: Any, value: dict[str, Any], pool: DescriptorPool) -> bool:
    try:
        json_format.ParseDict(value, one, descriptor_pool=pool, max_recursion_depth=50)
    except (json_format.Error, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        one.Clear()
        return False
    return True
