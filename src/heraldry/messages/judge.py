"""Judging: one line in, one verdict out; what the pipeline's fast path must agree with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from heraldry.errors import MessageError
from heraldry.messages import line as lines
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.extract import envelope_row
from heraldry.messages.fit import is_event
from heraldry.messages.match import Matcher
from heraldry.messages.matched import matched
from heraldry.messages.message import Message
from heraldry.messages.native import NativeMatcher, filling
from heraldry.messages.validate import validate
from heraldry.messages.verdict import Accepted, Match, NoMatch, Rejected, Verdict
from heraldry.model.catalog import Catalog
from heraldry.model.problem import Problem
from heraldry.schemas.parse import parse

NOT_SELECTED = Problem(
    path="definition", rule="not-selected", message="messages of this definition are not wanted"
)


class Judge:
    """Gives every message its verdict; ``only`` are the xids whose messages are wanted."""

    def __init__(self, catalog: Catalog | Matcher, only: Iterable[str] = ()) -> None:
        self.matcher = catalog if isinstance(catalog, Matcher) else Matcher(catalog)
        self.only = frozenset(map(str, only))

    def judge(self, line: bytes) -> Verdict:
        """The verdict on one JSON line; never raises, whatever the bytes are."""
        try:
            message = lines.read(line)
        except MessageError as error:
            return Rejected(stage="decode", problems=error.problems)
        return self.judge_message(message)

    def judge_message(self, message: Message) -> Verdict:
        """The verdict on a message: matched, validated and made a row."""
        matcher = self.matcher if is_event(message) else self.natives
        compiled, match = matcher.resolve(message)
        if compiled is None or isinstance(match, NoMatch):
            return _unmatched(match)
        if matcher is not self.matcher:
            compiled = self.matcher.definition(compiled.xid)
            match = matched(compiled, match.values, match.candidates, message)
            if compiled.unusable is not None:
                return _unusable(compiled, compiled.unusable)
        if self.only and compiled.xid not in self.only:
            return Rejected(stage="match", problems=(NOT_SELECTED,), definition=compiled.xid)
        return judge_payload(compiled, match, message)

    def refuse(
        self, line: bytes, compiled: CompiledDefinition, payload: bytes, content_type: str | None
    ) -> Rejected | None:
        """The verdict on a line that matches a definition, where its payload is not valid.

        None where that is not the reason: then the line has to be judged as a whole.
        """
        try:
            parse(line)
        except MessageError:
            return None
        problems = validate(compiled, Message(payload=payload, content_type=content_type))[1]
        if not problems:
            return None
        return Rejected(stage="validate", problems=problems, definition=compiled.xid)

    @cached_property
    def natives(self) -> Matcher:
        """For messages that are no events; definitions of events, too, by their protocol part."""
        return NativeMatcher(self.matcher, beside=True)

    def compiled(self, xid: str) -> CompiledDefinition:
        """A definition by its xid."""
        return self.matcher.definition(xid)


def _unmatched(match: Match | NoMatch) -> Rejected:
    near = match.near if isinstance(match, NoMatch) else ()
    problems = match.problems if isinstance(match, NoMatch) else ()
    nearest = near[0].definition if near else None
    return Rejected(stage="match", problems=problems, definition=nearest, near=near)


def _unusable(compiled: CompiledDefinition, why: tuple[str, str]) -> Rejected:
    problem = Problem(path="envelope", rule=why[0], message=why[1])
    return Rejected(stage="map", problems=(problem,), definition=compiled.xid)


def judge_payload(compiled: CompiledDefinition, match: Match, message: Message) -> Verdict:
    """The verdict on the payload of a matched message: valid, and representable as a row."""
    schema = compiled.schema
    row: dict[str, Any] | tuple[Problem, ...] = {}
    if schema is not None:
        value, problems = validate(compiled, message)
        if problems:
            return Rejected(stage="validate", problems=problems, definition=compiled.xid)
        row = schema.to_row(value)
    event = is_event(message)
    attributes: Mapping[str, Any] | tuple[Problem, ...] = message.attributes
    if not event:
        attributes = filling(compiled).attributes(match.values, message.content_type)
    if isinstance(attributes, tuple):
        return Rejected(stage="map", problems=attributes, definition=compiled.xid)
    envelope = envelope_row(compiled.envelope_columns, attributes)
    if isinstance(envelope, tuple) and not compiled.cloudevents:
        envelope = _what_fits(compiled, attributes, envelope)
    if isinstance(row, tuple) or isinstance(envelope, tuple):
        wrong = (*_problems(row), *_problems(envelope))
        return Rejected(stage="land", problems=wrong, definition=compiled.xid)
    return Accepted(
        match=match, envelope=envelope, row=row, payload=message.payload, native=not event
    )


def _what_fits(
    compiled: CompiledDefinition, attributes: Mapping[str, Any], problems: tuple[Problem, ...]
) -> dict[str, Any] | tuple[Problem, ...]:
    """The row without attributes of no column: a definition without an envelope minds none."""
    wrong = {problem.path.removeprefix("attributes.") for problem in problems}
    kept = {name: value for name, value in attributes.items() if name not in wrong}
    return envelope_row(compiled.envelope_columns, kept)


def _problems(row: dict[str, Any] | tuple[Problem, ...]) -> tuple[Problem, ...]:
    return row if isinstance(row, tuple) else ()
