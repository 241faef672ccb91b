"""Mapping: a message that is no event becomes one, through a definition with both parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from heraldry.errors import BuildError
from heraldry.messages.build import BuiltMessage, Clock, NewId, build, new_id, now
from heraldry.messages.compile import CompiledDefinition, compile_merged
from heraldry.messages.constraint import shown
from heraldry.messages.fit import is_event
from heraldry.messages.match import Matcher
from heraldry.messages.matched import Matched, matched
from heraldry.messages.message import Message
from heraldry.messages.native import NativeMatcher
from heraldry.messages.validate import validate
from heraldry.messages.verdict import NoMatch, Rejected
from heraldry.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """An event, and the match it was made by: None where the message was an event already."""

    event: BuiltMessage
    match: Matched | None = None


class Mapper:
    """Maps messages of any protocol to CloudEvents by the definitions of one matcher."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._envelopes: dict[str, CompiledDefinition] = {}

    @cached_property
    def _natives(self) -> Matcher:
        return NativeMatcher(self._matcher)

    def map(
        self,
        message: Message,
        *,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId = new_id,
    ) -> Mapped | Rejected:
        """The event of a message, or why there is none; an event stays as it is.

        The message must obey what a definition says of the protocol and the payload. Attributes
        are then filled in as a builder does it, placeholders with the values found in the
        message. ``values`` adds what the message does not tell.
        """
        if is_event(message):
            return Mapped(event=_finished(message))
        native = self._natives.match(message)
        if isinstance(native, NoMatch):
            return self._unmapped(native, message)
        xid = native.compiled.xid
        problems = validate(native.compiled, message)[1]
        if problems:
            return Rejected(stage="validate", problems=problems, definition=xid)
        given = dict(values or {})
        if wrong := _contradictions(native, given):
            return Rejected(stage="map", problems=wrong, definition=xid)
        envelope = self._envelope(xid)
        given |= {n: v for n, v in native.values.items() if n in envelope.placeholders}
        if message.content_type is not None:
            given.setdefault("attributes.datacontenttype", message.content_type)
        try:
            event = build(envelope, message.payload, values=given, clock=clock, make_id=make_id)
        except BuildError as error:
            return Rejected(stage="map", problems=error.problems, definition=xid)
        whole = self._matcher.definition(xid)
        match = matched(whole, native.values, native.candidates, message)
        return Mapped(event=event, match=match)

    def _envelope(self, xid: str) -> CompiledDefinition:
        """A definition without what it says of the protocol."""
        found = self._envelopes.get(xid)
        if found is None:
            whole = self._matcher.definition(xid)
            bare = replace(whole.definition, protocol=None, protocoloptions={})
            found = self._envelopes[xid] = compile_merged(whole.catalog, bare)
        return found

    def _unmapped(self, native: NoMatch, message: Message) -> Rejected:
        plain = self._matcher.match(message)
        if isinstance(plain, Matched):
            told = "the definition has no envelope that the message could be mapped to"
            problem = Problem(path="envelope", rule="envelope", message=told)
            xid = plain.compiled.xid
            return Rejected(stage="map", problems=(problem,), definition=xid)
        nearest = native.near[0].definition if native.near else None
        return Rejected(
            stage="match", problems=native.problems, definition=nearest, near=native.near
        )


def _contradictions(native: Matched, given: Mapping[str, Any]) -> tuple[Problem, ...]:
    """What was given and is in the message, too, but with another value (M39)."""
    return tuple(
        Problem(
            path=name,
            rule="placeholder",
            message=f"{{{name}}} has another value in the message",
            expected=shown(given[name]),
            found=shown(value),
        )
        for name, value in native.values.items()
        if name in given and given[name] != value
    )


def _finished(message: Message) -> BuiltMessage:
    if isinstance(message, BuiltMessage):
        return message
    return BuiltMessage(**{one.name: getattr(message, one.name) for one in fields(message)})
