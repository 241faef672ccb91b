"""Messages of the runtime as plain values: one closure per message type, made once."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from heraldry.schemas.protobuf.fields import F, entry, is_map, is_proto3, reachable, special
from heraldry.schemas.protobuf.well_known import READERS

_Read = Callable[[Any], Any]
NO_TEXT: Final = "is not UTF-8 text"

_BOOL_KEYS = {False: "false", True: "true"}


class Readers:
    """The readers of a message type and of all those below it."""

    def __init__(self, root: Descriptor) -> None:
        self._made: dict[str, _Read] = {}
        self._checked: dict[str, bool] = {}
        self._enums: dict[str, _Read] = {}
        # One after the other: messages may hold each other in chains too long for recursion.
        for one in reversed(reachable(root)):
            self._made[one.full_name] = self._record(one)

    def message(self, message: Descriptor) -> _Read:
        """A function from a message to its value.

        It raises ValueError where a well-known type or a text has no value; ``walk`` says where.
        """
        name = message.full_name
        # A message that is not made yet, such as one that holds itself, is looked up when read.
        return self._made.get(name) or (lambda one: self._made[name](one))

    def _record(self, message: Descriptor) -> _Read:
        kind = special(message)
        if kind:
            return READERS.get(kind, attrgetter("value"))
        plain: list[str] = []
        always: list[tuple[str, _Read]] = []
        optional: list[tuple[str, _Read | None]] = []
        for field in message.fields:
            read = self.field(field)
            if field.is_repeated:
                always.append((field.name, read or _copied))
            elif field.has_presence:
                optional.append((field.name, read))
            elif read is not None:
                always.append((field.name, read))
            else:
                plain.append(field.name)
        # A field may be named like a method of messages, and hides it.
        has = GetMessageClass(message).HasField
        return _reader(tuple(plain), always, optional, has)

    def field(self, field: FieldDescriptor) -> _Read | None:
        """How what stands in a field is read; None where it is the value itself."""
        if is_map(field):
            return self._map(field)
        read = self._single(field)
        if read is None or not field.is_repeated:
            return read
        return lambda items: [read(item) for item in items]

    def _single(self, field: FieldDescriptor) -> _Read | None:
        if field.message_type is not None:
            return self.message(field.message_type)
        if field.type == F.TYPE_STRING and not self._is_checked(field):
            return _text
        return None if field.enum_type is None else self._enum(field.enum_type)

    def _enum(self, kind: EnumDescriptor) -> _Read:
        # Once for all its fields: a document may have many of them, and many names.
        if kind.full_name not in self._enums:
            # Of several names for a number, the first counts.
            get = {one.number: one.name for one in reversed(list(kind.values))}.get
            self._enums[kind.full_name] = lambda number: get(number, number)
        return self._enums[kind.full_name]

    def _is_checked(self, field: FieldDescriptor) -> bool:
        assert field.containing_type is not None
        file = field.containing_type.file
        if file.name not in self._checked:
            self._checked[file.name] = is_proto3(file)
        return self._checked[file.name]

    def _map(self, field: FieldDescriptor) -> _Read:
        key, value = entry(field)
        read = self._single(value)
        if key.type == F.TYPE_BOOL:
            text: _Read = _BOOL_KEYS.__getitem__
        elif key.type != F.TYPE_STRING:
            text = str
        elif not self._is_checked(key):
            text = _text
        elif read is None:
            return lambda entries: {key: entries[key] for key in sorted(entries)}
        else:
            return lambda entries: {key: read(entries[key]) for key in sorted(entries)}
        # The runtime's own order changes from process to process. An unchecked key may be bytes.
        order = str if text is _text else None
        if read is None:
            return lambda entries: {text(k): entries[k] for k in sorted(entries, key=order)}
        return lambda entries: {text(k): read(entries[k]) for k in sorted(entries, key=order)}


def _text(value: Any) -> str:
    # Where UTF-8 is not insisted upon, the runtime gives bytes for a text that is none.
    if type(value) is not str:
        raise ValueError(NO_TEXT)
    return value


def _copied(items: Any) -> Any:
    return items[:]


def _reader(
    plain: tuple[str, ...],
    always: list[tuple[str, _Read]],
    optional: list[tuple[str, _Read | None]],
    has: Callable[[Any, str], bool],
) -> _Read:
    get = attrgetter(*plain) if len(plain) > 1 else None
    if len(plain) == 1:
        always = [(plain[0], lambda value: value), *always]

    def read(message: Any) -> dict[str, Any]:
        value = dict(zip(plain, get(message), strict=True)) if get is not None else {}
        for name, convert in always:
            value[name] = convert(getattr(message, name))
        for name, change in optional:
            if has(message, name):
                member = getattr(message, name)
                value[name] = member if change is None else change(member)
        return value

    return read
