"""Changes of global elements and attributes, as far as a wildcard lets them in and checks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.xsd.model import Model
from heraldry.schemas.xsd.xml import local

Found = tuple[list[Change], list[tuple[Any, Any]]]


def global_changes(models: tuple[Model, Model], old: Any, new: Any, where: str) -> Found:
    """The global elements that only one version checks, and those that both do."""
    checks = [_check(model.wildcards(kind)) for model, kind in zip(models, (old, new), strict=True)]
    return _compared((models[0].globals, models[1].globals), checks, where, "element")


def global_attributes(models: tuple[Model, Model], wildcards: list[Any], where: str) -> Found:
    """The global attributes that only one version checks, and those that both do."""
    checks = [_check([] if one is None else [one]) for one in wildcards]
    known = models[0].maps.attributes, models[1].maps.attributes
    return _compared(known, checks, where, "attribute")


def _check(wildcards: list[Any]) -> Callable[[str], str]:
    """How the elements of a name are checked: ``strict``, ``lax``, or not at all."""
    checking = [one for one in wildcards if one.process_contents != "skip"]

    def check(name: str) -> str:
        found = {one.process_contents for one in checking if one.is_matching(name, None)}
        return min(found, default="")

    return check


def _compared(
    known: tuple[Mapping[str, Any], Mapping[str, Any]],
    checks: list[Callable[[str], str]],
    where: str,
    what: str,
) -> Found:
    found: list[Change] = []
    shared: list[tuple[Any, Any]] = []
    for name in dict.fromkeys([*known[0], *known[1]]):
        if not (checks[0](name) and checks[1](name)):
            continue
        one, other = known[0].get(name), known[1].get(name)
        if one is not None and other is not None:
            shared.append((one, other))
        elif one is None:
            lax = checks[0](name) == "lax"
            found.append(_added(name, where, what, lax=lax))
        else:
            lax = checks[1](name) == "lax"
            found.append(_removed(name, where, what, lax=lax))
    return found, shared


def _added(name: str, where: str, what: str, *, lax: bool) -> Change:
    told = f"The {what} {local(name)!r} is now declared, and checked where {where} lets in any."
    back: Effect = "undecided" if lax else "safe"
    forth: Effect = "safe" if lax else "breaking"
    place = _place(name, where, what)
    return Change(
        rule="global-added", old=None, new=place, message=told, backward=back, forward=forth
    )


def _removed(name: str, where: str, what: str, *, lax: bool) -> Change:
    told = f"The {what} {local(name)!r}, which {where} lets in, is no longer declared."
    back: Effect = "safe" if lax else "breaking"
    forth: Effect = "undecided" if lax else "safe"
    place = _place(name, where, what)
    return Change(
        rule="global-removed", old=place, new=None, message=told, backward=back, forward=forth
    )


def _place(name: str, where: str, what: str) -> str:
    return f"{where}/{'@' if what == 'attribute' else ''}{local(name)}"
