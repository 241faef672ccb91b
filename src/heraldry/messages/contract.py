"""Contracts: the definitions whose messages may travel through an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heraldry.errors import CircularBaseError
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.match import Matcher
from heraldry.messages.matched import Matched
from heraldry.messages.message import Message
from heraldry.messages.verdict import Near, NoMatch
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.endpoint import Endpoint, endpoint_of, is_foreign
from heraldry.model.entities import Group
from heraldry.model.inherit import MESSAGE_GROUPS, local_reference, materialize
from heraldry.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The definitions of an endpoint: its own messages, and those of the groups it refers to.

    ``foreign`` are definitions of these groups that are bound to another protocol or envelope
    than the endpoint's: they cannot travel there. ``unresolved`` are the references to groups
    that the catalog does not have, absolute ones included.
    """

    endpoint: Endpoint
    xids: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def contract_of(catalog: Catalog, name: str) -> Contract:
    """The contract of the endpoint of an xid or of a bare id; :class:`UnknownEndpointError`."""
    endpoint = endpoint_of(catalog, name)
    groups = [catalog.groups["endpoints"][endpoint.xid.group]]
    unresolved = []
    for reference in endpoint.messagegroups:
        group = _group(catalog, reference)
        if group is None:
            unresolved.append(str(reference))
        elif all(group is not one for one in groups):
            groups.append(group)
    xids: dict[bool, list[str]] = {False: [], True: []}
    for group in groups:
        for one in _definitions(catalog, group):
            xids[is_foreign(endpoint, one)].append(str(one.xid))
    return Contract(
        endpoint=endpoint,
        xids=tuple(xids[False]),
        foreign=tuple(xids[True]),
        unresolved=tuple(unresolved),
    )


class ContractMatcher(Matcher):
    """Matches by the definitions of one contract only.

    A message that fits a definition outside the contract gets the rule ``not-in-contract``.
    """

    def __init__(self, contract: Contract, whole: Matcher) -> None:
        super().__init__(whole.catalog, only=frozenset(contract.xids))
        self.contract = contract
        self._whole = whole

    def definition(self, xid: str) -> CompiledDefinition:
        """A definition by its xid; one outside the contract too, to explain what it says."""
        return super().definition(xid) if xid in self.positions else self._whole.definition(xid)

    def resolve(self, message: Message) -> tuple[CompiledDefinition | None, Matched | NoMatch]:
        """As :meth:`Matcher.resolve`; a definition outside the contract is named, not matched."""
        compiled, result = super().resolve(message)
        if isinstance(result, Matched) or result.candidates:
            return compiled, result
        elsewhere = self._whole.match(message)
        if isinstance(elsewhere, NoMatch):
            return None, result
        xid = str(elsewhere.definition.xid)
        problem = Problem(
            path="definition",
            rule="not-in-contract",
            message="messages of this definition do not belong to the endpoint",
            expected=f"a definition of the contract of {self.contract.endpoint.xid}",
            found=xid,
        )
        near = Near(definition=xid, score=1.0, problems=(problem,))
        return None, NoMatch(problems=(problem,), near=(near, *result.near))


def _group(catalog: Catalog, reference: object) -> Group | None:
    """The message group of a reference, or None where it leads nowhere in the catalog."""
    xid = local_reference(reference)
    if xid is None or xid.resources or xid.groups not in MESSAGE_GROUPS:
        return None
    return catalog.group(xid)


def _definitions(catalog: Catalog, group: Group) -> Iterator[Definition]:
    """The definitions of a group with all they inherit; circular ones are left out (M18)."""
    for message in group.resources.get("messages", {}).values():
        try:
            yield materialize(catalog, message.xid)
        except CircularBaseError:
            continue
