"""What changed between two Avro schemas, by the rules of schema resolution in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    Field,
    FixedBytes,
    Map,
    Named,
    Record,
    Resolved,
    Type,
    Union,
    tag,
)
from heraldry.schemas.avro.resolution import (
    Resolution,
    field_of,
    logical_effect,
    names_match,
    plain_effect,
)
from heraldry.schemas.avro.schema import AvroSchema
from heraldry.schemas.changes import Change, Effect

PART_LIMIT: Final = 60_000
"""How many fields, types of unions and symbols are compared; what is beyond is undecided.

One schema cannot have as many, but two may pair each of their types with each.
"""


def changes(old: AvroSchema, new: AvroSchema) -> tuple[Change, ...]:
    """The differences of two schemas in the order of the new one, each once.

    Safe is what schema resolution reads; a reader then has the writer's schema at hand.
    """
    comparing = _Comparing(old, new)
    try:
        comparing.types(old.schema.top, new.schema.top, _BOTH)
    except RecursionError:
        told = "The types are nested too deeply to be compared."
        return (_change("depth", "", "", told, "undecided", "undecided"),)
    if comparing.left < 0:
        told = f"More than {PART_LIMIT} fields, types and symbols differ or may: not all are told."
        comparing.found.append(_change("size", "", "", told, "undecided", "undecided"))
    return tuple(comparing.found)


@dataclass(frozen=True, slots=True)
class _Ways:
    """Which directions a difference counts in."""

    backward: bool
    forward: bool


_BOTH = _Ways(True, True)


class _Comparing:
    """One comparison; the changes get into ``found``."""

    def __init__(self, old: AvroSchema, new: AvroSchema) -> None:
        self._old = old.schema
        self._new = new.schema
        self._backward = Resolution(new.schema, old.schema)
        self._forward = Resolution(old.schema, new.schema)
        self._seen: set[tuple[int, int, _Ways]] = set()
        self._ways = _BOTH
        self.left = PART_LIMIT
        self.found: list[Change] = []

    def types(self, old: Type, new: Type, ways: _Ways) -> None:
        before, after = self._old.resolve(old), self._new.resolve(new)
        key = (id(before), id(after), ways)
        if key in self._seen or (*key[:2], _BOTH) in self._seen:
            return
        self._seen.add(key)
        self.left -= max(_parts(before), _parts(after))
        if self.left < 0:
            return
        outer, self._ways = self._ways, ways
        self._pair(before, after)
        self._ways = outer

    def _add(
        self, rule: str, old: str | None, new: str | None, told: str, back: Effect, forth: Effect
    ) -> None:
        back = back if self._ways.backward else "safe"
        forth = forth if self._ways.forward else "safe"
        self.found.append(_change(rule, old, new, told, back, forth))

    def _pair(self, old: Resolved, new: Resolved) -> None:
        if isinstance(old, Union) or isinstance(new, Union):
            self._unions(old, new)
        elif old.kind != new.kind:
            self._kinds(old, new)
        elif isinstance(old, Named) and isinstance(new, Named):
            self._named(old, new)
        elif isinstance(old, Array) and isinstance(new, Array):
            self.types(old.items, new.items, self._ways)
        elif isinstance(old, Map) and isinstance(new, Map):
            self.types(old.values, new.values, self._ways)
        else:
            self._logical(old, new)

    def _kinds(self, old: Resolved, new: Resolved) -> None:
        back, forth = plain_effect(new, old), plain_effect(old, new)
        told = f"The type changed from {_spoken(old)} to {_spoken(new)}: {_read(back, forth)}"
        told += "; bytes that are not UTF-8 are no text." if _is_text(old, new) else "."
        self._add("type-changed", old.at, new.at, told, back, forth)

    def _logical(self, old: Resolved, new: Resolved) -> None:
        if old.logical == new.logical:
            return
        back, forth = logical_effect(new, old), logical_effect(old, new)
        if old.logical and new.logical and old.logical.name == new.logical.name:
            told = (
                f"The decimal changed from {old.logical.precision} digits with"
                f" {old.logical.scale} after the point to {new.logical.precision} with"
                f" {new.logical.scale}: {_read(back, forth)}."
            )
            self._add("decimal-changed", old.at, new.at, told, back, forth)
            return
        told = (
            f"The meaning of the {new.kind} changed from {_meaning(old)} to {_meaning(new)}:"
            f" {_read(back, forth)}."
        )
        self._add("logical-type-changed", old.at, new.at, told, back, forth)

    def _named(self, old: Named, new: Named) -> None:
        if old.name != new.name:
            back: Effect = "safe" if names_match(new, old) else "breaking"
            forth: Effect = "safe" if names_match(old, new) else "breaking"
            told = f"The {new.kind} {old.name!r} is now named {new.name!r}: {_read(back, forth)}."
            self._add("name-changed", old.at, new.at, told, back, forth)
        if isinstance(old, Record) and isinstance(new, Record):
            self._records(old, new)
        elif isinstance(old, Enum) and isinstance(new, Enum):
            self._enums(old, new)
        elif isinstance(old, FixedBytes) and isinstance(new, FixedBytes):
            if old.size != new.size:
                told = (
                    f"The size of {new.name!r} changed from {old.size} to {new.size} bytes:"
                    f" {_read('breaking', 'breaking')}."
                )
                self._add("size-changed", old.at, new.at, told, "breaking", "breaking")
            else:
                self._logical(old, new)

    def _enums(self, old: Enum, new: Enum) -> None:
        for symbol in new.symbols:
            if symbol not in old.positions:
                kept = f"read as {old.default!r}" if old.default else "refused"
                told = (
                    f"The symbol {symbol!r} of {new.name!r} is new: messages that have it are"
                    f" {kept} by readers of the old version."
                )
                forth: Effect = "safe" if old.default is not None else "breaking"
                self._add("enum-value-added", old.at, new.at, told, "safe", forth)
        for symbol in old.symbols:
            if symbol not in new.positions:
                kept = f"read as {new.default!r}" if new.default else "refused"
                told = (
                    f"The symbol {symbol!r} of {new.name!r} was removed: messages of the old"
                    f" version that have it are {kept}."
                )
                back: Effect = "safe" if new.default is not None else "breaking"
                self._add("enum-value-removed", old.at, new.at, told, back, "safe")
        if old.default != new.default:
            told = f"The default symbol of {new.name!r} changed; it is what unknown symbols become."
            self._add("enum-default-changed", old.at, new.at, told, "safe", "safe")

    def _records(self, old: Record, new: Record) -> None:
        matched: set[str] = set()
        for field in new.fields:
            source = field_of(field, old)
            if source is None:
                self._added(field)
                continue
            matched.add(source.name)
            self._fields(source, field, new)
        for field in old.fields:
            if field.name not in matched:
                self._removed(field, new)
        self._order(old, new)

    def _fields(self, old: Field, new: Field, after: Record) -> None:
        """A field of the new version, and the old one that it is read from."""
        back = field_of(old, after)
        if old.name != new.name:
            if back is not None:
                forth: Effect = "safe"
                told = "readers of both versions know both names"
            elif old.has_default:
                forth = "safe"
                told = "readers of the old version find its default instead"
            else:
                forth = "breaking"
                told = "readers of the old version do not find it, and have no default for it"
            told = f"The field {old.name!r} is now named {new.name!r}: {told}."
            self._add("field-renamed", old.at, new.at, told, "safe", forth)
        both = back is not None and back.name == new.name
        self.types(old.type, new.type, _Ways(self._ways.backward, both and self._ways.forward))
        if back is not None and not both:
            self.types(old.type, back.type, _Ways(False, self._ways.forward))
        self._defaults(old, new)

    def _defaults(self, old: Field, new: Field) -> None:
        if (old.has_default, old.default) != (new.has_default, new.default):
            told = (
                f"The default of the field {new.name!r} changed; it counts for messages of"
                " versions without the field."
            )
            self._add("default-changed", old.at, new.at, told, "safe", "safe")

    def _added(self, field: Field) -> None:
        if field.has_default:
            told = f"The field {field.name!r} is new, with a default for messages without it."
            self._add("field-added", None, field.at, told, "safe", "safe")
        else:
            told = (
                f"The field {field.name!r} is new and has no default: messages of the old version"
                " without it are refused."
            )
            self._add("field-added", None, field.at, told, "breaking", "safe")

    def _removed(self, field: Field, after: Record) -> None:
        other = field_of(field, after)
        if other is not None:
            # Only a reader of the old version knows it by its other name.
            told = f"The field {field.name!r} is now read from {other.name!r} by the old version."
            self._add("field-renamed", field.at, other.at, told, "safe", "safe")
            self.types(field.type, other.type, _Ways(False, self._ways.forward))
        elif field.has_default:
            told = (
                f"The field {field.name!r} was removed: readers of the old version use its default."
            )
            self._add("field-removed", field.at, None, told, "safe", "safe")
        else:
            told = (
                f"The field {field.name!r} was removed and had no default: readers of the old"
                " version refuse messages without it."
            )
            self._add("field-removed", field.at, None, told, "safe", "breaking")

    def _order(self, old: Record, new: Record) -> None:
        kept = [name for name in old.named if name in new.named]
        if kept != [name for name in new.named if name in old.named]:
            told = (
                f"The fields of {new.name!r} are in another order: readers need the writer's"
                " schema, as for every change."
            )
            self._add("fields-reordered", old.at, new.at, told, "safe", "safe")

    def _unions(self, old: Resolved, new: Resolved) -> None:
        before = [self._old.resolve(branch) for branch in _branches(old)]
        after = [self._new.resolve(branch) for branch in _branches(new)]
        count = len(self.found)
        paired: set[int] = set()
        labelled = {_label(one): one for one in before}
        for branch in after:
            same = labelled.get(_label(branch))
            if same is None:
                self._branch_added(old, branch)
            else:
                paired.add(id(same))
                self.types(same, branch, self._ways)
        for branch in before:
            if id(branch) not in paired:
                self._branch_removed(branch, new)
        if isinstance(old, Union) is not isinstance(new, Union) and len(self.found) == count:
            told = (
                "The type is now a union of one type, or no longer is: what it means is the same."
            )
            self._add("union-changed", old.at, new.at, told, "safe", "safe")

    def _branch_added(self, old: Resolved, branch: Resolved) -> None:
        forth = self._forward.effect(old, branch)
        if branch.kind == "null":
            told = f"Null is allowed now: it is {_how(forth)} by readers of the old version."
            self._add("became-nullable", old.at, branch.at, told, "safe", forth)
        else:
            told = (
                f"The type {_spoken(branch)} is allowed now: messages that have it are"
                f" {_how(forth)} by readers of the old version."
            )
            self._add("union-type-added", old.at, branch.at, told, "safe", forth)

    def _branch_removed(self, branch: Resolved, new: Resolved) -> None:
        back = self._backward.effect(new, branch)
        if branch.kind == "null":
            told = f"Null is no longer allowed: old messages that have it are {_how(back)}."
            self._add("became-required", branch.at, new.at, told, back, "safe")
        else:
            told = (
                f"The type {_spoken(branch)} is no longer allowed: messages of the old version"
                f" that have it are {_how(back)}."
            )
            self._add("union-type-removed", branch.at, new.at, told, back, "safe")


def _change(
    rule: str, old: str | None, new: str | None, told: str, back: Effect, forth: Effect
) -> Change:
    return Change(rule=rule, old=old, new=new, message=told, backward=back, forward=forth)


def _branches(node: Resolved) -> tuple[Type, ...]:
    return node.branches if isinstance(node, Union) else (node,)


def _parts(node: Resolved) -> int:
    """How many parts of a type a comparison goes through, beside the type itself."""
    if isinstance(node, Enum):
        return len(node.symbols)
    if isinstance(node, Record):
        return len(node.fields)
    return len(node.branches) if isinstance(node, Union) else 1


def _label(node: Resolved) -> Any:
    return node.kind, tag(node)


def _spoken(node: Resolved) -> str:
    name = f" {node.name!r}" if isinstance(node, Named) else ""
    meaning = f" ({node.logical.name})" if node.logical is not None else ""
    return f"{node.kind}{name}{meaning}"


def _is_text(old: Resolved, new: Resolved) -> bool:
    return {old.kind, new.kind} == {"bytes", "string"}


def _meaning(node: Resolved) -> str:
    return "a plain value" if node.logical is None else node.logical.name


def _how(effect: Effect) -> str:
    return {"safe": "read", "breaking": "refused", "undecided": "perhaps not read"}[effect]


def _read(back: Effect, forth: Effect) -> str:
    """How messages are read across the versions, for the end of a sentence."""
    words = {"safe": "are read", "breaking": "are not read", "undecided": "may be misread"}
    if back == forth:
        return f"messages of each version {words[back]} with the other"
    return (
        f"messages of the old version {words[back]} with the new one,"
        f" those of the new version {words[forth]} with the old one"
    )
