"""Metadata in the JSON form of a message: plain values, named values, and bytes as base64."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from heraldry.errors import MessageError
from heraldry.messages.fields import Field
from heraldry.messages.message import Pairs
from heraldry.messages.values import canonical_text, decode_base64
from heraldry.model.problem import Problem

T = TypeVar("T")

_NAMES: dict[type, str] = {str: "string", int: "integer", bool: "boolean", bytes: "binary"}
_TOLD = 10


def only(metadata: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse members that the protocol, in its version, does not have: nothing is dropped."""
    if metadata.keys() <= known:
        return
    told = "is not a property of this protocol"
    expected = ", ".join(sorted(known))
    raise MessageError(
        tuple(
            Problem(path=f"metadata.{name}", rule="metadata", message=told, expected=expected)
            for name in sorted(metadata.keys() - known)[:_TOLD]
        )
    )


def refuse(faults: Iterable[tuple[str, str]]) -> None:
    """Raise where a message has properties that are wrong: their names, and why."""
    problems = tuple(
        Problem(path=f"metadata.{name}", rule="metadata", message=told) for name, told in faults
    )
    if problems:
        raise MessageError(problems)


def out_of_bounds(
    metadata: Mapping[str, Any], fields: Iterable[Field]
) -> Iterator[tuple[str, str]]:
    """The integers beyond the bounds that the protocol gives them (M61), and why."""
    for one in fields:
        value = metadata.get(one.name)
        if one.values is None or value is None:
            continue
        # A range looks for anything but an integer by going through all of its numbers.
        if type(value) is not int or value not in one.values:
            yield one.name, f"is not in {one.values[0]}..{one.values[-1]}"


def take(metadata: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """A member of a given type, or None where it is absent; MessageError else."""
    value = metadata.get(name)
    if value is None or type(value) is kind:
        return value
    value = from_json_value(value, name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise wrong(name, f"is not of type {_NAMES[kind]}")
    return value


def scalar(value: Any, name: str) -> Any:
    """A value of a collection that is neither a list nor an object; MessageError else."""
    if type(value) is str:
        return value
    value = from_json_value(value, name)
    if isinstance(value, list | dict):
        raise wrong(name, "has a value that is neither a text nor a number")
    return value


def take_pairs(
    metadata: Mapping[str, Any], name: str, read: Callable[[Any, str], Any] = scalar
) -> Pairs:
    """Named values, written as a list of ``{name, value}`` or as an object."""
    found = metadata.get(name)
    if found is None:
        return ()
    if isinstance(found, Mapping):
        return tuple([(key, read(value, name)) for key, value in found.items()])
    if not isinstance(found, list):
        raise wrong(name, "is neither a list nor an object of named values")
    pairs = []
    for member in found:
        if not isinstance(member, Mapping) or not isinstance(member.get("name"), str):
            raise wrong(name, "has a member without a name")
        if not member.keys() <= {"name", "value"}:
            raise wrong(name, "has a member with more than a name and a value")
        pairs.append((member["name"], read(member.get("value"), name)))
    return tuple(pairs)


def take_texts(metadata: Mapping[str, Any], name: str) -> Pairs:
    """Named values as texts; null is a value that is not there."""
    pairs = [(key, value) for key, value in take_pairs(metadata, name) if value is not None]
    if any(isinstance(value, bytes) for _, value in pairs):
        raise wrong(name, "has a binary value where only texts can be")
    return tuple((key, canonical_text(value)) for key, value in pairs)


def from_json_value(value: Any, name: str) -> Any:
    """A value; ``{"base64": ...}`` is bytes, at any depth."""
    if isinstance(value, list):
        return [from_json_value(one, name) for one in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"base64"}:
        data = decode_base64(value["base64"])
        if data is None:
            raise wrong(name, "is not base64", "base64")
        return data
    return {key: from_json_value(one, name) for key, one in value.items()}


def to_json_value(value: Any) -> Any:
    """The inverse of :func:`from_json_value`."""
    if isinstance(value, str | int):
        return value
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, list | tuple):
        return [to_json_value(one) for one in value]
    if isinstance(value, Mapping):
        return {key: to_json_value(one) for key, one in value.items()}
    return value


def to_json_pairs(pairs: Pairs) -> dict[str, Any] | list[dict[str, Any]]:
    """Named values as an object, or as a list where names repeat."""
    plain = {name: to_json_value(value) for name, value in pairs}
    return plain if len(plain) == len(pairs) else to_json_list(pairs)


def to_json_list(pairs: Pairs) -> list[dict[str, Any]]:
    """Named values as a list."""
    return [{"name": name, "value": to_json_value(value)} for name, value in pairs]


def given(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are there: neither None nor a collection of nothing."""
    return {name: value for name, value in members.items() if value is not None and value != ()}


def first(pairs: Pairs, name: str, *, fold_case: bool = False) -> Any:
    """The first value of a name, or None."""
    for key, value in pairs:
        if key == name or (fold_case and key.lower() == name):
            return value
    return None


def with_value(pairs: Pairs, name: str, value: Any, *, fold_case: bool = False) -> Pairs:
    """The pairs with the first value of a name set: in its place, or at the end."""
    for index, (key, _) in enumerate(pairs):
        if key == name or (fold_case and key.lower() == name):
            return (*pairs[:index], (key, value), *pairs[index + 1 :])
    return (*pairs, (name, value))


def as_text(value: bytes) -> str | bytes:
    """Bytes as text where they are UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def wrong(name: str, message: str, rule: str = "metadata") -> MessageError:
    """An error about one property of the metadata."""
    return MessageError((Problem(path=f"metadata.{name}", rule=rule, message=message),))
