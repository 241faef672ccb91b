"""Matches that can explain themselves, and their JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.explain import explain, table
from heraldry.messages.message import Message
from heraldry.messages.slots import setters
from heraldry.messages.verdict import Match, NoMatch, Rejected
from heraldry.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched(Match):
    """A match that can explain itself."""

    message: Message = field(repr=False, compare=False)
    compiled: CompiledDefinition = field(repr=False, compare=False)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes of the event; none where the message is no event."""
        return self.message.attributes

    def explain(self) -> str:
        """Every property beside what the definition says, and the values extracted."""
        lines = [f"{self.definition.xid} fits"]
        lines += [f"  {name} = {value}" for name, value in self.values.items()]
        return "\n".join([*lines, "", table(explain(self.message, self.compiled))])


_definition, _values, _candidates, _message, _compiled = setters(Matched)


def matched(
    compiled: CompiledDefinition,
    values: Mapping[str, str],
    candidates: tuple[str, ...],
    message: Message,
) -> Matched:
    """The match of a message, in a third of the time that the class takes."""
    made = object.__new__(Matched)
    _definition(made, compiled.definition)
    _values(made, values)
    _candidates(made, candidates)
    _message(made, message)
    _compiled(made, compiled)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched(NoMatch):
    """No match, with an explanation for each near miss."""

    message: Message | None = field(default=None, repr=False, compare=False)
    compiled: tuple[CompiledDefinition, ...] = field(default=(), repr=False, compare=False)

    @property
    def rejected(self) -> Rejected:
        """The dead letter that such a message is."""
        return Rejected(
            stage="decode" if self.message is None else "match",
            problems=self.problems,
            definition=self.near[0].definition if self.near else None,
            near=self.near,
        )

    def explain(self) -> str:
        """The reasons, then every property beside what the nearest definitions say."""
        text = ["no definition fits", *(f"  {problem}" for problem in self.problems)]
        scores = {one.definition: one.score for one in self.near}
        for one in self.compiled:
            share = f", {scores[one.xid]:.0%} of its rules hold" if one.xid in scores else ""
            text += ["", f"{one.xid}{share}"]
            if self.message is not None:
                text.append(table(explain(self.message, one)))
        return "\n".join(text)


def to_json(result: Match | NoMatch) -> dict[str, Any]:
    """A match, or why there is none, as the JSON object that the command line prints."""
    if isinstance(result, Match):
        return {
            "definition": str(result.definition.xid),
            "values": dict(result.values),
            "candidates": list(result.candidates),
            "problems": [],
            "near": [],
        }
    nearest = result.near[0].definition if result.near else None
    return {
        "definition": None,
        "values": {},
        "candidates": list(result.candidates),
        "problems": _problems(nearest, result.problems),
        "near": [
            {
                "definition": one.definition,
                "score": one.score,
                "problems": _problems(one.definition, one.problems),
            }
            for one in result.near
        ],
    }


def _problems(definition: str | None, problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [
        {
            "definition": definition,
            "path": one.path,
            "rule": one.rule,
            "message": one.message,
            "expected": one.expected,
            "found": one.found,
        }
        for one in problems
    ]
