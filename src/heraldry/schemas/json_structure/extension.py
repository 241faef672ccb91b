"""What a type inherits: the properties of the types it extends, and of the add-ins in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heraldry.schemas.json_structure.shapes import Shape

if TYPE_CHECKING:
    from heraldry.schemas.json_structure.grammar import Grammar

CHAIN_LIMIT: Final = 50
"""How many types may extend one another in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherited:
    """The properties of a type with those it inherits, and which of them must be there."""

    members: Mapping[str, Shape]
    required: frozenset[str]
    either: tuple[tuple[frozenset[str], ...], ...]


def inherited(
    grammar: Grammar,
    schema: Mapping[str, Any],
    where: str,
    added: tuple[str, ...],
    chain: tuple[str, ...] = (),
) -> Inherited:
    """All properties, the inherited ones first; a property is not declared twice."""
    key = where, bool(added)
    if grammar.declared.get(where) is schema and key in grammar.inherited:
        return grammar.inherited[key]
    whole = _merged(grammar, schema, where, added, chain)
    grammar.spend(len(whole.members), where)
    grammar.inherited[key] = whole
    return whole


def _merged(
    grammar: Grammar,
    schema: Mapping[str, Any],
    where: str,
    added: tuple[str, ...],
    chain: tuple[str, ...],
) -> Inherited:
    members: dict[str, Shape] = {}
    required, either = _required(grammar, schema, where)
    for base in bases(grammar, schema, where):
        if base in (*chain, where):
            raise grammar.error(f"{where}/$extends", "the type extends itself")
        if len(chain) >= CHAIN_LIMIT:
            reason = f"more than {CHAIN_LIMIT} types extend one another"
            raise grammar.error(f"{where}/$extends", reason)
        # An add-in extends the type it is added to: what it is added to does not count here.
        own = inherited(grammar, grammar.declared[base], base, (), (*chain, where))
        for name, member in own.members.items():
            members.setdefault(name, member)
        required |= own.required
        either += own.either
    for name, member in grammar.members(schema, where).items():
        if name in members:
            place = f"{where}/properties/{name}"
            raise grammar.error(place, "a property that is inherited is not declared again")
        members[name] = member
    for place in added:
        addin = grammar.declared[place]
        if where in bases(grammar, addin, place) or ("$extends" not in addin and where == ""):
            for name, member in grammar.members(addin, place).items():
                members.setdefault(name, member)
            required |= _required(grammar, addin, place)[0]
    return Inherited(members=members, required=required, either=either)


def bases(grammar: Grammar, schema: Mapping[str, Any], where: str) -> list[str]:
    """The places of the types that a type extends."""
    extends = schema.get("$extends", [])
    if isinstance(extends, str):
        extends = [extends]
    if not isinstance(extends, list):
        raise grammar.error(f"{where}/$extends", "$extends is a JSON pointer, or an array of them")
    found = [grammar.target(one, f"{where}/$extends") for one in extends]
    for base in found:
        if grammar.declared[base].get("type") not in ("object", "tuple"):
            raise grammar.error(f"{where}/$extends", "only an object or a tuple is extended")
    return found


def _required(
    grammar: Grammar, schema: Mapping[str, Any], where: str
) -> tuple[frozenset[str], tuple[tuple[frozenset[str], ...], ...]]:
    names = schema.get("required", [])
    if isinstance(names, list):
        if all(isinstance(name, str) for name in names):
            return frozenset(names), ()
        if all(isinstance(one, list) and all(isinstance(n, str) for n in one) for one in names):
            return frozenset(), (tuple(frozenset(one) for one in names),)
    reason = "required is an array of names, or an array of such arrays"
    raise grammar.error(f"{where}/required", reason)
