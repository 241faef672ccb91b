"""What ``check`` calls an error in a definition and no job stops for: told, not decided.

with doubts_told(watch, only, tell):     # of the catalog in effect, and of each that follows it
    ...

A schema that does not compile turns validation off without a trace in any batch, and a definition
that never matches shows only in letters of others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import CircularBaseError, HeraldryError, SchemaError
from heraldry.messages.compile import compile_merged, compile_schema, why_unusable
from heraldry.model.inherit import definitions, materialize
from heraldry.model.schema_reference import Resolved, resolve_schema
from heraldry.schemas.references import gather

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog
    from heraldry.model.definition import Definition
    from heraldry.model.xid import Xid
    from heraldry.pipeline.landing.catalog_watch import CatalogWatch

SHOWN: Final = 5
"""So many definitions have a line of their own."""
LOOKED_AT: Final = 500
"""Of more definitions none is looked at: compiling thousands costs more than landing a batch."""

_PATIENCE = 2.0
_BREATH = 0.0001
"""A pause after each definition: whoever waits for the interpreter goes first."""
_ADVICE = "(heraldry check)"
_RAW = f"payloads land raw, unchecked {_ADVICE}"
_NEVER = f"no message will ever match it {_ADVICE}"
_DOUBTS = {
    "invalid": f"its schema does not compile: {_RAW}",
    "conflict": f"its schema is stated twice, and not alike: {_RAW}",
    "template-invalid": f"its template cannot be read: {_NEVER}",
    "circular": f"its base messages come back to it: {_NEVER}",
}


class Doubts:
    """The doubtful definitions of one catalog after the other, or ``only`` those of some xids.

    Compiling is most of the cost: what is as it was, with all it refers to, is not compiled again.
    """

    def __init__(self, only: Collection[str] = ()) -> None:
        self._only = frozenset(only)
        self._known: dict[str, tuple[tuple[Any, ...], str]] = {}

    def wanted(self, catalog: Catalog) -> dict[str, Xid]:
        """The definitions in question, by their names."""
        named = {str(xid): xid for xid in definitions(catalog)}
        return {name: xid for name, xid in named.items() if not self._only or name in self._only}

    def of(self, catalog: Catalog) -> Iterator[tuple[str, str]]:
        """Each definition with why it is doubtful, or nothing; to be asked to the end."""
        before, self._known = self._known, {}
        for name, xid in self.wanted(catalog).items():
            stated = _stated(catalog, xid)
            was = before.get(name)
            doubt = was[1] if was and was[0] == stated else _doubt(catalog, *stated)
            self._known[name] = (stated, doubt)
            yield name, doubt


def _stated(catalog: Catalog, xid: Xid) -> tuple[Any, ...]:
    """All that the verdict on a definition depends on, itself first; of a circular one nothing."""
    try:
        definition = materialize(catalog, xid)
    except CircularBaseError:
        return ()
    schema = resolve_schema(catalog, definition)
    if not isinstance(schema, Resolved):
        return definition, schema
    try:
        return definition, schema, gather(catalog, schema)
    except SchemaError as error:
        return definition, schema, str(error)


def _doubt(catalog: Catalog, definition: Definition | None = None, *_: object) -> str:
    """Why a definition is doubtful, or nothing."""
    if definition is None:
        return _DOUBTS["circular"]
    unusable = why_unusable(definition)
    if _has_braces((definition.envelopemetadata, definition.protocoloptions)):
        unusable = compile_merged(catalog, definition).unusable
    if unusable is not None:
        return _DOUBTS.get(unusable[0], "")
    try:
        return _DOUBTS.get(compile_schema(catalog, definition).state, "")
    except HeraldryError:
        return ""  # such as an extra that is not installed: that ends the first batch


def _has_braces(value: object) -> bool:
    """Whether some text may be a template: else there is none that could not be read."""
    if isinstance(value, str):
        return "{" in value
    if isinstance(value, Mapping):
        return any(map(_has_braces, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_braces, value))


class _Teller:
    """Tells the doubts of the catalogs it is given, in a thread of its own: no batch waits."""

    def __init__(self, only: Collection[str], tell: Callable[[str], object]) -> None:
        self._doubts, self._tell = Doubts(only), tell
        self._given: SimpleQueue[Catalog | None] = SimpleQueue()
        self.follow: Callable[[Catalog], object] = self._given.put
        self._over = False
        self._thread = threading.Thread(target=self._run, name="doubts", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """What is under way is told, unless that takes long: nobody is kept from ending."""
        self._given.put(None)
        self._thread.join(_PATIENCE)
        self._over = True

    def _run(self) -> None:
        many = 0
        while (catalog := self._given.get()) is not None:
            before, many = many, len(self._doubts.wanted(catalog))
            if many > LOOKED_AT:
                if before <= LOOKED_AT:
                    self._tell(f"of {many:,} definitions none was looked at: heraldry check does")
                continue
            count = 0
            for xid, doubt in self._doubts.of(catalog):
                time.sleep(_BREATH)
                if self._over:
                    return
                count += bool(doubt)
                if doubt and count <= SHOWN:
                    self._tell(f"{xid}: {doubt}")
            if count > SHOWN and not self._over:
                self._tell(f"and {count - SHOWN:,} more such definitions {_ADVICE}")


@contextmanager
def doubts_told(
    watch: CatalogWatch, only: Collection[str], tell: Callable[[str], object]
) -> Iterator[None]:
    """Tell of doubtful definitions whenever a catalog takes effect, first of the one that is."""
    teller = _Teller(only, tell)
    watch.follow_by(teller.follow)
    try:
        yield
    finally:
        teller.close()
