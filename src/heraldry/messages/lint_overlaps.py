"""Overlaps: definitions of one group or endpoint that the same message fits, undecidably (C56).

Every overlap found comes with a message that both definitions accept and that the matcher calls
ambiguous: such messages become dead letters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from random import Random
from typing import Final

from heraldry.errors import MessageError, MissingExtraError
from heraldry.messages import line as lines
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.contract import contract_of
from heraldry.messages.fit import same_protocol
from heraldry.messages.lint_candidates import Candidates
from heraldry.messages.lint_witness import payload_only, witnesses
from heraldry.messages.match import Matcher
from heraldry.messages.message import Message
from heraldry.messages.select import accepts, rivals, strictly_narrower
from heraldry.messages.verdict import NoMatch
from heraldry.model.catalog import Catalog
from heraldry.model.problem import Severity
from heraldry.schemas.payload_schema import PayloadSchema

TOLD: Final = 5
"""So many overlaps are told of one definition."""

SHOWN: Final = 400
"""So many characters of a message are shown."""

WORK: Final = 5_000_000
"""So many comparisons are made in one catalog; the search for a message costs many of them."""

_SEARCH: Final = 500
_CHOICE: Final = 15
_TRIED: Final = 4
_SAMPLES: Final = 3

Definitions = Mapping[str, CompiledDefinition]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two definitions, and a message that is of both.

    ``severity`` is ``error`` where no payload can decide, ``warning`` where other payloads may,
    and ``info`` where only payloads tell the messages apart and no shared one was found.
    """

    one: CompiledDefinition
    other: CompiledDefinition
    message: Message
    severity: Severity

    @property
    def line(self) -> str:
        """The message as a JSON line, cut where it is long."""
        text = lines.write(self.message).decode()
        return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


@dataclass(kw_only=True)
class Scope:
    """Definitions whose messages come through one channel: those of a group or a contract.

    ``weighed`` counts the definitions that the matcher had to choose from so far.
    """

    catalog: Catalog
    name: str
    xids: tuple[str, ...]
    weighed: int = 0

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher by these definitions only."""
        return Matcher(self.catalog, only=frozenset(self.xids))

    def ambiguous(self, pair: tuple[CompiledDefinition, CompiledDefinition], m: Message) -> bool:
        """Whether the matcher cannot tell these two apart by a message."""
        try:
            found = self.matcher.match(m)
        except MissingExtraError:
            return True  # what is not installed decides nothing
        self.weighed += len(found.candidates)
        return isinstance(found, NoMatch) and {one.xid for one in pair} <= {*found.candidates}


def scopes(catalog: Catalog) -> Iterator[Scope]:
    """Every message group, and every endpoint with the groups of its contract."""
    for group in catalog.groups.get("messagegroups", {}).values():
        messages = group.resources.get("messages", {}).values()
        xids = tuple(str(message.xid) for message in messages)
        yield Scope(catalog=catalog, name=str(group.xid), xids=xids)
    for id_ in catalog.groups.get("endpoints", {}):
        contract = contract_of(catalog, id_)
        yield Scope(catalog=catalog, name=str(contract.endpoint.xid), xids=contract.xids)


def overlaps(catalog: Catalog, compiled: Definitions) -> Iterator[Overlap | Scope]:
    """The overlaps of a catalog; a scope itself where not all its pairs could be compared."""
    work = WORK
    told: Counter[str] = Counter()
    met: set[frozenset[str]] = set()
    for scope in scopes(catalog):
        usable = [compiled[xid] for xid in scope.xids if xid in compiled]
        usable = [one for one in usable if one.unusable is None]
        # what is told by payloads alone is only looked for where nothing else fits
        for alike in (True, False):
            candidates = Candidates([one for one in usable if payload_only(one) == alike], work)
            for pair in candidates:
                known = frozenset(one.xid for one in pair)
                if known in met or told[pair[1].xid] >= TOLD or not undecided(*pair):
                    continue
                met.add(known)
                before = scope.weighed
                found = overlap(scope, *pair)
                candidates.work -= _SEARCH + _CHOICE * (scope.weighed - before)
                if found is not None:
                    told[pair[1].xid] += 1
                    yield found
            work = candidates.work
            if work <= 0:
                yield scope
                break


def undecided(one: CompiledDefinition, other: CompiledDefinition) -> bool:
    """Whether neither derives from the other, borrows it, or asks strictly more (C56)."""
    mine, theirs = one.definition.protocol, other.definition.protocol
    if (mine and theirs and not same_protocol(mine, theirs)) or not rivals(one, other):
        return False
    message = Message(protocol=mine or theirs)
    return not (strictly_narrower(one, other, message) or strictly_narrower(other, one, message))


def overlap(scope: Scope, one: CompiledDefinition, other: CompiledDefinition) -> Overlap | None:
    """The overlap of two definitions that nothing but a payload may tell apart, or None."""
    pair = one, other
    mine, theirs = _schema(one), _schema(other)
    shared, severity = None, _severity(one, other)
    if mine is not None and theirs is not None:
        shared = _with_payload(scope, pair, (mine, theirs))
        same = replace(mine.source, name="") == replace(theirs.source, name="")
        severity = "error" if same else "warning" if shared else "info"
    if shared is None:
        every = islice(witnesses(pair), _TRIED)
        shared = next((one for one in every if scope.ambiguous(pair, one)), None)
    if shared is None:
        return None
    return Overlap(one=one, other=other, message=shared, severity=severity)


def _severity(*pair: CompiledDefinition) -> Severity:
    """Where a schema is not at hand, having it may tell the messages apart."""
    return "warning" if any(_is_lost(one) for one in pair) else "error"


def _is_lost(one: CompiledDefinition) -> bool:
    try:
        return one.schema_state not in ("none", "usable")
    except MissingExtraError:
        return True


def _schema(one: CompiledDefinition) -> PayloadSchema | None:
    return None if _is_lost(one) else one.schema


def _with_payload(
    scope: Scope,
    pair: tuple[CompiledDefinition, CompiledDefinition],
    schemas: tuple[PayloadSchema, PayloadSchema],
) -> Message | None:
    """A message whose payload both schemas accept."""
    bare = next(witnesses(pair), None)
    if bare is None:
        return None
    for schema in schemas:
        for seed in range(_SAMPLES):
            try:
                payload = schema.encode(schema.sample(Random(seed), {}), bare.content_type)
            except MessageError:
                continue
            message = next(witnesses(pair, payload), None)
            if message is None or not all(accepts(one, message) for one in pair):
                continue
            if scope.ambiguous(pair, message):
                return message
    return None
