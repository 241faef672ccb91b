"""Changing the model: a new source takes the place of the old one (RG-04, RG-05).

It is applied before any entity of the request is written; ``model_change_compliance`` looks at
all entities after that, as the request may itself make them comply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from heraldry.dialects.xreg_1_0.model_names import canonical_source
from heraldry.errors import RegistryError
from heraldry.model.model_checks import check_change
from heraldry.model.model_includes import resolve_includes
from heraldry.model.model_reading import read_model

if TYPE_CHECKING:
    from heraldry.model.metamodel import Model
    from heraldry.registry.capabilities import Capabilities
    from heraldry.registry.unit import Unit

_SUBJECT: Final = "/model"


def change_model(unit: Unit, source: Any) -> None:
    """Replace the model by a source as a client wrote it; ``None`` removes every type (RG-04)."""
    given = {} if source is None else source
    if not isinstance(given, Mapping):
        raise _error("a model is a JSON object")
    resolved = resolve_includes(given, unit.include or refuse_include)
    canonical = canonical_source(resolved, unit.wire)
    model = read_model(canonical)
    _check_capabilities(unit.capabilities, model)
    check_change(unit.model, model)
    state = replace(
        unit.state,
        modelsource=given,
        modelversion=unit.wire.specversion,
        model=canonical,
    )
    unit.set_model(model, state)
    unit.bump_registry(("model", "modelsource"))
    unit.journal.updated("/model")
    unit.journal.updated("/modelsource")


def _check_capabilities(capabilities: Capabilities, model: Model) -> None:
    """A model asks for no more than the capabilities have (AL-16, CP-10)."""
    for group in model.groups.values():
        for type_ in group.resources.values():
            path = f"{group.plural}/{type_.plural}"
            if type_.versionmode.lower() not in capabilities.versionmodes:
                modes = ", ".join(capabilities.versionmodes)
                told = (
                    f'"versionmode" of {path} is "{type_.versionmode}", but must be one of {modes}'
                )
                raise _error(told)
            if type_.setdefaultversionsticky and not capabilities.stickyversions:
                raise _error(f'"setdefaultversionsticky" of {path} must be false')


def refuse_include(address: str) -> NoReturn:
    """Nothing is fetched because a document names it."""
    raise _error(f'"{address}" is not among the addresses that a model may include')


def _error(detail: str) -> RegistryError:
    return RegistryError("model_error", _SUBJECT, {"error_detail": detail})
