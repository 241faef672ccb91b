"""Reading capabilities and the model, by their paths and inlined in the registry (RG-03, RG-06)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from heraldry.dialects.xreg_1_0.model_names import wire_model, wire_source
from heraldry.dialects.xreg_1_0.wire import WIRES
from heraldry.model.model_showing import show_model
from heraldry.registry.capabilities import offered, require_available, show_capabilities
from heraldry.registry.request import Place, Reply, Target

if TYPE_CHECKING:
    from heraldry.registry.inlining import Inlining
    from heraldry.registry.session import Session

SETTING_PLACES: Final = {
    Place.CAPABILITIES: "capabilities",
    Place.OFFERED: "capabilitiesoffered",
    Place.MODEL: "model",
    Place.MODELSOURCE: "modelsource",
}


def show_setting(session: Session, target: Target) -> Reply:
    """The reply to a GET of capabilities, of what is offered, of the model or its source."""
    name = SETTING_PLACES[target.place]
    require_available(session, name)
    epoch = session.state.attributes["epoch"]
    return Reply(body=setting(session, name), tag=f"{name}-{epoch}")


def setting(session: Session, name: str) -> dict[str, Any]:
    """The value of a setting in the generation that is spoken."""
    wire = session.wire
    if name == "capabilities":
        return show_capabilities(session.capabilities, wire)
    if name == "capabilitiesoffered":
        return offered(wire)
    if name == "model":
        return wire_model(show_model(session.model), wire)
    state = session.state
    written = next((one for one in WIRES if one.specversion == state.modelversion), wire)
    return dict(wire_source(state.modelsource or {}, written, wire))


def inlined_settings(session: Session, inline: Inlining) -> Iterator[tuple[str, Any]]:
    """Those of capabilities, model and modelsource that were asked for by name (RG-03)."""
    for name in ("capabilities", "model", "modelsource"):
        if inline.names(name):
            yield name, setting(session, name)
