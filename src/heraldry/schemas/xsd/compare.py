"""Changes between two versions of an XML Schema, component by component."""

from __future__ import annotations

from typing import Any

from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.xsd.compare_content import content_changes
from heraldry.schemas.xsd.compare_globals import global_attributes, global_changes
from heraldry.schemas.xsd.compare_simple import Tries, differences
from heraldry.schemas.xsd.model import Model
from heraldry.schemas.xsd.schema import XsdSchema
from heraldry.schemas.xsd.simple_type import simple_type
from heraldry.schemas.xsd.xml import local, namespace


def changes(old: XsdSchema, new: XsdSchema) -> tuple[Change, ...]:
    """The differences that matter to messages, located by the path of elements: ``/a/b/@c``.

    A reader validates: what its schema does not declare is refused. Content models are compared
    as languages, simple types by their facets and by texts that only one of them accepts.
    """
    return tuple(_Comparison(old, new).run())


class _Comparison:
    """One pass over two schemas in parallel; a pair of types is compared once."""

    def __init__(self, old: XsdSchema, new: XsdSchema) -> None:
        self._old, self._new = old, new
        self._models: tuple[Model, Model] = (old.model, new.model)
        self._seen: set[tuple[Any, ...]] = set()
        self._found: list[Change] = []
        self._waiting: list[tuple[Any, Any, str]] = []
        self._tries = Tries()
        engines = (old.engine, new.engine)
        self._has_conditions = any(one.has_conditions for one in engines)
        self._has_keys = any(one.keys for one in engines)

    def run(self) -> list[Change]:
        old, new = self._old.root, self._new.root
        where = f"/{local(new.name)}"
        if old.name != new.name:
            named = local(old.name) != local(new.name)
            rule = "name-changed" if named else "namespace-changed"
            what = "name" if named else "namespace"
            told = (
                f"The {what} of the payload's element changed from "
                f"{(local if named else namespace)(old.name)!r} to "
                f"{(local if named else namespace)(new.name)!r}: each version refuses the other's "
                "messages."
            )
            self.add(rule, f"/{local(old.name)}", where, told, "breaking", "breaking")
            return self._found
        self._waiting.append((old.component, new.component, where))
        # A list instead of recursion: elements may be nested as deep as they like.
        while self._waiting:
            self._element(*self._waiting.pop(0))
        return list(dict.fromkeys(self._found))

    def add(
        self, rule: str, old: str | None, new: str | None, told: str, back: Effect, forth: Effect
    ) -> None:
        self._found.append(
            Change(rule=rule, old=old, new=new, message=told, backward=back, forward=forth)
        )

    def _element(self, old: Any, new: Any, where: str) -> None:
        if bool(old.nillable) != bool(new.nillable):
            told = "may now be nil" if new.nillable else "may no longer be nil"
            back: Effect = "safe" if new.nillable else "breaking"
            forth: Effect = "breaking" if new.nillable else "safe"
            self.add("nillable-changed", where, where, f"The element {where} {told}.", back, forth)
        if bool(old.abstract) != bool(new.abstract):
            told = f"The element {where} {'became' if new.abstract else 'is no longer'} abstract."
            back = "breaking" if new.abstract else "safe"
            forth = "safe" if new.abstract else "breaking"
            self.add("abstract-changed", where, where, told, back, forth)
        self._value(old, new, where, "element")
        self._alternatives(old, new, where)
        self._identities(old, new, where)
        self._types(old.type, new.type, where, (_blocked(old), _blocked(new)))

    def _value(self, old: Any, new: Any, where: str, what: str) -> None:
        if old.fixed != new.fixed:
            told = f"The fixed value of the {what} {where} changed: other values are refused."
            back: Effect = "breaking" if new.fixed is not None or _bare(old, new) else "safe"
            forth: Effect = "breaking" if old.fixed is not None or _bare(new, old) else "safe"
            self.add("fixed-changed", where, where, told, back, forth)
        elif old.default != new.default:
            told = (
                f"The default of the {what} {where} changed: a message without a value there is "
                "read with another one."
            )
            same: Effect = "undecided" if self._has_conditions else "safe"
            back = "breaking" if _bare(old, new) else same
            forth = "breaking" if _bare(new, old) else same
            if "breaking" in (back, forth):
                now = "no longer" if new.default is None else "now"
                told = f"The element {where} {now} has a default, with which it may be empty."
            self.add("default-changed", where, where, told, back, forth)

    def _alternatives(self, old: Any, new: Any, where: str) -> None:
        before, after = (
            [(str(one.path), str(one.type.name)) for one in getattr(each, "alternatives", ())]
            for each in (old, new)
        )
        if before != after:
            told = f"The types that the element {where} may have by its attributes changed."
            self.add("alternatives-changed", where, where, told, "undecided", "undecided")

    def _identities(self, old: Any, new: Any, where: str) -> None:
        before, after = (
            {
                (type(one).__name__, str(one.selector.path), *(str(f.path) for f in one.fields))
                for one in getattr(each, "identities", ())
                if one.selector is not None
            }
            for each in (old, new)
        )
        if before != after:
            told = f"The rules about unique values in {where} changed."
            back: Effect = "breaking" if after - before else "safe"
            forth: Effect = "breaking" if before - after else "safe"
            if before - after and after - before:
                back = forth = "undecided"
            self.add("identity-changed", where, where, told, back, forth)

    def _types(self, old: Any, new: Any, where: str, blocked: tuple[str, str]) -> None:
        """``blocked`` are the derivations that a message may not use in the place of a type."""
        if (key := (id(old), id(new), blocked)) in self._seen:
            return
        self._seen.add(key)
        self._abstract(old, new, where)
        before, after = _content(old), _content(new)
        if before == after == "text":
            self._texts(_text(old), _text(new), where)
        elif before != after:
            if self._replaced(old, new, where, before, after):
                return
        elif before == "any":
            self._globals(old, new, where)
            return
        if "text" not in (before, after):
            self._elements(old, new, where)
        self._attributes(old, new, where)
        self._conditions(old, new, where)
        self._derived(old, new, where, blocked)

    def _abstract(self, old: Any, new: Any, where: str) -> None:
        if bool(old.abstract) == bool(new.abstract):
            return
        told = f"The type of {where} became abstract: messages must name another with xsi:type."
        if old.abstract:
            told = f"The type of {where} is no longer abstract: messages need no xsi:type."
        back: Effect = "breaking" if new.abstract else "safe"
        forth: Effect = "breaking" if old.abstract else "safe"
        self.add("abstract-changed", where, where, told, back, forth)

    def _texts(self, old: Any, new: Any, where: str) -> None:
        found = differences(old, new, self._tries)
        # Keys and conditions compare values: those of another type are equal in another way.
        seen = self._has_keys or self._has_conditions
        again = bool(found) and seen and simple_type(old).values != simple_type(new).values
        for one in found:
            told = f"The value of {where} {one.told}."
            back: Effect = "undecided" if again and one.backward == "safe" else one.backward
            forth: Effect = "undecided" if again and one.forward == "safe" else one.forward
            self.add(one.rule, where, where, told, back, forth)

    def _replaced(self, old: Any, new: Any, where: str, before: str, after: str) -> bool:
        """Another kind of content; True where there is nothing left to compare."""
        if {before, after} == {"mixed", "elements"}:
            told = f"The element {where} may {'now' if after == 'mixed' else 'no longer'} hold text"
            back: Effect = "safe" if after == "mixed" else "breaking"
            forth: Effect = "breaking" if after == "mixed" else "safe"
            self.add("mixed-changed", where, where, f"{told} between its elements.", back, forth)
            return False
        told = f"The element {where} holds {_HOLDS[after]} instead of {_HOLDS[before]}."
        # What may hold anything still checks the elements that are declared globally.
        loose: list[Effect] = [
            "undecided" if len(model.globals) > 1 else "safe" for model in self._models
        ]
        back = loose[1] if after == "any" else self._emptied(old, new)
        forth = loose[0] if before == "any" else self._emptied(new, old)
        self.add("type-changed", where, where, told, back, forth)
        return True

    def _emptied(self, old: Any, new: Any) -> Effect:
        """What is always empty may be read as a text that may be empty."""
        empty = _content(old) == "elements" and not len(old.content) and not old.attributes
        return (
            "safe"
            if empty and _content(new) == "text" and _text(new).is_valid("")
            else ("breaking")
        )

    def _elements(self, old: Any, new: Any, where: str) -> None:
        found, shared = content_changes(self._models, old, new, where)
        self._found += found
        for one, other in shared:
            self._waiting.append((one, other, f"{where}/{local(other.name)}"))
        self._globals(old, new, where)

    def _globals(self, old: Any, new: Any, where: str) -> None:
        """The global elements that a wildcard lets in, where it checks what it lets in."""
        found, shared = global_changes(self._models, old, new, where)
        self._found += found
        for one, other in shared:
            self._waiting.append((one, other, f"{where}/{local(other.name)}"))

    def _attributes(self, old: Any, new: Any, where: str) -> None:
        before, after = _attributes(old), _attributes(new)
        wild = [each.get(None) for each in (before, after)]
        for name in dict.fromkeys([*before, *after]):
            if name is None:
                continue
            one, other = before.get(name), after.get(name)
            place = f"{where}/@{local(name)}"
            if one is None:
                self._attribute_added(name, other, wild[0], place)
            elif other is None:
                self._attribute_removed(name, one, wild[1], place)
            else:
                self._attribute(one, other, place)
        self._attribute_wildcards(wild[0], wild[1], where)
        found, shared = global_attributes(self._models, wild, where)
        self._found += found
        for one, other in shared:
            self._attribute(one, other, f"{where}/@{local(other.name)}")

    def _attribute_added(self, name: str, new: Any, wildcard: Any, place: str) -> None:
        required = new.use == "required"
        forth: Effect = "breaking"
        back: Effect = "breaking" if required else "safe"
        if wildcard is not None and wildcard.is_matching(name, None):
            forth = "undecided" if wildcard.process_contents == "strict" else "safe"
            back = "breaking" if required else "undecided"
        told = f"The attribute {place} was added" + (
            " and is required: messages of the old version lack it." if required
            else ": the old version refuses messages that have it." if forth == "breaking" else "."
        )  # fmt: skip
        self.add("attribute-added", None, place, told, back, forth)

    def _attribute_removed(self, name: str, old: Any, wildcard: Any, place: str) -> None:
        required = old.use == "required"
        back: Effect = "breaking"
        forth: Effect = "breaking" if required else "safe"
        if wildcard is not None and wildcard.is_matching(name, None):
            back = "undecided" if wildcard.process_contents == "strict" else "safe"
            forth = "breaking" if required else "undecided"
        told = f"The attribute {place} was removed: the new version refuses messages that have it."
        if back != "breaking":
            told = f"The attribute {place} was removed."
        self.add("attribute-removed", place, None, told, back, forth)

    def _attribute(self, old: Any, new: Any, place: str) -> None:
        if (old.use == "required") != (new.use == "required"):
            required = new.use == "required"
            rule = "became-required" if required else "became-optional"
            told = f"The attribute {place} {rule.replace('-', ' ')}: messages without it are " + (
                "refused by the new version." if required else "refused by the old version."
            )
            back: Effect = "breaking" if required else "safe"
            forth: Effect = "safe" if required else "breaking"
            self.add(rule, place, place, told, back, forth)
        self._value(old, new, place, "attribute")
        self._texts(old.type, new.type, place)

    def _attribute_wildcards(self, old: Any, new: Any, where: str) -> None:
        if (old is None) != (new is None):
            added = old is None
            rule = "attribute-wildcard-added" if added else "attribute-wildcard-removed"
            told = f"The element {where} may {'now' if added else 'no longer'} have any attributes."
            back: Effect = "safe" if added else "breaking"
            self.add(rule, where, where, told, back, "breaking" if added else "safe")
        elif old is not None and _wildcard(old) != _wildcard(new):
            told = f"The attributes that a wildcard lets in at {where} changed."
            self.add("attribute-wildcard-changed", where, where, told, "undecided", "undecided")

    def _conditions(self, old: Any, new: Any, where: str) -> None:
        before, after = (
            {str(one.path) for one in getattr(each, "assertions", ())} for each in (old, new)
        )
        if before != after:
            told = f"The conditions (xs:assert) of {where} changed."
            back: Effect = "undecided" if after - before else "safe"
            forth: Effect = "undecided" if before - after else "safe"
            self.add("condition-changed", where, where, told, back, forth)

    def _derived(self, old: Any, new: Any, where: str, blocked: tuple[str, str]) -> None:
        """The types that a message may name with xsi:type instead."""
        if old.is_simple() or new.is_simple():
            return
        before, after = (
            {one.name: one for one in model.derived(kind, block)}
            for model, kind, block in zip(self._models, (old, new), blocked, strict=True)
        )
        for name in dict.fromkeys([*before, *after]):
            told = f"The type {local(name)!r}, which {where} may have by xsi:type,"
            if name not in after:
                told = f"{told} was removed."
                self.add("derived-type-removed", where, None, told, "breaking", "safe")
            elif name not in before:
                told = f"{told} was added: the old version refuses it."
                self.add("derived-type-added", None, where, told, "safe", "breaking")
            else:
                self._types(before[name], after[name], f"{where}[{local(name)}]", ("#all", "#all"))


def _blocked(element: Any) -> str:
    return f"{element.block or ''} {element.type.block or ''}" if element.type.is_complex() else ""


def _bare(old: Any, new: Any) -> bool:
    """Whether an empty element stood for a value, and is now a text that is refused."""
    if not hasattr(old, "nillable") or (old.default is None and old.fixed is None):
        return False
    if new.default is not None or new.fixed is not None or _content(new.type) != "text":
        return False
    return not _text(new.type).is_valid("")


_HOLDS = {
    "text": "a text",
    "elements": "elements",
    "mixed": "text and elements",
    "any": "anything",
}


def _content(kind: Any) -> str:
    if kind.is_simple() or kind.has_simple_content():
        return "text"
    if kind.name is not None and local(kind.name) == "anyType":
        return "any"
    return "mixed" if kind.mixed else "elements"


def _text(kind: Any) -> Any:
    return kind if kind.is_simple() else kind.content


def _attributes(kind: Any) -> dict[str | None, Any]:
    if kind.is_simple():
        return {}
    return {
        name: one
        for name, one in kind.attributes.items()
        if name is None or (one.use != "prohibited")
    }


def _wildcard(one: Any) -> tuple[Any, ...]:
    return (
        sorted(one.namespace), sorted(one.not_namespace), one.process_contents,
        sorted(getattr(one, "not_qname", ())),
    )  # fmt: skip
