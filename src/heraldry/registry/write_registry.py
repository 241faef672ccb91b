"""Writing the registry itself: attributes, capabilities, model, and groups inside (RG-04..08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.conform import conform
from heraldry.registry.bodies import entries_of, object_body
from heraldry.registry.capabilities import require_available, stored_capabilities
from heraldry.registry.capabilities_change import change_capabilities, refuse_closing
from heraldry.registry.entity_names import registry_names
from heraldry.registry.groups import write_group
from heraldry.registry.journal import differing
from heraldry.registry.merge import check_same_id, merged
from heraldry.registry.model_change import change_model
from heraldry.registry.request import Null
from heraldry.registry.write_budget import check_entities

if TYPE_CHECKING:
    from heraldry.registry.capabilities import Capabilities
    from heraldry.registry.unit import Unit


def write_registry(unit: Unit, body: Mapping[str, Any], *, patch: bool) -> None:
    """PUT or PATCH of the root: capabilities, modelsource, attributes, then groups (RG-05)."""
    if "id" not in unit.ignores:
        check_same_id("registry", body, "registryid", unit.state.id, "/")
    # Whether these two may be changed, the capabilities from before the request say.
    steering = ("capabilities", "modelsource")
    given = [name for name in steering if name in body and name not in unit.ignores]
    for name in given:
        require_available(unit.session, name, write=True)
    if "capabilities" in given:
        set_capabilities(unit, body["capabilities"], patch=patch)
    if "modelsource" in given:
        change_model(unit, body["modelsource"])
        check_entities(unit.request, unit.model, unit.session.limits)
    _write_attributes(unit, body, patch=patch)
    nested = [
        (type, entries_of(unit.request, body, type.plural, "/"))
        for type in unit.model.groups.values()  # noqa: A001
    ]
    for type, entries in nested:  # noqa: A001
        for id, entry in entries.items():  # noqa: A001
            write_group(unit, type, id, entry, patch=patch)


def _write_attributes(unit: Unit, body: Mapping[str, Any], *, patch: bool) -> None:
    names = registry_names(unit)
    old = unit.state.attributes
    if 0 in unit.written:
        # Capabilities or the model changed before: the epoch has grown for this request.
        old = {**old, "epoch": old["epoch"] - 1}
    values = merged(unit, names, body, old, patch=patch, subject="/")
    values = conform(
        names.attributes, values, subject="/", model=unit.model, computed=names.computed
    )
    unit.journal.updated("/", differing(old, values))
    unit.written.add(0)
    unit.set_state(replace(unit.state, attributes=values))


def write_capabilities(unit: Unit) -> None:
    """PUT or PATCH of ``/capabilities`` (CP-13)."""
    require_available(unit.session, "capabilities", write=True)
    given = object_body(unit.request)
    set_capabilities(unit, given, patch=unit.request.action == "patch")


def set_capabilities(unit: Unit, given: Any, *, patch: bool) -> None:
    """Other capabilities, as a client asks for them."""
    changed = change_capabilities(unit.capabilities, given, patch=patch, wire=unit.wire)
    if "immutable" not in unit.request.flags.confirm:
        refuse_closing(unit.capabilities, changed)
    save_capabilities(unit, changed)


def save_capabilities(unit: Unit, changed: Capabilities) -> None:
    """Other capabilities; that is an update of the registry (RG-08)."""
    before = unit.capabilities
    state = replace(unit.state, capabilities=stored_capabilities(changed))
    unit.set_capabilities(changed, state)
    names = [n for n in changed.__slots__ if getattr(changed, n) != getattr(before, n)]
    unit.journal.updated("/capabilities", names)
    unit.bump_registry(("capabilities",))


def write_modelsource(unit: Unit) -> None:
    """PUT of ``/modelsource``: a full replacement (RG-04); ``null`` is ``{}``."""
    require_available(unit.session, "modelsource", write=True)
    body = unit.request.body
    if body is None:
        raise RegistryError("missing_body", unit.request.path)
    change_model(unit, None if body is Null.NULL else body)
