"""The changes between two versions of a message type.

The verdicts are about the binary encoding, which is what a Protobuf payload is unless its content
type says otherwise: a change breaks where a valid message of one version is refused by a reader
of the other, or where a field that both have is read with another value or meaning. A field that
only one version has is skipped or absent, and so is safe, unless it is required or the choice of
a oneof. What matters to JSON only, such as a new name, is reported as safe and says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto

from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.protobuf.compare_enums import enum_changes
from heraldry.schemas.protobuf.fields import F, choices, entry, is_map, special
from heraldry.schemas.protobuf.schema import ProtobufSchema
from heraldry.schemas.protobuf.wire import local_name, read_as, type_name

PART_LIMIT: Final = 70_000
"""How many fields and enum values are compared; what is beyond is undecided.

One document cannot have as many, but two may pair each of their types with each.
"""


def changes(old: PayloadSchema, new: PayloadSchema) -> tuple[Change, ...]:
    """Every difference that matters to messages, in the order of the new document."""
    assert isinstance(old, ProtobufSchema)
    assert isinstance(new, ProtobufSchema)
    return tuple(_Comparison(old, new).made)


class _Comparison:
    def __init__(self, old: ProtobufSchema, new: ProtobufSchema) -> None:
        self._old, self._new = old.compiled, new.compiled
        self._seen: set[tuple[str, str]] = set()
        self._left = PART_LIMIT
        self.made: list[Change] = []
        self._names(old.message, new.message)
        # One after the other: messages may hold each other in chains too long for recursion.
        self._waiting = deque([(old.message, new.message)])
        while self._waiting and self._left >= 0:
            self._message(*self._waiting.popleft())
        if self._left < 0:
            text = f"More than {PART_LIMIT} fields and enum values differ or may: not all are told."
            self._add("size", ("", ""), text, "undecided", "undecided")

    def _names(self, old: Descriptor, new: Descriptor) -> None:
        told = "messages that are found by their type's full name (in an Any, say) are not found."
        places = self._places(old, new)
        if old.file.package != new.file.package:
            changed = f"{old.file.package!r} to {new.file.package!r}"
            text = f"The package changed from {changed}: {told}"
            self._add("package-changed", places, text, "breaking", "breaking")
        if local_name(old) != local_name(new):
            text = f"The message {local_name(old)!r} became {local_name(new)!r}: {told}"
            self._add("message-renamed", places, text, "breaking", "breaking")

    def _add(
        self,
        rule: str,
        places: tuple[str | None, str | None],
        message: str,
        backward: Effect = "safe",
        forward: Effect = "safe",
    ) -> None:
        old, new = places
        made = Change(
            rule=rule, old=old, new=new, message=message, backward=backward, forward=forward
        )
        self.made.append(made)

    def _places(self, old: Any, new: Any, suffix: str = "") -> tuple[str | None, str | None]:
        return self._place(self._old, old, suffix), self._place(self._new, new, suffix)

    def _place(self, compiled: Any, one: Any, suffix: str = "") -> str | None:
        """Where a message, enum, field or oneof is: ``common.proto:Order.Line.price``."""
        if one is None:
            return None
        if isinstance(one, FieldDescriptor):
            assert one.containing_type is not None
            return self._place(compiled, one.containing_type, f".{one.name}")
        file = compiled.name(one.file)
        return (f"{file}:" if file else "") + local_name(one) + suffix

    def _is_new(self, old: Any, new: Any, parts: int) -> bool:
        """Whether two types are to be compared: not yet, and the limit leaves room for it."""
        pair = old.full_name, new.full_name
        if pair in self._seen:
            return False
        self._seen.add(pair)
        self._left -= parts
        return self._left >= 0

    def _message(self, old: Descriptor, new: Descriptor) -> None:
        if not self._is_new(old, new, max(len(old.fields), len(new.fields))):
            return
        if special(old) and special(old) == special(new):
            return
        if old.GetOptions().message_set_wire_format != new.GetOptions().message_set_wire_format:
            text = f"The encoding of the message {new.name!r} changed: it cannot be read."
            places = self._places(old, new)
            self._add("wire-format-changed", places, text, "breaking", "breaking")
        before, after = old.fields_by_name, new.fields_by_name
        moved = {
            name for name in before if name in after and before[name].number != after[name].number
        }
        unions = choices(old), choices(new)
        going, reserved = _going_on(*unions), _reserved(old)
        for field in new.fields:
            known = old.fields_by_number.get(field.number)
            if field.name in moved:
                self._moved(before[field.name], field)
            elif known is None:
                is_reserved = _is_within(field.number, reserved)
                self._added(field, goes_on=_union_of(field) in going[1], reserved=is_reserved)
            if known is not None:
                self._field(known, field, renamed=not {known.name, field.name} & moved)
        for field in old.fields:
            if field.number not in new.fields_by_number and field.name not in moved:
                self._removed(field, goes_on=_union_of(field) in going[0])
        self._choices(old, new, *unions)

    def _moved(self, old: FieldDescriptor, new: FieldDescriptor) -> None:
        text = (
            f"The number of the field {new.name!r} changed from {old.number} to {new.number}:"
            " its value in messages of the other version is lost or taken for another field's."
        )
        self._add("number-changed", self._places(old, new), text, "breaking", "breaking")

    def _added(self, field: FieldDescriptor, *, goes_on: bool, reserved: bool) -> None:
        places = None, self._place(self._new, field)
        name = f"The field {field.name!r}"
        if field.is_required:
            text = f"{name} is new and required: messages of the old version are refused."
            self._add("required-field-added", places, text, "breaking", "safe")
        elif reserved:
            text = (
                f"{name} uses the number {field.number}, which was reserved or left to extensions:"
                " messages that hold what it stood for are read wrongly."
            )
            self._add("reserved-number-used", places, text, "undecided", "safe")
        elif goes_on:
            text = f"{name} was added to a oneof: old readers see no choice where it is chosen."
            self._add("oneof-member-added", places, text, "safe", "breaking")
        else:
            text = f"{name} was added: it is absent in messages of the old version."
            self._add("field-added", places, text)

    def _removed(self, field: FieldDescriptor, *, goes_on: bool) -> None:
        places = self._place(self._old, field), None
        name = f"The field {field.name!r}"
        if field.is_required:
            text = f"{name} was removed, but old readers require it: they refuse new messages."
            self._add("required-field-removed", places, text, "safe", "breaking")
        elif goes_on:
            text = f"{name} was removed from a oneof: where it was chosen, no choice is seen."
            self._add("oneof-member-removed", places, text, "breaking", "safe")
        else:
            text = f"{name} was removed: it is skipped in messages of the old version."
            self._add("field-removed", places, text)

    def _field(self, old: FieldDescriptor, new: FieldDescriptor, *, renamed: bool) -> None:
        places = self._places(old, new)
        if renamed and old.name != new.name:
            text = (
                f"The field {old.name!r} is now named {new.name!r}: in binary messages only the"
                " number counts, but messages in JSON with the other name are refused."
            )
            self._add("name-changed", places, text)
        elif renamed and old.json_name != new.json_name:
            text = (
                f"The field {new.name!r} is now named {new.json_name!r} in JSON, and no longer"
                f" {old.json_name!r}: readers of JSON know only their own version's name, and"
                f" {new.name!r}."
            )
            self._add("json-name-changed", places, text)
        self._presence(old, new, places)
        self._label(old, new, places)
        self._type(old, new, places)

    def _presence(
        self, old: FieldDescriptor, new: FieldDescriptor, places: tuple[str | None, str | None]
    ) -> None:
        name = f"The field {new.name!r}"
        if new.is_required and not old.is_required:
            text = f"{name} became required: messages of the old version without it are refused."
            self._add("became-required", places, text, "breaking", "safe")
        elif old.is_required and not new.is_required:
            text = f"{name} is no longer required: old readers refuse new messages without it."
            self._add("became-optional", places, text, "safe", "breaking")
        elif not old.is_repeated and not new.is_repeated and old.has_presence != new.has_presence:
            tells = "now tells" if new.has_presence else "no longer tells"
            text = f"{name} {tells} absent from zero or empty."
            self._add("presence-changed", places, text)
        alike = old.type == new.type or "safe" in (read_as(old, new)[0], read_as(new, old)[0])
        if alike and old.is_repeated == new.is_repeated and _default(old) != _default(new):
            text = f"The default of {new.name!r} changed: where it is absent, readers disagree."
            self._add("default-changed", places, text, "breaking", "breaking")

    def _label(
        self, old: FieldDescriptor, new: FieldDescriptor, places: tuple[str | None, str | None]
    ) -> None:
        if old.is_repeated == new.is_repeated:
            return
        lost = "a list is read as its last item, or not at all"
        if new.is_repeated:
            text = f"The field {new.name!r} became a list: for old readers {lost}."
            self._add("became-repeated", places, text, "safe", "breaking")
        else:
            text = f"The field {new.name!r} is no longer a list: for new readers {lost}."
            self._add("became-single", places, text, "breaking", "safe")

    def _type(
        self, old: FieldDescriptor, new: FieldDescriptor, places: tuple[str | None, str | None]
    ) -> None:
        if is_map(old) and is_map(new):
            for before, after in zip(entry(old), entry(new), strict=True):
                self._type(before, after, places)
        elif old.message_type is not None and new.message_type is not None:
            self._messages(old, new, places)
        elif old.enum_type is not None and new.enum_type is not None:
            pair = old.enum_type, new.enum_type
            if self._is_new(*pair, max(len(one.values) for one in pair)):
                kinds = self._place(self._old, pair[0]), self._place(self._new, pair[1])
                self.made += enum_changes(*pair, str(kinds[0]), str(kinds[1]))
        elif old.type != new.type:
            backward, why = read_as(old, new)
            forward, other = read_as(new, old)
            self._retyped(old, new, places, (backward, why), (forward, other))

    def _retyped(
        self,
        old: FieldDescriptor,
        new: FieldDescriptor,
        places: tuple[str | None, str | None],
        backward: tuple[Effect, str],
        forward: tuple[Effect, str],
    ) -> None:
        text = f"The type of {new.name!r} changed from {type_name(old)} to {type_name(new)}"
        reasons = []
        if backward[1]:
            reasons.append(f"for new readers, {backward[1]}")
        if forward[1]:
            reasons.append(f"for old readers, {forward[1]}")
        text += f": {'; '.join(reasons)}." if reasons else ": every value stays what it is."
        self._add("type-changed", places, text, backward[0], forward[0])

    def _messages(
        self, old: FieldDescriptor, new: FieldDescriptor, places: tuple[str | None, str | None]
    ) -> None:
        before, after = old.message_type, new.message_type
        assert before is not None
        assert after is not None
        if (old.type == F.TYPE_GROUP) != (new.type == F.TYPE_GROUP):
            why: tuple[Effect, str] = "breaking", "the one is not encoded like the other"
            self._retyped(old, new, places, why, why)
        elif special(before) != special(after):
            why = "breaking", "the values mean something else"
            self._retyped(old, new, places, why, why)
        elif is_map(old) != is_map(new):
            lost: tuple[Effect, str] = "breaking", "of entries with one key only the last is kept"
            none: tuple[Effect, str] = "safe", ""
            self._retyped(old, new, places, *((none, lost) if is_map(old) else (lost, none)))
            self._waiting.append((before, after))
        else:
            if local_name(before) != local_name(after) and not is_map(old):
                text = (
                    f"The type of {new.name!r} is now named {local_name(after)!r}:"
                    " its name is not part of messages."
                )
                self._add("type-renamed", places, text)
            self._waiting.append((before, after))

    def _choices(
        self,
        old: Descriptor,
        new: Descriptor,
        before: list[OneofDescriptor],
        after: list[OneofDescriptor],
    ) -> None:
        for union in after:
            if joined := _clash(union.fields, old):
                names = " and ".join(repr(name) for name in joined)
                text = (
                    f"The fields {names} are now of one oneof, {union.name!r}: of messages that"
                    " have both, only the last is read."
                )
                places = self._place(self._old, old), self._place(self._new, new, f".{union.name}")
                self._add("fields-joined-oneof", places, text, "breaking", "safe")
        for union in before:
            if parted := _clash(union.fields, new):
                names = " and ".join(repr(name) for name in parted)
                text = (
                    f"The fields {names} were of one oneof, {union.name!r}: of new messages that"
                    " have both, old readers read only the last."
                )
                places = self._place(self._old, old, f".{union.name}"), self._place(self._new, new)
                self._add("fields-left-oneof", places, text, "safe", "breaking")


def _clash(fields: Sequence[FieldDescriptor], writer: Descriptor) -> tuple[str, str] | None:
    """Two of the fields of a oneof that a writer may set at once."""
    known = [writer.fields_by_number.get(field.number) for field in fields]
    there = [field for field in known if field is not None]
    for field in there[1:]:
        first = there[0].containing_oneof
        if first is None or field.containing_oneof is None or first != field.containing_oneof:
            return there[0].name, field.name
    return None


def _going_on(
    old: Sequence[OneofDescriptor], new: Sequence[OneofDescriptor]
) -> tuple[set[str], set[str]]:
    """The names of the oneofs of two versions that have a member in a oneof of the other."""
    before, after = (
        {one.number for union in unions for one in union.fields} for unions in (old, new)
    )
    return _sharing(old, after), _sharing(new, before)


def _sharing(unions: Sequence[OneofDescriptor], numbers: set[int]) -> set[str]:
    return {one.name for one in unions if not numbers.isdisjoint(f.number for f in one.fields)}


def _union_of(field: FieldDescriptor) -> str:
    return "" if field.containing_oneof is None else str(field.containing_oneof.name)


def _default(field: FieldDescriptor) -> str | None:
    """The value that readers see where a field is absent; as text, since NaN is a default too."""
    if field.message_type is not None or field.is_repeated:
        return None
    value = field.default_value
    # What one encoding stands for is one default: a text and its bytes, false and 0.
    if isinstance(value, str):
        value = value.encode()
    return repr(int(value) if isinstance(value, bool) else value)


def _reserved(message: Descriptor) -> list[range]:
    """The numbers that are reserved, or left to extensions, in order; no two ranges overlap."""
    proto = DescriptorProto()
    message.CopyToProto(proto)
    ranges = [range(one.start, one.end) for one in proto.reserved_range]
    ranges += [range(one.start, one.end) for one in proto.extension_range]
    return sorted(ranges, key=_start)


def _is_within(number: int, ranges: list[range]) -> bool:
    place = bisect_right(ranges, number, key=_start)
    return place > 0 and number in ranges[place - 1]


_start = attrgetter("start")
