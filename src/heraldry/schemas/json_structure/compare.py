"""What changed between two JSON Structure documents, and what that does to their messages."""

from __future__ import annotations

from typing import Any

from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.json_structure.bounds import digits_cover, limit_covers, told
from heraldry.schemas.json_structure.containment import Containment, Flat, best
from heraldry.schemas.json_structure.narrowing import unique_key
from heraldry.schemas.json_structure.schema import JsonStructure
from heraldry.schemas.json_structure.shapes import (
    Choice,
    Plain,
    Record,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
    Union,
    is_null,
)
from heraldry.schemas.json_structure.trial import completed


def changes(old: JsonStructure, new: JsonStructure) -> tuple[Change, ...]:
    """Every difference that matters to messages, in the order of the new document."""
    if old.source == new.source:
        return ()
    difference = Difference(old.structure, new.structure)
    try:
        difference.compare(old.structure.root, new.structure.root, "the message")
        difference.offers()
    except RecursionError:
        sentence = "The types are nested too deeply to be compared."
        difference.note("too-deep", "", "", sentence, "undecided", "undecided")
    return completed(old, new, difference)


class Difference:
    """Walks two structures side by side; each pair of types is compared once."""

    def __init__(self, old: Structure, new: Structure) -> None:
        self.old, self.new = old, new
        self._before, self._after = Flat(self.old), Flat(self.new)
        self.back = Containment(self._after, self._before)
        self.forth = Containment(self._before, self._after)
        self.found: list[Change] = []
        self._seen: set[tuple[int, int]] = set()

    def note(
        self,
        rule: str,
        old: Shape | str | None,
        new: Shape | str | None,
        message: str,
        backward: Effect,
        forward: Effect,
    ) -> None:
        """Keep one change; a place is a shape's, or given as it is."""
        places = [one.where if isinstance(one, Shape) else one for one in (old, new)]
        self.found.append(
            Change(
                rule=rule,
                old=places[0],
                new=places[1],
                message=message,
                backward=backward,
                forward=forward,
            )
        )

    def compare(self, before: Shape, after: Shape, what: str) -> None:
        """Note how one shape became another."""
        old, new = self._before.of(before), self._after.of(after)
        key = id(old), id(new)
        if key in self._seen:
            return
        self._seen.add(key)
        if isinstance(old, Union) or isinstance(new, Union):
            self._unions(old, new, what)
        elif _sort(old) != _sort(new):
            self._retyped(old, new, what)
        else:
            self._inside(old, new, what)
            self._limits(old, new, what)
        self._conditions(old, new, what)

    def offers(self) -> None:
        """Note which add-ins a payload may use no longer, or only now, and how they changed."""
        for name, places in self.new.offers.items():
            if name not in self.old.offers:
                sentence = (
                    f"The add-in {name!r} is offered now: old readers refuse messages with it."
                )
                self.note("offer-added", None, f"/$offers/{name}", sentence, "safe", "breaking")
                continue
            for before, after in zip(self.old.offers[name], places, strict=False):
                self.compare(self.old.types[before], self.new.types[after], f"the add-in {name!r}")
        for name in self.old.offers:
            if name not in self.new.offers:
                sentence = (
                    f"The add-in {name!r} is no longer offered: messages with it are refused."
                )
                self.note("offer-removed", f"/$offers/{name}", None, sentence, "breaking", "safe")

    def _effects(self, old: Shape, new: Shape) -> tuple[Effect, Effect]:
        return self.back.covers(new, old), self.forth.covers(old, new)

    def _retyped(self, old: Shape, new: Shape, what: str) -> None:
        backward, forward = self._effects(old, new)
        verdict = {
            "safe": "messages of the old version are still accepted",
            "breaking": "messages of the old version are refused",
            "undecided": "messages of the old version may be refused",
        }[backward]
        sentence = f"The type of {what} changed from {_sort(old)} to {_sort(new)}: {verdict}."
        self.note("type-changed", old, new, sentence, backward, forward)

    def _unions(self, old: Shape, new: Shape, what: str) -> None:
        before, after = _parts(old), _parts(new)
        nulls = [any(map(is_null, parts)) for parts in (before, after)]
        olds = [part for part in before if not is_null(part)]
        news = [part for part in after if not is_null(part)]
        if nulls == [False, True]:
            sentence = f"{_upper(what)} may be null now: readers of the old version refuse null."
            self.note("became-nullable", old, new, sentence, "safe", "breaking")
        elif nulls == [True, False]:
            sentence = f"{_upper(what)} may no longer be null: messages with null are refused."
            self.note("no-longer-nullable", old, new, sentence, "breaking", "safe")
        if len(olds) == len(news) == 1:
            self.compare(olds[0], news[0], what)
            return
        for part in olds:
            effect = best(self.back.covers(one, part) for one in news)
            if effect != "safe":
                sentence = f"{_upper(what)} may no longer be {_named(part)}."
                self.note("union-type-removed", part, new, sentence, effect, "safe")
        for part in news:
            effect = best(self.forth.covers(one, part) for one in olds)
            if effect != "safe":
                sentence = f"{_upper(what)} may now also be {_named(part)}."
                self.note("union-type-added", old, part, sentence, "safe", effect)

    def _inside(self, old: Shape, new: Shape, what: str) -> None:
        match old, new:
            case Record(), Record():
                self._records(old, new, what)
            case Sequence(), Sequence():
                self.compare(old.item, new.item, f"an item of {what}")
                if old.unique != new.unique:
                    rule = "became-unique" if new.unique else "no-longer-unique"
                    sentence = (
                        f"Equal items of {what} are {'refused' if new.unique else 'allowed'}."
                    )
                    effects: tuple[Effect, Effect] = (
                        ("breaking", "safe") if new.unique else ("safe", "breaking")
                    )
                    self.note(rule, old, new, sentence, *effects)
            case Table(), Table():
                self.compare(old.value, new.value, f"a value of {what}")
            case Row(), Row():
                self._rows(old, new, what)
            case Choice(), Choice():
                self._choices(old, new, what)
            case Plain(), Plain():
                self._plain(old, new, what)
            case _:
                pass

    def _plain(self, old: Plain, new: Plain, what: str) -> None:
        if old.encoding != new.encoding:
            sentence = f"The bytes of {what} are written as {new.encoding}, not {old.encoding}."
            self.note("encoding-changed", old, new, sentence, "breaking", "breaking")
        if old.kind == "decimal" and (old.precision, old.scale) != (new.precision, new.scale):
            wider: Effect = "safe" if digits_cover(new, old) else "breaking"
            narrower: Effect = "safe" if digits_cover(old, new) else "breaking"
            sentence = f"The number of digits of {what} changed."
            self.note("digits-changed", old, new, sentence, wider, narrower)

    def _records(self, old: Record, new: Record, what: str) -> None:
        for name, part in new.members.items():
            if name in old.members:
                self.compare(old.members[name], part, _field(what, name))
                self._requirement(old, new, name, what)
            else:
                self._added(old, new, name, what)
        for name in old.members:
            if name not in new.members:
                self._removed(old, new, name, what)
        if old.either != new.either:
            sentence = f"The alternative sets of required fields of {what} changed."
            backward: Effect = "safe" if not new.either else "breaking"
            forward: Effect = "safe" if not old.either else "breaking"
            if new.either and old.either:
                backward = forward = "undecided"
            self.note("required-sets-changed", old, new, sentence, backward, forward)
        self._rest(old, new, what)

    def _requirement(self, old: Record, new: Record, name: str, what: str) -> None:
        if (name in old.required) == (name in new.required):
            return
        field = _field(what, name)
        places = old.members[name], new.members[name]
        if name in new.required:
            sentence = f"{_upper(field)} became required: messages without it are refused."
            self.note("became-required", *places, sentence, "breaking", "safe")
        else:
            sentence = f"{_upper(field)} became optional: old readers refuse messages without it."
            self.note("became-optional", *places, sentence, "safe", "breaking")

    def _added(self, old: Record, new: Record, name: str, what: str) -> None:
        backward, forward = self._member(old, new, name)
        field = _upper(_field(what, name))
        if name in new.required:
            sentence = f"{field} was added and is required: messages without it are refused."
            backward = "breaking"
        elif backward == "breaking":
            sentence = (
                f"{field} was added, and messages of the old version may already carry one of any"
                " shape, because the old version allows additional properties: close its objects"
                " (additionalProperties: false), or accept this if nobody sent one."
            )
        else:
            sentence = f"{field} was added."
        if forward == "breaking":
            sentence = f"{sentence} Readers of the old version refuse it."
        self.note("field-added", old, new.members[name], sentence, backward, forward)

    def _removed(self, old: Record, new: Record, name: str, what: str) -> None:
        backward, forward = self._member(old, new, name)
        field = _upper(_field(what, name))
        sentence = f"{field} was removed."
        if backward != "safe":
            sentence = f"{field} was removed: messages that still carry it are refused."
        if name in old.required:
            sentence = f"{sentence} Readers of the old version require it."
            forward = "breaking"
        elif forward == "breaking":
            sentence = f"{sentence} Messages may carry one of any shape, which old readers refuse."
        self.note("field-removed", old.members[name], new, sentence, backward, forward)

    def _member(self, old: Record, new: Record, name: str) -> tuple[Effect, Effect]:
        return self.back.member(new, old, name), self.forth.member(old, new, name)

    def _rest(self, old: Record, new: Record, what: str) -> None:
        backward = self.back.rest(new.rest, old.rest)
        forward = self.forth.rest(old.rest, new.rest)
        if backward == forward == "safe":
            return
        if new.rest is False:
            sentence = f"Additional properties of {what} are refused."
        elif old.rest is False:
            sentence = f"Additional properties of {what} are allowed: old readers refuse them."
        else:
            sentence = f"What additional properties of {what} may be changed."
        self.note("additional-properties-changed", old, new, sentence, backward, forward)

    def _rows(self, old: Row, new: Row, what: str) -> None:
        if len(old.members) != len(new.members):
            counts = f"{len(old.members)} to {len(new.members)}"
            sentence = f"The number of items of {what} changed from {counts}."
            self.note("tuple-length-changed", old, new, sentence, "breaking", "breaking")
            return
        pairs = zip(old.members.items(), new.members.items(), strict=True)
        for (before, one), (after, other) in pairs:
            if before != after:
                sentence = f"The item {before!r} of {what} is now named {after!r}."
                self.note("name-changed", one, other, sentence, "safe", "safe")
            self.compare(one, other, f"the item {after!r} of {what}")

    def _choices(self, old: Choice, new: Choice, what: str) -> None:
        if old.selector != new.selector:
            sentence = f"How {what} names its choice changed."
            self.note("selector-changed", old, new, sentence, "breaking", "breaking")
            return
        for name, part in new.members.items():
            if name in old.members:
                self.compare(old.members[name], part, f"the choice {name!r} of {what}")
            else:
                sentence = f"The choice {name!r} of {what} was added: old readers refuse it."
                self.note("choice-added", old, part, sentence, "safe", "breaking")
        for name, part in old.members.items():
            if name not in new.members:
                sentence = (
                    f"The choice {name!r} of {what} was removed: messages with it are refused."
                )
                self.note("choice-removed", part, new, sentence, "breaking", "safe")

    def _limits(self, old: Shape, new: Shape, what: str) -> None:
        for word in dict.fromkeys((*new.limits, *old.limits)):
            before, after = old.limits.get(word), new.limits.get(word)
            if word == "enum" and before is not None and after is not None:
                self._enum(old, new, before, after, what)
                continue
            backward: Effect = "safe" if after is None else limit_covers(self.back, word, new, old)
            forward: Effect = "safe" if before is None else limit_covers(self.forth, word, old, new)
            if before is not None and after is not None:
                if before == after or (backward == forward == "safe"):
                    continue
                verb, shown = "changed", _shown(before, after)
            else:
                verb = "added" if before is None else "removed"
                shown = _shown(after if before is None else before)
            sentence = f"The limit {word} of {what} was {verb}{shown}."
            self.note(f"limit-{verb}", old, new, sentence, backward, forward)

    def _enum(
        self, old: Shape, new: Shape, before: tuple[Any, ...], after: tuple[Any, ...], what: str
    ) -> None:
        known = {unique_key(value) for value in before}
        kept = {unique_key(value) for value in after}
        for value in after:
            if unique_key(value) not in known:
                sentence = f"The value {value!r} of {what} was added: old readers refuse it."
                self.note("enum-value-added", old, new, sentence, "safe", "breaking")
        for value in before:
            if unique_key(value) not in kept:
                sentence = (
                    f"The value {value!r} of {what} was removed: messages with it are refused."
                )
                self.note("enum-value-removed", old, new, sentence, "breaking", "safe")

    def _conditions(self, old: Shape, new: Shape, what: str) -> None:
        if old.composition is None and new.composition is None:
            return
        backward = "safe" if new.composition is None else self.back.conditions(new, old)
        forward = "safe" if old.composition is None else self.forth.conditions(old, new)
        added, removed = old.composition is None, new.composition is None
        if backward == forward == "safe" and not (added or removed):
            return
        verb = "were added" if added else "were removed" if removed else "changed"
        sentence = f"The conditions of {what} {verb}."
        if "undecided" in (backward, forward):
            sentence = f"{sentence} Whether messages meet them is not known."
        self.note("conditions-changed", old, new, sentence, backward, forward)


def _parts(shape: Shape) -> tuple[Shape, ...]:
    return shape.parts if isinstance(shape, Union) else (shape,)


def _sort(shape: Shape) -> str:
    """What kind of type a shape is, in the words of the format."""
    if isinstance(shape, Plain):
        return shape.kind
    if isinstance(shape, Sequence):
        return "array"
    names: dict[type, str] = {Record: "object", Table: "map", Row: "tuple", Choice: "choice"}
    return names.get(type(shape), "untyped")


def _named(shape: Shape) -> str:
    target = getattr(shape, "target", "")
    return f"{target.rpartition('/')[2]!r}" if target else _sort(shape)


def _field(what: str, name: str) -> str:
    return f"the field {name!r}" if what == "the message" else f"the field {name!r} of {what}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _shown(*values: Any) -> str:
    texts = [told(value) for value in values if isinstance(value, (int, float, str)) or
             type(value).__name__ == "Decimal"]  # fmt: skip
    return "" if len(texts) < len(values) else f" ({' to '.join(texts)})"
