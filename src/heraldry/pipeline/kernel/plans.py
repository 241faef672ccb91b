"""Plans: how events of one type are accepted, made when a type is first seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.envelopes.cloudevents import ATTRIBUTES
from heraldry.messages.judge import Judge
from heraldry.pipeline.fast.path import FastPath, understood
from heraldry.pipeline.kernel.columns import PayloadReader
from heraldry.pipeline.kernel.envelope import MEMBERS
from heraldry.pipeline.kernel.match import Steps

NO_PLAN = -1
"""Stands for the plan of events that are left to others."""
_MEMORY = 65_536
_MEMBER = {name: number for number, name in enumerate(MEMBERS)}

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Plan:
    """One definition: slots of its placeholders (None: without a value) and checks of members."""

    compiled: CompiledDefinition
    slots: tuple[int | None, ...]
    checks: tuple[tuple[int, Check], ...]
    reader: PayloadReader


class Plans:
    """The plans of all types seen so far; a plan is known by its number in ``steps``."""

    def __init__(self, judge: Judge) -> None:
        self._winner = FastPath(judge).winner
        self._by_type: dict[str, int] = {}
        self._by_definition: dict[str, int] = {}
        self.steps = Steps()
        self.plans: list[Plan] = []

    def number(self, kind: str) -> int:
        """The plan for events of a type, or NO_PLAN."""
        known = self._by_type.get(kind)
        if known is not None:
            return known
        if len(self._by_type) >= _MEMORY:  # a stream of ever new types must not fill memory
            self._by_type.clear()
        compiled = self._winner(kind)
        found = self._of(compiled) if compiled is not None else NO_PLAN
        self._by_type[kind] = found
        return found

    def _of(self, compiled: CompiledDefinition) -> int:
        known = self._by_definition.get(compiled.xid)
        if known is None:
            known = self._by_definition[compiled.xid] = self._make(compiled)
        return known

    def _make(self, compiled: CompiledDefinition) -> int:
        constants: list[tuple[str, Any]] = []
        templates: list[tuple[str, str, tuple[str, ...]]] = []
        present: list[str] = []
        checks: list[tuple[str, Check]] = []
        for rule in compiled.constraints:
            if not understood(rule, constants, templates, present, checks):
                return NO_PLAN
        if not ATTRIBUTES.keys() >= {name for name, *_ in (*constants, *templates)} | {*present}:
            return NO_PLAN  # events of this path have no other attributes
        literals = _literals(compiled)
        if compiled.schema is None or any("" in inner[1:-1] for _, inner in literals):
            return NO_PLAN
        reader = PayloadReader.of(compiled.schema)
        if reader is None:
            return NO_PLAN
        names = [name for _, _, group in templates for name in group]
        first = {name: names.index(name) for name in names}
        number = self.steps.add(
            [(_MEMBER[name], text) for name, text in constants],
            [_MEMBER[name] for name in present],
            literals,
            _shared(names, first),
        )
        self.plans.append(
            Plan(
                compiled=compiled,
                slots=tuple(first.get(name) for name in compiled.placeholders),
                checks=tuple((_MEMBER[n], check) for n, check in checks if n in ATTRIBUTES),
                reader=reader,
            )
        )
        return number


def _literals(compiled: CompiledDefinition) -> list[tuple[int, tuple[str, ...]]]:
    """The literals of all templates of attributes, in the order of the rules."""
    return [
        (_MEMBER[rule.place.name], rule.template.literals)
        for rule in compiled.constraints
        if rule.place.section == "attributes" and rule.kind == "template" and rule.template
    ]


def _shared(names: Sequence[str], first: dict[str, int]) -> list[tuple[int, int]]:
    """The slots that must have the same value as an earlier one."""
    return [(first[name], slot) for slot, name in enumerate(names) if first[name] != slot]
