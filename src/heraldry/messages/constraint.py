"""Constraints: what one property of a message must be, and why a message breaks the rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from heraldry.messages.message import Message, pairs
from heraldry.messages.template import Template
from heraldry.messages.values import (
    canonical_text,
    check_value,
    is_json_media_type,
    same_media_type,
    same_value,
)
from heraldry.model.problem import Problem

Kind = Literal["constant", "template", "type", "required", "media-type"]
Section = Literal["attributes", "metadata", "content_type"]

FOUND_LIMIT = 80
"""At most so many characters of a value found are shown."""

FREE_TEXT = frozenset(("string", "any", "uritemplate"))
"""Types that any text is of."""

PLAIN_TIME = re.compile(
    r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z"
).fullmatch
"""Times that need no calendar; all others are looked at closely."""


@lru_cache(maxsize=1024)
def same_media(declared: str, inferred: bool, found: str) -> bool:
    """Whether a media type is the declared one, or for an inferred one any JSON (M31, M46)."""
    return is_json_media_type(found) if inferred else same_media_type(declared, found)


def shown(value: Any) -> str | None:
    """A value as a problem shows it: its text, cut to :data:`FOUND_LIMIT` characters."""
    if value is None:
        return None
    text = value if isinstance(value, str) else canonical_text(value)
    return text if len(text) <= FOUND_LIMIT else text[: FOUND_LIMIT - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a property stands: in the attributes, the metadata, or a collection of the metadata."""

    section: Section
    name: str = ""
    member: str | None = None
    fold_case: bool = False

    @property
    def path(self) -> str:
        """``attributes.type``, ``metadata.topic_name``, ``metadata.headers.action``."""
        parts = (self.section, self.name, self.member)
        return ".".join(part for part in parts if part)

    def find(self, message: Message) -> tuple[Any, ...]:
        """The values a message has there; a name may repeat in a collection."""
        if self.section == "content_type":
            value = message.content_type
            return () if value is None else (value,)
        where = message.attributes if self.section == "attributes" else message.metadata
        value = where.get(self.name)
        if value is None:
            return ()
        if self.member is None:
            return (value,)
        member, found = self.member, pairs(value)
        if self.fold_case:
            return tuple(v for name, v in found if name.lower() == member and v is not None)
        return tuple(v for name, v in found if name == member and v is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One rule for one property (M37..M41).

    ``implied`` marks what the envelope demands of every message, ``bound`` names for each
    placeholder the path where the definition uses it first. An ``inferred`` media type is met
    by every JSON media type (M46); ``now`` asks for the current time when building (M41).
    """

    place: Place
    path: str
    kind: Kind
    type: str = "string"
    value: Any = None
    text: str = ""
    template: Template | None = None
    required: bool = False
    implied: bool = False
    inferred: bool = False
    now: bool = False
    bound: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        """What would be right, in one short text."""
        if self.kind == "template" or self.kind == "constant" or self.kind == "media-type":
            return self.text
        return self.type

    def check(self, message: Message, values: dict[str, str]) -> Problem | None:
        """Why the message breaks this rule, or None; adds the values of placeholders found."""
        if self.place.section == "metadata" and message.protocol is None:
            return None
        found = self.place.find(message)
        if not found:
            found = self._stand_in(message)
        if not found:
            return self._missing() if self.required else None
        if self._any_fits(found, message, values):
            return None
        return self._refusal(found[0], values)

    def holds(self, message: Message, values: dict[str, str]) -> bool:
        """Whether :meth:`check` finds nothing wrong, told without a reason."""
        place = self.place
        if place.section == "attributes":
            value = message.attributes.get(place.name)
            if value is not None:
                return self.fits(value, values)
        elif place.section == "content_type":
            value = message.content_type
            return value is None or same_media(self.text, self.inferred, value)
        elif place.member is None and self.kind != "media-type":
            value = message.metadata.get(place.name)
            if message.protocol is None or value is None:
                return message.protocol is None or not self.required
            return self.fits(value, values)
        return self.check(message, values) is None

    def _stand_in(self, message: Message) -> tuple[Any, ...]:
        # An event in the JSON format need not say that its data is JSON, and a structured
        # message states the type of its data only inside.
        if self.kind == "media-type" and message.content_type is not None:
            return (message.content_type,)
        return ()

    def _any_fits(self, found: tuple[Any, ...], message: Message, values: dict[str, str]) -> bool:
        if any(self.fits(value, values) for value in found):
            return True
        if self.kind == "media-type" and message.mode == "structured":
            inner = message.content_type
            return self.place.section == "metadata" and (inner is None or self.fits(inner, values))
        return False

    def fits(self, value: Any, values: dict[str, str]) -> bool:
        """Whether one value obeys; adds the values of placeholders."""
        kind = self.kind
        if kind == "template":
            return self._bind(value, values)
        if kind == "constant":
            return value == self.text or same_value(self.type, self.value, value)
        if kind == "media-type":
            return same_media(self.text, self.inferred, canonical_text(value))
        if self.type == "timestamp" and isinstance(value, str) and PLAIN_TIME(value) is not None:
            return True
        if self.required and value == "":
            return False
        if kind == "required" or (self.type in FREE_TEXT and isinstance(value, str)):
            return True
        cloudevents = self.place.section == "attributes"
        return check_value(self.type, value, cloudevents=cloudevents) is None

    def _bind(self, value: Any, values: dict[str, str]) -> bool:
        template = self.template
        if template is None or isinstance(value, bytes):
            return False
        got = template.match(value if isinstance(value, str) else canonical_text(value))
        if got is None:
            return False
        for name, text in got.items():
            if values.get(name, text) != text:
                return False
        values.update(got)
        return True

    def _missing(self) -> Problem:
        expected = self.expected if self.kind != "required" else None
        return Problem(path=self.path, rule="required", message="is missing", expected=expected)

    def clash(self, name: str, value: Any, values: Mapping[str, str]) -> Problem:
        """The problem of a placeholder that has got another value already."""
        told = f"{{{name}}} has another value here than in {self.bound.get(name, self.path)}"
        return Problem(
            path=self.path,
            rule="placeholder",
            message=told,
            expected=shown(values[name]),
            found=shown(value),
        )

    def _refusal(self, value: Any, values: Mapping[str, str]) -> Problem:
        if self.template is not None:
            text = value if isinstance(value, str) else canonical_text(value)
            bound = not values.keys().isdisjoint(self.bound)
            for name, got in ((bound and self.template.match(text)) or {}).items():
                if values.get(name, got) != got:
                    return self.clash(name, value, values)
        rule, message, expected = self._reason(value)
        return Problem(
            path=self.path, rule=rule, message=message, expected=expected, found=shown(value)
        )

    @property
    def misfit(self) -> str:
        """What is said of a value that is not the constant, or that the template does not fit."""
        return f"{'must be' if self.kind == 'constant' else 'does not fit'} {self.text!r}"

    def _reason(self, value: Any) -> tuple[str, str, str | None]:
        if self.kind == "template" or self.kind == "constant":
            return self.kind, self.misfit, self.text
        if self.kind == "media-type":
            return "content-type", f"must be {self.text!r}", self.text
        if value == "":
            return "required", "must not be empty", None
        cloudevents = self.place.section == "attributes"
        reason = check_value(self.type, value, cloudevents=cloudevents)
        return "type", reason or f"is not of type {self.type}", self.type
