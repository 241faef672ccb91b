"""The first state of a registry: its id, its time of birth, and its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.dialects.xreg_1_0.model_names import canonical_source
from heraldry.dialects.xreg_1_0.wire import RC4, Wire
from heraldry.model.datatypes import check_id
from heraldry.model.model_includes import resolve_includes
from heraldry.model.model_reading import read_model
from heraldry.registry.model_change import refuse_include
from heraldry.registry.models import builtin_model
from heraldry.registry.unit import current_time
from heraldry.store.rows import State


def first_state(
    registry_id: str,
    model: str | Mapping[str, Any],
    include: Callable[[str], Any] | None,
    wire: Wire = RC4,
) -> State:
    """The state of a new registry; ``model`` is the name of a built-in one, or a source.

    A source is written in the terms of ``wire``; those that are built in have 1.0-rc4's.
    """
    check_id(registry_id, subject="/")
    now = current_time()
    wire = RC4 if isinstance(model, str) else wire
    source = builtin_model(model) if isinstance(model, str) else dict(model)
    canonical = None
    if source:
        resolved = resolve_includes(source, include or refuse_include)
        canonical = canonical_source(resolved, wire)
        read_model(canonical)
    return State(
        id=registry_id,
        attributes={"epoch": 1, "createdat": now, "modifiedat": now},
        capabilities={},
        modelsource=source or None,
        modelversion=wire.specversion,
        model=canonical,
    )
