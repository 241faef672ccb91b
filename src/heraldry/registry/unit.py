"""One write at work: a transaction, one "now", and what it has touched so far (GN-01, GN-02)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from heraldry.model.datatypes import normal_timestamp
from heraldry.registry.flag_values import supported_flags
from heraldry.registry.journal import Journal
from heraldry.registry.session import Session
from heraldry.registry.write_budget import WriteBudget
from heraldry.store.rows import Row, State
from heraldry.store.store import Writer

if TYPE_CHECKING:
    from heraldry.dialects.xreg_1_0.wire import Wire
    from heraldry.model.metamodel import Model
    from heraldry.registry.capabilities import Capabilities
    from heraldry.registry.entity_names import GroupNames, Names, ResourceNames
    from heraldry.registry.request import Request


def current_time() -> str:
    """Now, in UTC with at most microseconds, in the form timestamps are stored."""
    return normal_timestamp(datetime.now(UTC).isoformat(timespec="microseconds"))


@dataclass(slots=True, kw_only=True)
class Unit:
    """What one write request is doing. ``session`` always has the state as it is by now."""

    tx: Writer
    session: Session
    ignores: frozenset[str] = frozenset()
    """Which attributes of the request are ignored (FL-40..FL-43)."""
    budget: WriteBudget = field(default_factory=WriteBudget)
    """What it may still cost; asked for each entity."""
    setdefault: str | None = None
    """The flag ``setdefaultversionid``; ``None``: not given, or not supported."""
    include: Callable[[str], Any] | None = None
    """Gives the JSON of an address that a model includes; ``None``: nothing is included."""
    now: str = field(default_factory=current_time)
    journal: Journal = field(default_factory=Journal)
    written: set[int] = field(default_factory=set)
    """Keys of entities that have their new epoch; the registry is 0."""
    fresh: set[int] = field(default_factory=set)
    """Keys of groups that this request made: nothing can be stored in them yet."""
    groups: dict[str, Row] = field(default_factory=dict)
    """Groups as they are by now, by xid in lower case."""
    newcomers: dict[str, Row] = field(default_factory=dict)
    """Resources that this request made, by xid in lower case."""
    resources: dict[str, Row | None] = field(default_factory=dict)
    """Resources that were written, by xid; ``None``: deleted. Their borrowers must follow."""
    regrouped: dict[int, Row] = field(default_factory=dict)
    """Groups whose own attributes changed: their resources may break constraints now."""
    remodelled: bool = False
    """Whether the model changed, so that every entity must be looked at again (MD-05)."""
    former: Model | None = None
    """The model as it was before the request, where it changed."""
    registry_names: Names | None = None
    group_names: dict[str, GroupNames] = field(default_factory=dict)
    resource_names: dict[tuple[str, str], ResourceNames] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """The registry itself, as it is by now."""
        return self.session.state

    @property
    def model(self) -> Model:
        """The model that holds by now."""
        return self.session.model

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities that hold by now."""
        return self.session.capabilities

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self.session.request

    @property
    def wire(self) -> Wire:
        """The generation that is spoken."""
        return self.session.request.wire

    def set_state(self, state: State) -> None:
        """The registry itself changed; it is saved at once."""
        self.session = replace(self.session, state=state)
        self.tx.save_state(state)

    def set_model(self, model: Model, state: State) -> None:
        """Another model holds from here on, and every entity must comply with it (RG-05)."""
        self.former = self.former or self.model
        self.session = replace(self.session, model=model)
        self.set_state(state)
        self.group_names.clear()
        self.resource_names.clear()
        self.registry_names = None
        self.remodelled = True

    def set_capabilities(self, capabilities: Capabilities, state: State) -> None:
        """Other capabilities hold from here on, also for the flags of the reply (RG-05)."""
        request = self.request
        if self.wire.flags_at_once:
            flags = supported_flags(self.session.asked, capabilities)
            request = replace(request, flags=flags)
        self.session = replace(self.session, capabilities=capabilities, request=request)
        self.set_state(state)

    def bump_registry(self, changed: Iterable[str] = ()) -> None:
        """A group was added or removed, or the model or capabilities changed (CA-10, RG-08)."""
        self.journal.updated("/", ("epoch", "modifiedat", *changed))
        if 0 not in self.written:
            self.written.add(0)
            self.set_state(replace(self.state, attributes=self._bumped(self.state.attributes)))

    def bump_group(self, group: Row, resources: str) -> None:
        """A resource was added to or removed from a group: once per request (CA-10)."""
        names = ("epoch", "modifiedat", resources, f"{resources}count")
        self.journal.updated(group.xid, names)
        if group.key not in self.written:
            self.save_group(replace(group, attributes=self._bumped(group.attributes)))

    def group(self, key: int) -> Row:
        """A group as it is by now."""
        return self.tx.by_key([key])[key]

    def save_group(self, group: Row) -> None:
        """Save a group with its new epoch, and remember it."""
        self.written.add(group.key)
        self.groups[group.xid.lower()] = group
        self.tx.save(group)

    def _bumped(self, attributes: Any) -> dict[str, Any]:
        return {**attributes, "epoch": attributes["epoch"] + 1, "modifiedat": self.now}

    def write_journal(self) -> None:
        """Note every change in the same transaction, under one correlation id (EV-08)."""
        request = self.request
        correlation = request.correlation or str(uuid.uuid4())
        for change in self.journal.changes(self.now, correlation, request.actor):
            self.tx.note(change)
