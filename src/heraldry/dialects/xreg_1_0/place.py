"""Where a reader is in a document, so that each error can say it as a JSON pointer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.dialects.limits import Limits
from heraldry.errors import DocumentError


@dataclass(slots=True)
class Tally:
    """The entities read so far, against the limit."""

    limit: int
    entities: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A file and the steps into it; checks raise :class:`DocumentError` with both."""

    file: str
    tally: Tally
    steps: tuple[str, ...] = field(default=())

    @classmethod
    def start(cls, file: str, limits: Limits) -> Place:
        """The root of a document."""
        return cls(file, Tally(limits.entities))

    def at(self, *steps: str) -> Place:
        """A place further inside."""
        return Place(self.file, self.tally, (*self.steps, *steps))

    @property
    def pointer(self) -> str:
        """The JSON pointer of this place."""
        return "".join("/" + s.replace("~", "~0").replace("/", "~1") for s in self.steps)

    def error(self, reason: str) -> DocumentError:
        """An error at this place."""
        return DocumentError(self.file, self.pointer, reason)

    def count(self) -> None:
        """Count one entity; refuse the document when there are too many."""
        self.tally.entities += 1
        if self.tally.entities > self.tally.limit:
            reason = f"more than {self.tally.limit:,} entities; split the catalog into documents"
            raise self.error(reason)

    def mapping(self, value: Any, step: str) -> Mapping[str, Any]:
        """The object at a step; anything else is an error."""
        if not isinstance(value, Mapping):
            kind = _kind(value)
            raise self.at(step).error(f"expected an object of members by name, found {kind}")
        return value

    def same_id(self, source: Mapping[str, Any], name: str, key: str) -> None:
        """An id inside an entity equals the key it is listed under (C35)."""
        given = source.get(name)
        if given is not None and str(given) != key:
            reason = f"{name} is {given!r} but the entity is listed as {key!r}; they must be equal"
            raise self.at(name).error(reason)

    def distinct(self, collection: Mapping[str, Any]) -> None:
        """Ids of one collection differ by more than case (0.4)."""
        if len(collection) < 2 or len({key.lower() for key in collection}) == len(collection):
            return
        seen: dict[str, str] = {}
        for key in collection:
            other = seen.setdefault(key.lower(), key)
            if other != key:
                reason = f"{key!r} and {other!r} differ in case only; ids must differ ignoring case"
                raise self.at(key).error(reason)


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(value), "a number")
