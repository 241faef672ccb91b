"""A verdict made sure of: by containment as a whole, and by made-up messages."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal

from heraldry.errors import SchemaError
from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.json_structure.containment import Containment, worst
from heraldry.schemas.json_structure.schema import JsonStructure

if TYPE_CHECKING:
    from heraldry.schemas.json_structure.compare import Difference

SAMPLES: Final = 6
"""How many made-up messages of each version the other one is tried with."""

_Direction = Literal["backward", "forward"]


def completed(old: JsonStructure, new: JsonStructure, difference: Difference) -> tuple[Change, ...]:
    """The changes found, made worse where the whole shows what none of them tells.

    Containment may find values refused; and so may a made-up message of the one version.
    """
    found = list(difference.found)
    _complete(found, "backward", difference.back, old, new)
    _complete(found, "forward", difference.forth, new, old)
    return tuple(found)


def _complete(
    found: list[Change],
    direction: _Direction,
    pair: Containment,
    writer: JsonStructure,
    reader: JsonStructure,
) -> None:
    effects: list[Effect] = [getattr(change, direction) for change in found]
    if "breaking" in effects:
        return
    problem = _refused(writer, reader)
    if problem is not None:
        doubtful = [number for number, effect in enumerate(effects) if effect == "undecided"]
        if len(doubtful) == 1:
            worse: dict[str, Any] = {direction: "breaking"}
            found[doubtful[0]] = replace(found[doubtful[0]], **worse)
        else:
            found.append(_whole(direction, "breaking", f" ({problem})", writer, reader))
    elif worst(effects) == "safe":
        effect = _contained(pair, writer, reader)
        if effect != "safe":
            found.append(_whole(direction, effect, "", writer, reader))


def _contained(pair: Containment, writer: JsonStructure, reader: JsonStructure) -> Effect:
    try:
        return pair.covers(reader.structure.root, writer.structure.root)
    except RecursionError:
        return "undecided"


def _refused(writer: JsonStructure, reader: JsonStructure) -> str | None:
    for seed in range(SAMPLES):
        try:
            problems = reader.check(writer.sample(Random(seed), {}))
        except SchemaError:
            return None
        if problems:
            return f"{problems[0].path} {problems[0].message}"
    return None


def _whole(
    direction: _Direction,
    effect: Effect,
    example: str,
    writer: JsonStructure,
    reader: JsonStructure,
) -> Change:
    back = direction == "backward"
    names = ("old", "new") if back else ("new", "old")
    verb = "are" if effect == "breaking" else "may be"
    told = f"Messages of the {names[0]} version {verb} refused by readers of the {names[1]} one"
    old, new = (writer, reader) if back else (reader, writer)
    return Change(
        rule="values-refused",
        old=old.structure.root.where,
        new=new.structure.root.where,
        message=f"{told}{example}.",
        backward=effect if back else "safe",
        forward="safe" if back else effect,
    )
