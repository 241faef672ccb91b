"""What a changed rule does to messages: whether those that obey one rule obey the other.

A definition that says nothing of a place forbids nothing there: a new rule for it is breaking
as soon as it refuses a value that could be there before, however likely that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from heraldry.messages.constraint import FREE_TEXT, Constraint
from heraldry.messages.envelopes.cloudevents import ATTRIBUTES
from heraldry.messages.select import PROBE
from heraldry.messages.template import Template
from heraldry.messages.values import check_value, is_json_media_type, same_media_type, same_value
from heraldry.schemas.changes import Effect

_SAMPLES: Final[Mapping[str, tuple[Any, ...]]] = {
    "any": ("a b", 5, True),
    "binary": (b"\x00", "AA=="),
    "boolean": (True, "false"),
    "duration": ("P1D",),
    "integer": (-5, "5"),
    "number": (-1.5, "1.5"),
    "string": ("", "a b", "{", "é"),
    "symbol": ("a_b", "5"),
    "timestamp": ("2026-06-01T04:00:00Z",),
    "uri": ("a:b", "https://example.com/%20?q#f"),
    "urireference": ("../a", "a:b"),
    "uritemplate": ("", "a b", "{", "é"),
    "ulong": (5, 2**64 - 1),
    "uuid": ("9c1f0f4e-58a4-4d2c-8a32-0d7f4a3c5b11",),
}
"""Values of each type, chosen to be refused by as many other types as possible."""

_TEXTS: Final = frozenset(
    ("duration", "string", "symbol", "timestamp", "uri", "urireference", "uritemplate", "uuid")
)
_WITHIN: Final = {("uri", "urireference"), ("integer", "number"), ("ulong", "number")}
"""Types all of whose values are of the other."""


def effect(writer: Constraint | None, reader: Constraint | None) -> Effect:
    """What becomes of messages that obey one rule where the other one judges them."""
    if reader is None:
        return "safe"
    if writer is None:
        return "breaking" if reader.required else _unsaid(reader)
    if reader.required and not writer.required:
        return "breaking"
    match reader.kind:
        case "required":
            return "safe"
        case "type":
            return _typed(writer, reader)
        case "constant":
            if writer.kind == "media-type":
                return "undecided"
            same = writer.kind == "constant" and same_value(reader.type, reader.value, writer.value)
            return _decided(same)
        case "media-type":
            return _media(writer, reader)
        case "template":
            return _fitting(writer, reader)


def _decided(safe: bool) -> Effect:
    return "safe" if safe else "breaking"


def _unsaid(reader: Constraint) -> Effect:
    """An optional rule for a place of which the writer says nothing."""
    place = reader.place
    if reader.kind != "type" or place.section == "content_type":
        return "breaking"
    if place.section == "metadata" and place.member is None:
        # What the protocol itself lets stand there is not known here.
        return "undecided"
    if place.name in ATTRIBUTES and place.member is None:
        own = reader.type in (ATTRIBUTES[place.name], *FREE_TEXT)
        return _decided(own)
    # Headers and properties of a protocol are texts; extension attributes may be more.
    values = _SAMPLES["string"] if place.member is not None else _SAMPLES["any"]
    return _decided(all(check_value(reader.type, value) is None for value in values))


def _typed(writer: Constraint, reader: Constraint) -> Effect:
    cloudevents = reader.place.section == "attributes"

    def refused(value: Any) -> bool:
        if reader.required and value == "":
            return True
        return check_value(reader.type, value, cloudevents=cloudevents) is not None

    if writer.kind == "constant":
        return _decided(not refused(writer.value))
    if writer.kind in ("template", "media-type"):
        if reader.type in FREE_TEXT or reader.type == writer.type:
            return "safe"
        texts = _expansions(writer.template) if writer.template else (writer.text,)
        return "breaking" if any(map(refused, texts)) else "undecided"
    kind = writer.type if writer.kind == "type" else "any"
    if kind == reader.type or reader.type == "any":
        return "safe"
    samples = [one for one in _SAMPLES.get(kind, ()) if not (writer.required and one == "")]
    if any(map(refused, samples)):
        return "breaking"
    known = (kind, reader.type) in _WITHIN or (kind in _TEXTS and reader.type in FREE_TEXT)
    return "safe" if known else "undecided"


def _media(writer: Constraint, reader: Constraint) -> Effect:
    if writer.kind not in ("media-type", "constant"):
        return "undecided"
    if reader.inferred:
        return _decided(writer.inferred or is_json_media_type(writer.text))
    if writer.inferred:
        # Any JSON media type was right; most producers write application/json.
        return "undecided" if is_json_media_type(reader.text) else "breaking"
    return _decided(same_media_type(reader.text, writer.text))


def _fitting(writer: Constraint, reader: Constraint) -> Effect:
    template = reader.template
    if template is None:
        return "undecided"
    if writer.kind == "constant":
        return _decided(template.match(writer.text) is not None)
    if writer.template is not None:
        if same_form(writer.template, template):
            return "safe"
        fit = all(template.match(text) is not None for text in _expansions(writer.template))
        return _decided(fit)
    if writer.kind == "media-type":
        return "undecided"
    if template.separator is None and template.literals == ("", ""):
        # A lone placeholder takes every text that is not empty.
        return "safe" if writer.type in _TEXTS and writer.required else "undecided"
    return "breaking"


def same_form(one: Template, other: Template) -> bool:
    """Whether two templates take the same texts, but for values that must be equal."""
    return (one.literals, one.separator) == (other.literals, other.separator)


def _expansions(template: Template) -> tuple[str, ...]:
    """Texts of a template: with values that no literal has, and with plain ones."""
    names = template.placeholders
    values = (PROBE, "1", "a")
    return tuple(template.expand(dict.fromkeys(names, value), raw=True) for value in values)


def shared_effect(
    writer: Mapping[str, Constraint], reader: Mapping[str, Constraint], name: str
) -> Effect:
    """What becomes of messages where a placeholder must have one value at several places (M39)."""
    found: set[tuple[str, str]] = set()
    for path, rule in reader.items():
        template = rule.template
        for position, other in enumerate(template.placeholders if template else ()):
            if template is None or other != name:
                continue
            given = _given(writer.get(path), template, position)
            if given is None:
                return "undecided"
            found.add(given)
    return _decided(len(found) <= 1)


def _given(rule: Constraint | None, template: Template, position: int) -> tuple[str, str] | None:
    """What a writer puts in the place of a placeholder: one of its own, or a constant."""
    if rule is None:
        return None
    if rule.template is not None and same_form(rule.template, template):
        return "placeholder", rule.template.placeholders[position]
    values = template.match(rule.text) if rule.kind == "constant" else None
    return ("constant", values[template.placeholders[position]]) if values else None
