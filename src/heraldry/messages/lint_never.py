"""Definitions that never get a message: contradictory ones, and bases that others replace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.fit import same_protocol
from heraldry.messages.lint_rules import finding
from heraldry.messages.lint_witness import contradiction
from heraldry.messages.message import Message
from heraldry.messages.select import within
from heraldry.model.problem import Finding


def never(one: CompiledDefinition) -> Iterator[Finding]:
    """never-matches: no message has a constant of the definition, or has two of them at once."""
    reason = contradiction(one)
    if reason is not None:
        told = f"no message will ever match this definition: {reason.path} {reason.message}"
        found = f", but another rule makes it {reason.found!r}" if reason.found else ""
        advice = "change the value, or what it contradicts"
        xid = one.definition.xid
        yield finding(one.catalog, xid, "", "never-matches", "error", told + found, advice)


def shadowed(compiled: Mapping[str, CompiledDefinition]) -> Iterator[Finding]:
    """shadowed: all messages of a base go to a definition that derives from it (C56)."""
    for one in compiled.values():
        resource = one.catalog.resource(one.definition.xid)
        if one.unusable is not None or resource is None or "xref" in resource.meta:
            continue
        for base in (compiled[xid] for xid in one.definition.bases if xid in compiled):
            if base.unusable is None and _takes_all(one, base):
                told = f"messages of this definition are taken for {one.xid}, which derives from it"
                advice = "let the derived definition ask for more; as a mere base it is fine"
                yield finding(
                    *(base.catalog, base.definition.xid, "", "shadowed", "info", told, advice)
                )


def _takes_all(one: CompiledDefinition, base: CompiledDefinition) -> bool:
    mine, theirs = one.definition.protocol, base.definition.protocol
    if (mine is None) != (theirs is None) or (mine and theirs and not same_protocol(mine, theirs)):
        return False
    return within(base, one, Message(protocol=theirs))
