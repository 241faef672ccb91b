"""Judging: one line in, one verdict out; what the pipeline's fast path must agree with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heraldry.errors import MessageError
from heraldry.messages import line as lines
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.extract import envelope_row
from heraldry.messages.match import Matcher
from heraldry.messages.message import Message
from heraldry.messages.validate import validate
from heraldry.messages.verdict import Accepted, Match, NoMatch, Rejected, Verdict
from heraldry.model.catalog import Catalog
from heraldry.model.problem import Problem

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
        compiled, match = self.matcher.resolve(message)
        if compiled is None or isinstance(match, NoMatch):
            return _unmatched(match)
        if self.only and compiled.xid not in self.only:
            return Rejected(stage="match", problems=(NOT_SELECTED,), definition=compiled.xid)
        return judge_payload(compiled, match, message)

    def compiled(self, xid: str) -> CompiledDefinition:
        """A definition by its xid."""
        return self.matcher.definition(xid)


def _unmatched(match: Match | NoMatch) -> Rejected:
    near = match.near if isinstance(match, NoMatch) else ()
    problems = match.problems if isinstance(match, NoMatch) else ()
    nearest = near[0].definition if near else None
    return Rejected(stage="match", problems=problems, definition=nearest, near=near)


def judge_payload(compiled: CompiledDefinition, match: Match, message: Message) -> Verdict:
    """The verdict on the payload of a matched message: valid, and representable as a row."""
    schema = compiled.schema
    row: dict[str, Any] | tuple[Problem, ...] = {}
    if schema is not None:
        value, problems = validate(compiled, message)
        if problems:
            return Rejected(stage="validate", problems=problems, definition=compiled.xid)
        row = schema.to_row(value)
    envelope = envelope_row(compiled.envelope_columns, message.attributes)
    if isinstance(row, tuple) or isinstance(envelope, tuple):
        wrong = (*_problems(row), *_problems(envelope))
        return Rejected(stage="land", problems=wrong, definition=compiled.xid)
    return Accepted(match=match, envelope=envelope, row=row, payload=message.payload)


def _problems(row: dict[str, Any] | tuple[Problem, ...]) -> tuple[Problem, ...]:
    return row if isinstance(row, tuple) else ()
