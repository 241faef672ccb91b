"""Small model sources for tests, and what a bad one is refused with."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.model.metamodel import Attribute, Model, ResourceType
from heraldry.model.model_reading import read_model


def files(**aspects: Any) -> dict[str, Any]:
    """A source with the group type ``dirs`` and its resource type ``files``."""
    return dirs(resources={"files": {"singular": "file", **aspects}})


def dirs(**aspects: Any) -> dict[str, Any]:
    """A source with the group type ``dirs``."""
    return {"groups": {"dirs": {"singular": "dir", **aspects}}}


def file_type(**aspects: Any) -> ResourceType:
    """The resource type of :func:`files`, read."""
    return read_model(files(**aspects)).groups["dirs"].resources["files"]


def attribute(definition: dict[str, Any]) -> Attribute:
    """An extension of the registry, read."""
    return read_model({"attributes": {"x": definition}}).attributes["x"]


def refused(source: dict[str, Any]) -> RegistryError:
    """The error a source is refused with; its subject is always the model."""
    with pytest.raises(RegistryError) as caught:
        read_model(source)
    assert caught.value.subject == "/model"
    return caught.value


def model(**aspects: Any) -> Model:
    """The model of :func:`files`."""
    return read_model(files(**aspects))
