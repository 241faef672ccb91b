"""Which HTTP methods each place has (HT-00, HT-02, HT-03)."""

from __future__ import annotations

from typing import Final

from heraldry.model.metamodel import ResourceType
from heraldry.registry.capabilities import Capabilities
from heraldry.registry.request import Place, Target
from heraldry.registry.write import ACTIONS

METHODS: Final = ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE")
_AVAILABLE: Final = {
    Place.CAPABILITIES: "capabilities",
    Place.OFFERED: "capabilitiesoffered",
    Place.MODEL: "model",
    Place.MODELSOURCE: "modelsource",
    Place.EXPORT: "export",
}


def supported(target: Target, method: str) -> bool:
    """Whether a place has a method at all; what capabilities switch off is another question."""
    return method in ("HEAD", "OPTIONS") or method.lower() in ACTIONS[target.place]


def allowed(target: Target, type: ResourceType | None, capabilities: Capabilities) -> list[str]:  # noqa: A002
    """What ``Allow`` lists, in order of the alphabet: only what would work now (HT-03)."""
    name = _AVAILABLE.get(target.place, "entities")
    methods = ["OPTIONS"]
    if name in capabilities.available:
        methods.append("GET")
        if capabilities.available[name]:
            methods += [one.upper() for one in ACTIONS[target.place] if one != "get"]
    if "PATCH" in methods and wants_document(target, type):
        methods.remove("PATCH")
    return sorted(methods)


def wants_document(target: Target, type: ResourceType | None) -> bool:  # noqa: A002
    """Whether the document itself is addressed, not its metadata (HT-00, HT-08)."""
    documents = target.place in (Place.RESOURCE, Place.VERSION) and not target.details
    return documents and type is not None and type.hasdocument
