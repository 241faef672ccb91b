"""Reading the aspects of one part of a model's source, each as the type it must have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import KEY_FORM, is_key
from heraldry.model.metamodel import Described

ABOUT = frozenset({"description", "documentation", "icon", "labels"})
ABOUT_TYPE = ABOUT | {"modelversion", "modelcompatiblewith"}


def fault(detail: str) -> RegistryError:
    """The error of a model that breaks a rule of the model language."""
    return RegistryError("model_error", "/model", {"error_detail": detail})


def within(path: str, name: str) -> str:
    """The path of a part: ``groups.dirs.resources.files.name``."""
    return f"{path}.{name}" if path else name


class Aspects:
    """The aspects of one part of a source; ``null`` is the same as absent (MD-01)."""

    __slots__ = ("given", "path")

    def __init__(self, source: Any, path: str, known: Collection[str]) -> None:
        if not isinstance(source, Mapping):
            raise fault(f"{path or 'the model'} must be an object, not {_kind(source)}")
        self.path = path
        self.given: dict[str, Any] = {k: v for k, v in source.items() if v is not None}
        unknown = sorted(str(name) for name in source if name not in known)
        if unknown:
            raise fault(f"{path or 'the model'} has unknown aspects: {', '.join(unknown)}")

    def text(self, name: str) -> str:
        """A string, empty where absent."""
        value: str = self._of(name, str, "", "a string")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """A boolean."""
        value: bool = self._of(name, bool, default, "true or false")
        return value

    def table(self, name: str) -> Mapping[str, Any]:
        """An object, empty where absent; its keys are strings as in all JSON."""
        value: Mapping[str, Any] = self._of(name, Mapping, {}, "an object")
        return value

    def items(self, name: str) -> list[Any]:
        """An array, empty where absent."""
        value: list[Any] = self._of(name, list, [], "an array")
        return value

    def number(self, name: str) -> int:
        """An integer that is not negative, 0 where absent."""
        value = self.given.get(name, 0)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise fault(f"{within(self.path, name)} must be 0 or greater, not {value!r}")
        return value

    def texts(self, name: str) -> dict[str, str]:
        """A map of strings."""
        table = self.table(name)
        for key, value in table.items():
            if not isinstance(value, str):
                raise fault(f"{within(self.path, name)}.{key} must be a string")
        return dict(table)

    def about(self) -> Described:
        """What a type says about itself (MD-31, MD-40)."""
        labels = self.texts("labels")
        for key in labels:
            if not is_key(key):
                where = within(self.path, "labels")
                raise fault(f"{where} has the key {key!r}, which {KEY_FORM}")
        return Described(
            description=self.text("description"),
            documentation=self.text("documentation"),
            icon=self.text("icon"),
            labels=labels,
            modelversion=self.text("modelversion"),
            modelcompatiblewith=self.text("modelcompatiblewith"),
        )

    def _of(self, name: str, kind: Any, default: Any, called: str) -> Any:
        value = self.given.get(name, default)
        if not isinstance(value, kind):
            raise fault(f"{within(self.path, name)} must be {called}, not {_kind(value)}")
        return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"
