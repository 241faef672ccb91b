"""Drafts: the rules of a definition as steps, for messages of one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from heraldry.messages.compile import members, why_unusable
from heraldry.messages.constraint import FREE_TEXT, Constraint, Place
from heraldry.messages.envelopes.cloudevents import ENVELOPE
from heraldry.messages.fit import same_protocol
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import fields, with_content_type
from heraldry.messages.template import Template as Parts
from heraldry.model.definition import Definition
from heraldry.model.formats import fold
from heraldry.pipeline.kernel import protocols as p
from heraldry.pipeline.kernel.bound import STRUCTURED
from heraldry.pipeline.kernel.envelope import MEMBERS
from heraldry.pipeline.kernel.match import Segmented, Template

Check = Callable[[str], bool]

_JSON = "application/json"
_MEMORY = 8192
_ANY: tuple[type, str] = (str, "string")
_TYPES: dict[int, tuple[type, str]] = {p.WHOLE: (int, "integer"), p.TRUTH: (bool, "boolean")}
_ATTRIBUTES = {name: slot for slot, name in enumerate(MEMBERS) if name != "data"}


class Draft:
    """The steps of a plan, rule by rule."""

    def __init__(self, places: p.Places, protocol: str) -> None:
        self._places = places
        self._protocol = protocol
        self._scalars = {one.name: one for one in p.MEMBERS[protocol] if one.form != p.NAMED}
        self._media: list[Constraint] = []
        self.constants: list[tuple[int, str]] = []
        self.present: list[int] = []
        self.templates: list[Template | Segmented] = []
        self.checks: list[tuple[int, Check]] = []
        self.first: dict[str, int] = {}
        self.shared: list[tuple[int, int]] = []
        self._slots = 0

    def understood(self, rule: Constraint) -> bool:
        """Take a rule into the plan; False where only the judge can decide it."""
        if rule.kind == "media-type":
            self._media.append(rule)
            return self._is_content_type(rule.place)
        if rule.place.section == "attributes":
            return self._attribute(rule)
        member = self._scalars.get(rule.place.name)
        slot = self._slot(rule)
        if slot is None:
            return False
        if rule.kind == "template":
            return self._template(rule, slot)
        kind, name = _TYPES.get(member.form, _ANY) if member is not None else _ANY
        if rule.kind == "constant":
            # A number is compared by its digits, which it has in one form only.
            self.constants.append((slot, rule.text))
            return type(rule.value) is kind
        if rule.required:
            self.present.append(slot)
        if rule.kind == "type" and kind is not str:
            return rule.type == name
        if rule.kind == "type" and rule.type not in FREE_TEXT:
            self.checks.append((slot, _remembered(rule)))
        return rule.kind in ("type", "required")

    def _is_content_type(self, place: Place) -> bool:
        """Whether a rule on a media type is one on what a message has as its content type."""
        if place.section == "attributes":
            return place.name == "datacontenttype"
        if place.member is None:
            return place.section == "content_type" or place.name == "content_type"
        # On Kafka a header of another case is another one.
        named = place.member.lower() if self._protocol == "NATS" else place.member
        return named == "content-type" and place.name in ("headers", "properties")

    def _attribute(self, rule: Constraint) -> bool:
        """As :meth:`understood`, for an attribute; times have the form of instants already."""
        name = rule.place.name
        slot = _ATTRIBUTES.get(name, self._places.extensions.get(name))
        if slot is None:  # no event of this path has any other
            return rule.kind == "type" and not rule.required
        if rule.kind == "template":
            return self._template(rule, slot)
        if rule.kind == "constant":
            self.constants.append((slot, rule.text))
            return isinstance(rule.value, str) and name != "time"
        if rule.required:
            self.present.append(slot)
        instant = name == "time" and rule.type == "timestamp"
        if rule.kind == "type" and rule.type not in FREE_TEXT and not instant:
            self.checks.append((slot, _remembered(rule)))
        return rule.kind in ("type", "required")

    def without(self, name: str) -> None:
        """Leave messages to the judge that have an extension attribute of a name."""
        if name in self._places.extensions:
            self.checks.append((self._places.extensions[name], lambda text: False))

    def _slot(self, rule: Constraint) -> int | None:
        place = rule.place
        if place.member is not None:
            return self._places.slots.get((self._protocol, place.name, place.member))
        member = self._scalars.get(place.name)
        return member.slot if member is not None else None

    def _template(self, rule: Constraint, slot: int) -> bool:
        template = rule.template
        if template is None or template.regex() is None:
            return False
        if template.separator is None:
            if "" in template.literals[1:-1]:
                return False
            self.templates.append((slot, template.literals))
        else:
            parts = template.text.split(template.separator)
            segments = tuple(Parts.parse(part).literals for part in parts)
            self.templates.append((slot, template.separator, segments))
        for name in template.placeholders:
            first = self.first.setdefault(name, self._slots)
            if first != self._slots:
                self.shared.append((first, self._slots))
            self._slots += 1
        return True

    def takes(self, media: Constraint | None) -> tuple[bool, bool]:
        """Whether messages without a content type are taken, and those with that of JSON."""
        plain = Message(protocol=self._protocol)
        untyped = all(rule.check(plain, {}) is None for rule in self._media)
        if self._protocol == "MQTT/3.1.1":
            return untyped, False
        stated = with_content_type(self._protocol, {}, _JSON)
        json = Message(protocol=self._protocol, metadata=stated, content_type=_JSON)
        typed = all(rule.check(json, {}) is None for rule in self._media)
        return untyped, typed and (media is None or media.fits(_JSON, {}))

    def takes_event(self, mode: int, stated: bool) -> bool:
        """Whether events of a mode are taken whose data has no type, or that of JSON."""
        return all(
            rule.check(event, {}) is None
            for rule in self._media
            for event in self._events(rule.place, mode, stated)
        )

    def _events(self, place: Place, mode: int, stated: bool) -> Iterator[Message]:
        """All that events may look like to a rule on a content type."""
        attributes = {"datacontenttype": _JSON} if stated else {}
        kinds = [_JSON] if stated else []
        content_type = _JSON if stated or mode == STRUCTURED else None
        if mode == STRUCTURED:
            kinds = [*p.EVENT_TYPES]
        ways: list[dict[str, Any]] = [{}]
        if self._protocol == "NATS":
            # Names of headers have any case there, but not for rules.
            name = place.member or "content-type"
            ways += [{"headers": ((name, kind),)} for kind in kinds if mode == STRUCTURED]
        elif self._protocol != "MQTT/3.1.1" and kinds:
            ways = [with_content_type(self._protocol, {}, kind) for kind in kinds]
        for metadata in ways:
            yield Message(
                protocol=self._protocol,
                metadata=metadata,
                envelope=ENVELOPE,
                mode="structured" if mode == STRUCTURED else "binary",
                attributes=attributes,
                content_type=content_type,
            )


def places_for(definitions: Iterable[Definition], extensions: Iterable[str]) -> p.Places:
    """Where the members of messages stand, with places for what definitions name."""
    wanted: dict[str, dict[tuple[str, str], None]] = {}
    for one in definitions:
        for protocol in _protocols(one):
            asked = wanted.setdefault(protocol, {})
            asked.update(dict.fromkeys(_named(one, protocol)))
    return p.places(wanted, extensions)


def _remembered(rule: Constraint) -> Check:
    return lru_cache(maxsize=_MEMORY)(lambda text: rule.fits(text, {}))


def _protocols(one: Definition) -> Iterator[str]:
    if one.protocol and why_unusable(one) is None:
        yield from (name for name in p.PROTOCOLS if same_protocol(one.protocol, name))


def _named(one: Definition, protocol: str) -> Iterator[tuple[str, str]]:
    """The named values that a definition says something of."""
    options = {fold(name): value for name, value in one.protocoloptions.items()}
    for field in fields(protocol).values():
        declared = options.get(fold(field.name))
        if field.collection and declared is not None:
            for name, member in members(declared):
                given = member.get("name", name) if isinstance(member, Mapping) else name
                yield field.name, field.member(str(given))
