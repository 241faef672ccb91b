"""Changes of content models: elements added, removed, moved, or asked for more or less often."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.xsd.content import Inclusion, includes, told
from heraldry.schemas.xsd.model import Model, Particle, leaves
from heraldry.schemas.xsd.xml import local, namespace

_FRESH = "_not_declared_"


@dataclass(frozen=True, slots=True)
class _Leaf:
    """An element or a wildcard of a content model, and how often it occurs in all."""

    particle: Particle
    low: int
    high: int | None


def content_changes(
    models: tuple[Model, Model], old: Any, new: Any, where: str
) -> tuple[list[Change], list[tuple[Any, Any]]]:
    """The changes of two complex types' content, and the elements that both declare."""
    particles = [
        model.particle(kind.content) for model, kind in zip(models, (old, new), strict=True)
    ]
    before, after = map(_leaves, particles)
    wild = tuple(
        _LetIn(model.wildcards(kind), model.globals)
        for model, kind in zip(models, (old, new), strict=True)
    )
    found = _by_name(before, after, wild, where)
    found += _open(old, new, where)
    names = sorted({*_names(before), *_names(after), *_others(before, after, old, new)})
    backward, forward = includes(particles[0], particles[1], names)
    found = _reconciled(found, backward, forward, where)
    shared = [
        (one.particle.component, other.particle.component)
        for name in after
        if name in before and name != "*"
        for one, other in _pairs(before[name], after[name])
    ]
    return found, shared


def _leaves(particle: Particle) -> dict[str, list[_Leaf]]:
    """By name, wildcards as ``*``; a name may occur at several places."""
    found: dict[str, list[_Leaf]] = {}
    for leaf, low, high, _ in leaves(particle, 1, 1):
        name = "*" if leaf.kind == "any" else str(leaf.component.name)
        found.setdefault(name, []).append(_Leaf(leaf, low, high))
    return found


def _pairs(old: list[_Leaf], new: list[_Leaf]) -> Iterable[tuple[_Leaf, _Leaf]]:
    """Those in the same places; where their number changed, each with each."""
    return zip(old, new, strict=True) if len(old) == len(new) else product(old, new)


def _names(found: dict[str, list[_Leaf]]) -> set[str]:
    return {name for name in found if name != "*"}


def _others(
    before: dict[str, list[_Leaf]], after: dict[str, list[_Leaf]], old: Any, new: Any
) -> set[str]:
    """Names that are declared nowhere, one of each namespace that wildcards tell apart."""
    wildcards = [one.particle.component for each in (before, after) for one in each.get("*", ())]
    if not wildcards:
        return set()
    spaces = {"", "urn:other:namespace", old.schema.target_namespace, new.schema.target_namespace}
    spaces |= {namespace(name) for each in (before, after) for name in _names(each)}
    for one in wildcards:
        spaces |= {uri for uri in (*one.namespace, *one.not_namespace) if uri[:2] != "##"}
    return {f"{{{uri}}}{_FRESH}" if uri else _FRESH for uri in spaces}


@dataclass(frozen=True, slots=True)
class _LetIn:
    """The wildcards of a type, open content included, and the elements they would check."""

    wildcards: list[Any]
    declared: Container[str]

    def effect(self, name: str) -> Effect | None:
        """What these do to any element of a name; None where they do not let it in."""
        found = [one for one in self.wildcards if one.is_matching(name, None)]
        if not found:
            return None
        if all(one.process_contents == "skip" for one in found):
            return "safe"
        strict = any(one.process_contents == "strict" for one in found)
        return "undecided" if strict or name in self.declared else "safe"


def _by_name(
    before: dict[str, list[_Leaf]],
    after: dict[str, list[_Leaf]],
    wild: tuple[_LetIn, ...],
    where: str,
) -> list[Change]:
    found: list[Change] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, []), after.get(name, [])
        if name == "*":
            found += _wildcards(old, new, where)
        elif not old:
            found.append(_added(name, new, wild[0], f"{where}/{local(name)}"))
        elif not new:
            found.append(_removed(name, old, wild[1], f"{where}/{local(name)}"))
        else:
            changed = _occurs(old, new, f"{where}/{local(name)}")
            if any(one.effect(name) for one in wild):
                # Some of them may be those that a wildcard lets in, unchecked.
                changed = [_unsure(one) for one in changed]
            found += changed
    return found


def _unsure(one: Change) -> Change:
    back: Effect = "undecided" if one.backward == "safe" else one.backward
    forth: Effect = "undecided" if one.forward == "safe" else one.forward
    return replace(one, backward=back, forward=forth)


def _total(found: list[_Leaf]) -> tuple[int, int | None]:
    highs = [one.high for one in found]
    high = None if None in highs else sum(high for high in highs if high is not None)
    return sum(one.low for one in found), high


def _added(name: str, new: list[_Leaf], wild: _LetIn, where: str) -> Change:
    required = _total(new)[0] > 0
    back: Effect = "breaking" if required else "safe"
    forth: Effect = "breaking"
    said = f"The element {where} was added"
    if (effect := wild.effect(name)) is not None:
        # Messages of the old version may hold anything under this name.
        back = "breaking" if required else "undecided"
        forth = effect
        said += " where the old version lets in any element."
    elif required:
        said += " and is required: messages of the old version lack it."
    else:
        said += ": the old version refuses messages that have it."
    return Change(
        rule="element-added", old=None, new=where, message=said, backward=back, forward=forth
    )


def _removed(name: str, old: list[_Leaf], wild: _LetIn, where: str) -> Change:
    required = _total(old)[0] > 0
    back: Effect = "breaking"
    forth: Effect = "breaking" if required else "safe"
    said = f"The element {where} was removed"
    if (effect := wild.effect(name)) is not None:
        back = effect
        forth = "breaking" if required else "undecided"
        said += "; the new version lets in any element there."
    else:
        said += ": the new version refuses messages that have it."
    return Change(
        rule="element-removed", old=where, new=None, message=said, backward=back, forward=forth
    )


def _occurs(old: list[_Leaf], new: list[_Leaf], where: str) -> list[Change]:
    (low, high), (least, most) = _total(old), _total(new)
    found: list[Change] = []
    if low != least:
        rule = "occurs-changed"
        if 0 in (low, least):
            rule = "became-required" if low == 0 else "became-optional"
        stricter = least > low
        said = f"The element {where} must occur at least {least} times, it was {low}"
        if rule == "became-required":
            said = f"The element {where} became required: messages of the old version may lack it"
        elif rule == "became-optional":
            said = f"The element {where} became optional: the old version refuses to miss it"
        found.append(_both(rule, where, f"{said}.", stricter))
    if high != most:
        stricter = high is None or (most is not None and most < high)
        said = f"The element {where} may occur {most or 'any number of'} times, it was " + (
            f"{high or 'any number'}."
        )
        found.append(_both("occurs-changed", where, said, stricter))
    return found


def _both(rule: str, where: str, said: str, stricter: bool) -> Change:
    back: Effect = "breaking" if stricter else "safe"
    forth: Effect = "safe" if stricter else "breaking"
    return Change(rule=rule, old=where, new=where, message=said, backward=back, forward=forth)


def _wildcards(old: list[_Leaf], new: list[_Leaf], where: str) -> list[Change]:
    if bool(old) != bool(new):
        added = not old
        rule = "wildcard-added" if added else "wildcard-removed"
        said = f"The element {where} may {'now' if added else 'no longer'} hold any elements."
        return [_both(rule, where, said, not added)]
    ranks = ("skip", "lax", "strict")
    before, after = (
        max(ranks.index(one.particle.component.process_contents) for one in each)
        for each in (old, new)
    )
    found: list[Change] = []
    if before != after:
        said = f"The check of what a wildcard lets in at {where} is now {ranks[after]!r}."
        found.append(_both("wildcard-checks-changed", where, said, after > before))
    if [_said(one) for one in old] != [_said(one) for one in new]:
        said = f"The elements that a wildcard lets in at {where} changed."
        found.append(
            Change(
                rule="wildcard-changed",
                old=where,
                new=where,
                message=said,
                backward="safe",
                forward="safe",
            )
        )
    return found


def _said(one: _Leaf) -> tuple[Any, ...]:
    wildcard = one.particle.component
    excluded = sorted(map(str, getattr(wildcard, "not_qname", ())))
    spaces = sorted(wildcard.namespace), sorted(wildcard.not_namespace)
    return one.low, one.high, *spaces, excluded


def _open(old: Any, new: Any, where: str) -> list[Change]:
    """Open content (1.1) lets in elements beyond the content model."""
    before, after = (
        (one.mode, str(one.any_element)) if one is not None else None
        for one in (getattr(each, "open_content", None) for each in (old, new))
    )
    if before == after:
        return []
    said = f"The open content of {where} changed."
    return [
        Change(
            rule="open-content-changed",
            old=where,
            new=where,
            message=said,
            backward="safe" if before is None else "undecided",
            forward="safe" if after is None else "undecided",
        )
    ]


_STAYS = {"wildcard-checks-changed", "open-content-changed"}


def _reconciled(
    found: list[Change], backward: Inclusion, forward: Inclusion, where: str
) -> list[Change]:
    """The changes by name, agreed with what is known of the models as a whole.

    Each change alone says what it would do by itself; the models decide what all do together.
    """
    agreed = [
        replace(
            one,
            backward=_agreed(one, one.backward, backward),
            forward=_agreed(one, one.forward, forward),
        )
        for one in found
    ]
    effects = {
        "backward": _missing([one.backward for one in agreed], backward),
        "forward": _missing([one.forward for one in agreed], forward),
    }
    if effects["backward"] == effects["forward"] == "safe":
        return agreed
    if len(agreed) == 1:
        return [replace(agreed[0], **{k: v for k, v in effects.items() if v != "safe"})]
    rule = "content-changed" if agreed else "order-changed"
    said = f"The elements of {where} are put together in another way"
    if backward.holds is False and effects["backward"] != "safe":
        said += f": {told(backward.example)} is no longer allowed"
    elif forward.holds is False and effects["forward"] != "safe":
        said += f": {told(forward.example)} is newly allowed"
    return [
        *agreed,
        Change(rule=rule, old=where, new=where, message=f"{said}.", **effects),
    ]


def _agreed(one: Change, effect: Effect, inclusion: Inclusion) -> Effect:
    if one.rule in _STAYS:
        return effect
    if inclusion.holds is True:
        return effect if effect == "undecided" else "safe"
    if inclusion.holds is None and effect == "safe":
        return "undecided"
    return effect


def _missing(effects: list[Effect], inclusion: Inclusion) -> Effect:
    """The effect that no change by name accounts for."""
    if inclusion.holds is True:
        return "safe"
    if inclusion.holds is False:
        return "safe" if "breaking" in effects else "breaking"
    return "undecided" if not effects else "safe"
