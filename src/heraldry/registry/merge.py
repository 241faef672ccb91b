"""What an entity becomes when a request writes it: replaced or patched (WR-01, WR-02)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.conform import writable
from heraldry.model.datatypes import normal_timestamp

if TYPE_CHECKING:
    from heraldry.registry.entity_names import Names
    from heraldry.registry.unit import Unit


def merged(
    unit: Unit,
    names: Names,
    given: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    *,
    patch: bool,
    subject: str,
) -> dict[str, Any]:
    """The attributes of an entity after a write, with its new epoch; not yet checked.

    ``given`` has canonical names and no ids any more. Internal attributes are kept.
    """
    check_epoch(unit, given.get("epoch"), old, subject)
    if old is None:
        values: dict[str, Any] = {}
    elif patch:
        values = dict(old)
    else:
        kept = names.readonly
        values = {n: v for n, v in old.items() if n in kept or n[:1] == "#"}
    for name, value in writable(names.attributes, given, keep=("epoch",)).items():
        if name in names.computed:
            continue
        if name[:1] == "#":
            raise _invalid(subject, name, "is not the name of an attribute")
        if value is None and name in values:
            del values[name]
        else:
            values[name] = value
    values["createdat"] = created_at(unit, given, old)
    values["modifiedat"] = modified_at(unit, given, old)
    values["epoch"] = old["epoch"] + 1 if old is not None else 1
    return values


def check_epoch(unit: Unit, given: Any, old: Mapping[str, Any] | None, subject: str) -> None:
    """An epoch that was sent must be the stored one; ``null`` and creates are free (CA-09).

    So is what has none: a resource whose target is missing (XR-04).
    """
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise _invalid(subject, "epoch", "must be a uinteger")
    stored = old.get("epoch", given) if old is not None else given
    if given != stored and "epoch" not in unit.ignores:
        arguments = {"bad_epoch": str(given), "epoch": str(stored)}
        raise RegistryError("mismatched_epoch", subject, arguments)


def created_at(unit: Unit, given: Mapping[str, Any], old: Mapping[str, Any] | None) -> Any:
    """As given; ``null``: now; absent: unchanged, also for PUT (CA-13)."""
    if given.get("createdat") is not None:
        return _timestamp(given["createdat"])
    if "createdat" in given:
        return unit.now
    return old["createdat"] if old is not None and "createdat" in old else unit.now


def modified_at(unit: Unit, given: Mapping[str, Any], old: Mapping[str, Any] | None) -> Any:
    """Now, unless a value was given that differs from the stored one (CA-14)."""
    value = _timestamp(given.get("modifiedat"))
    if value is None or (old is not None and value == old.get("modifiedat")):
        return unit.now
    return value


def _timestamp(value: Any) -> Any:
    """In the form it is stored; what is no timestamp is refused later, by its type."""
    if not isinstance(value, str):
        return value
    try:
        return normal_timestamp(value)
    except ValueError:
        return value


def check_same_id(
    singular: str, given: Mapping[str, Any], name: str, expected: str, subject: str
) -> None:
    """An id in a body must be the one of the path, key or entity (CA-04)."""
    value = given.get(name)
    if value is None or value == expected:
        return
    if value == "":
        raise _invalid(subject, name, "must not be an empty string")
    raise RegistryError(
        "mismatched_id",
        subject,
        {"singular": singular, "invalid_id": str(value), "expected_id": expected},
    )


def _invalid(subject: str, name: str, detail: str) -> RegistryError:
    return RegistryError("invalid_attribute", subject, {"name": name, "error_detail": detail})
