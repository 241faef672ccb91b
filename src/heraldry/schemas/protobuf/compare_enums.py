"""The changes between two versions of an enum."""

from __future__ import annotations

from google.protobuf.descriptor import EnumDescriptor

from heraldry.schemas.changes import Change, Effect


def enum_changes(
    old: EnumDescriptor, new: EnumDescriptor, before: str, after: str
) -> tuple[Change, ...]:
    """What changed in an enum; ``before`` and ``after`` say where it is.

    Readers of an open enum keep a number without a name, those of a closed one drop it.
    """
    made = [*_closed(old, new, before, after), *_moved(old, new, before, after)]
    moved = {change.new for change in made}
    known, numbers = _first_names(old), _first_names(new)
    for number, name in numbers.items():
        place = f"{after}.{name}"
        if number not in known:
            made.append(_added(name, place, is_closed=old.is_closed))
        elif place not in moved and name != known[number]:
            made.append(_renamed(known[number], name, before, after))
    made += [
        _removed(name, f"{before}.{name}", is_closed=new.is_closed)
        for number, name in known.items()
        if number not in numbers
    ]
    return tuple(made)


def _first_names(kind: EnumDescriptor) -> dict[int, str]:
    """The name that each number is read as: of several, the first."""
    names: dict[int, str] = {}
    for one in kind.values:
        names.setdefault(one.number, one.name)
    return names


def _closed(old: EnumDescriptor, new: EnumDescriptor, before: str, after: str) -> list[Change]:
    if old.is_closed == new.is_closed:
        return []
    state, readers = ("closed", "new") if new.is_closed else ("open", "old")
    told = f"The enum {new.name!r} became {state}: {readers} readers drop numbers without a name."
    effects: tuple[Effect, Effect] = ("breaking", "safe") if new.is_closed else ("safe", "breaking")
    return [_change(f"enum-{state}", before, after, told, *effects)]


def _moved(old: EnumDescriptor, new: EnumDescriptor, before: str, after: str) -> list[Change]:
    made = []
    for name, one in new.values_by_name.items():
        known = old.values_by_name.get(name)
        if known is not None and known.number != one.number:
            told = (
                f"The number of the enum value {name!r} changed from {known.number} to"
                f" {one.number}: readers of the other version see another value."
            )
            places = f"{before}.{name}", f"{after}.{name}"
            made.append(_change("enum-number-changed", *places, told, "breaking", "breaking"))
    return made


def _added(name: str, place: str, *, is_closed: bool) -> Change:
    seen = "drop it" if is_closed else "see its number"
    told = f"The enum value {name!r} was added: old readers {seen}."
    return _change(
        "enum-value-added", None, place, told, "safe", "breaking" if is_closed else "safe"
    )


def _removed(name: str, place: str, *, is_closed: bool) -> Change:
    seen = "drop it" if is_closed else "see its number"
    told = f"The enum value {name!r} was removed: new readers {seen}."
    return _change(
        "enum-value-removed", place, None, told, "breaking" if is_closed else "safe", "safe"
    )


def _renamed(old: str, new: str, before: str, after: str) -> Change:
    told = (
        f"The enum value {old!r} is now read as {new!r}: in binary messages only the number"
        " counts, but messages in JSON with a name that a version lacks are refused."
    )
    return _change("enum-value-renamed", f"{before}.{old}", f"{after}.{new}", told, "safe", "safe")


def _change(
    rule: str, old: str | None, new: str | None, message: str, backward: Effect, forward: Effect
) -> Change:
    return Change(rule=rule, old=old, new=new, message=message, backward=backward, forward=forward)
