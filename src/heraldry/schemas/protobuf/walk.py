"""Where a message that was parsed is wrong all the same; slow, and so only used where it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from heraldry.model.problem import Problem
from heraldry.schemas.located import PROBLEM_LIMIT, pointer
from heraldry.schemas.protobuf.fields import entry, is_map, special
from heraldry.schemas.protobuf.reader import NO_TEXT
from heraldry.schemas.protobuf.well_known import READERS

_Path = tuple[str | int, ...]


def lacking(message: Any, descriptor: Descriptor) -> tuple[Problem, ...]:
    """The first required fields that a message lacks."""
    told = "is required, and missing"
    found = tuple(
        Problem(path=pointer(path), rule="required", message=told)
        for path in islice(_lacking(message, descriptor), PROBLEM_LIMIT)
    )
    # An extension, which is not part of the value, may be what is not complete.
    other = Problem(path="/", rule="required", message="lacks a required field in an extension")
    return found or (other,)


def _lacking(message: Any, descriptor: Descriptor) -> Iterator[_Path]:
    for field in descriptor.fields:
        if field.is_required and not type(message).HasField(message, field.name):
            yield (field.name,)
            continue
        inner = _inner(field)
        if inner is None:
            continue
        for path, held in _held(message, field):
            if not type(held).IsInitialized(held):
                for rest in _lacking(held, inner):
                    yield (*path, *rest)


def refused(message: Any, descriptor: Descriptor) -> tuple[Problem, ...]:
    """The first values of a message that have no place in a value, and why."""
    return tuple(
        Problem(path=pointer(path), rule=rule, message=reason)
        for path, rule, reason in islice(_refused(message, descriptor), PROBLEM_LIMIT)
    )


def _refused(message: Any, descriptor: Descriptor) -> Iterator[tuple[_Path, str, str]]:
    for field in descriptor.fields:
        inner = _inner(field)
        kind = special(inner)
        read = READERS.get(kind)
        for path, held in _held(message, field):
            if read is not None:
                try:
                    read(held)
                except ValueError as error:
                    yield path, kind.rpartition(".")[2].lower(), str(error)
            elif inner is not None:
                for rest, rule, reason in _refused(held, inner):
                    yield (*path, *rest), rule, reason
            # The runtime gives bytes where the text of a field or of a key is none.
            elif type(held) is bytes and _is_text(field):
                yield path, "text", NO_TEXT
        if is_map(field) and any(type(key) is bytes for key in getattr(message, field.name)):
            yield (field.name,), "text", "has a key that is not UTF-8 text"


def _inner(field: FieldDescriptor) -> Descriptor | None:
    return (entry(field)[1] if is_map(field) else field).message_type


def _is_text(field: FieldDescriptor) -> bool:
    held = entry(field)[1] if is_map(field) else field
    return held.type == FieldDescriptor.TYPE_STRING


def _held(message: Any, field: FieldDescriptor) -> Iterator[tuple[_Path, Any]]:
    name = field.name
    held = getattr(message, name)
    if not field.is_repeated:
        if not field.has_presence or type(message).HasField(message, name):
            yield (name,), held
    elif is_map(field):
        for key in held:
            if type(key) is not bytes:
                yield (name, str(key).lower() if type(key) is bool else str(key)), held[key]
    else:
        for position, item in enumerate(held):
            yield (name, position), item
