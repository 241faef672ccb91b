"""Fitting: one message against one definition, quickly with yes or no, or fully with reasons."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import shown
from heraldry.messages.envelopes.cloudevents import ENVELOPE
from heraldry.messages.message import Message
from heraldry.model.formats import is_cloudevents, protocol_family
from heraldry.model.problem import Problem

VERSIONLESS = frozenset(("HTTP", "KAFKA", "NATS"))
"""Protocols whose versions carry the same metadata."""


class Judgement(Struct, frozen=True, kw_only=True):
    """One definition's word on one message: ``score`` is the share of its own rules that hold."""

    compiled: CompiledDefinition
    problems: tuple[Problem, ...]
    score: float


@lru_cache(maxsize=256)
def same_protocol(declared: str, found: str) -> bool:
    """Whether a message of one protocol may be of a definition of another: family and version."""
    family, version = protocol_family(declared)
    other, other_version = protocol_family(found)
    if family != other:
        return False
    return family in VERSIONLESS or version == other_version or not (version and other_version)


def same_family(declared: str | None, found: str | None) -> bool:
    """Whether two protocols differ in their versions at most."""
    return protocol_family(declared)[0] == protocol_family(found)[0]


def is_event(message: Message) -> bool:
    """Whether a message is a CloudEvent."""
    return message.envelope == ENVELOPE or is_cloudevents(message.envelope)


def fits(compiled: CompiledDefinition, message: Message) -> dict[str, str] | None:
    """The values of the placeholders where the message obeys every rule, else None."""
    if compiled.definition.protocol is not None and protocol_problem(compiled, message) is not None:
        return None
    if compiled.cloudevents and message.envelope != ENVELOPE and not is_event(message):
        return None
    return compiled.plan.values(message)


def judge_by(compiled: CompiledDefinition, message: Message) -> Judgement:
    """Every rule the message breaks, and the share of those the definition declares that hold."""
    general = general_problems(compiled, message)
    wrong = {problem.rule for problem in general}
    # of another version of the protocol: the properties are the same
    foreign = "protocol" in wrong and not same_family(
        compiled.definition.protocol, message.protocol
    )
    problems = list(general)
    values: dict[str, str] = {}
    held = 0
    declared = len(general)
    for rule, probe in compiled.plan.probes:
        section = rule.place.section
        if section == "metadata" and message.protocol is None:
            continue
        counts = not rule.implied and rule.required
        declared += counts
        if wrong and (
            (section == "attributes" and "envelope" in wrong) or (section == "metadata" and foreign)
        ):
            continue  # said once: it is of another kind altogether
        problem = probe(message, values)
        if problem is None:
            held += counts
        else:
            problems.append(problem)
            declared += not counts  # what is broken counts, whether it had to be there or not
    score = held / declared if declared else float(not problems)
    return Judgement(compiled=compiled, problems=tuple(problems), score=round(score, 3))


def general_problems(compiled: CompiledDefinition, message: Message) -> list[Problem]:
    """Why a message is of another envelope or protocol than the definition."""
    found = [protocol_problem(compiled, message), envelope_problem(compiled, message)]
    return [problem for problem in found if problem is not None]


def protocol_problem(compiled: CompiledDefinition, message: Message) -> Problem | None:
    """Why the protocol is wrong; an event without a protocol is judged by its envelope only."""
    declared = compiled.definition.protocol
    if declared is None:
        return None
    if message.protocol is None:
        if compiled.definition.envelope:
            return None
        told = "the message names no protocol"
        return Problem(path="protocol", rule="protocol", message=told, expected=declared)
    if same_protocol(declared, message.protocol):
        return None
    return Problem(
        path="protocol",
        rule="protocol",
        message=f"must be {declared!r}",
        expected=declared,
        found=shown(message.protocol),
    )


def envelope_problem(compiled: CompiledDefinition, message: Message) -> Problem | None:
    """Why the envelope is wrong."""
    if not compiled.cloudevents or is_event(message):
        return None
    return Problem(
        path="envelope",
        rule="envelope",
        message="the message is no CloudEvent",
        expected=compiled.definition.envelope,
        found=shown(message.envelope),
    )
