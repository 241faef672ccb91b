"""Explaining: a message beside a definition, property by property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint, shown
from heraldry.messages.fit import envelope_problem, protocol_problem
from heraldry.messages.message import Message
from heraldry.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyVerdict:
    """One property: what the definition expects, what the message has, and the rule it breaks.

    ``rule`` is empty where the property is as it should be, or was not judged.
    """

    path: str
    expected: str | None
    found: str | None
    ok: bool
    rule: str = ""
    message: str = ""


def explain(message: Message, definition: CompiledDefinition) -> tuple[PropertyVerdict, ...]:
    """The verdict on every rule of a definition, also on those that hold."""
    own = definition.definition
    verdicts = []
    if own.protocol is not None:
        problem = protocol_problem(definition, message)
        verdicts.append(_of("protocol", own.protocol, shown(message.protocol), problem))
    if own.envelope is not None:
        problem = envelope_problem(definition, message)
        verdicts.append(_of("envelope", own.envelope, shown(message.envelope), problem))
    values: dict[str, str] = {}
    verdicts += [_verdict(rule, message, values) for rule in definition.constraints]
    return tuple(verdicts)


def _of(
    path: str, expected: str | None, found: str | None, problem: Problem | None
) -> PropertyVerdict:
    return PropertyVerdict(
        path=path,
        expected=expected,
        found=found,
        ok=problem is None,
        rule=problem.rule if problem else "",
        message=problem.message if problem else "",
    )


def _verdict(rule: Constraint, message: Message, values: dict[str, str]) -> PropertyVerdict:
    found = rule.place.find(message)
    problem = rule.check(message, values)
    expected: str | None = rule.expected
    if rule.kind == "required":
        expected = "present"
    elif not rule.required and (rule.kind == "type" or not found):
        expected = f"{rule.expected}, if present"
    if problem is not None and problem.rule == "placeholder":
        expected = problem.expected
    return _of(rule.path, expected, shown(found[0]) if found else None, problem)


def table(verdicts: Sequence[PropertyVerdict]) -> str:
    """The verdicts as an aligned text table."""
    rows = [("", "property", "expected", "found", "rule")]
    rows += [
        (
            "ok" if one.ok else "!!",
            one.path,
            one.expected or "",
            "-" if one.found is None else repr(one.found),
            "" if one.ok else f"{one.rule}: {one.message}",
        )
        for one in verdicts
    ]
    wide = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(wide[column]) for column, cell in enumerate(row)).rstrip()
        for row in rows
    )
