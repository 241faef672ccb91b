"""The catalog of a running job: what changes in it takes effect at the next batch.

watch = CatalogWatch(CatalogFollower(catalogs, places, allow).look, grace=600, tell=print)
watch.current().digest       # at the start of every batch; cheap while nothing changed

A registry that is away, or a catalog that does not load or cannot be landed, makes no dead
letters: the job goes on with the catalog it has, for ``grace`` seconds, and then stops.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Self

import msgspec

from heraldry.client.catalog_follower import Look
from heraldry.dialects.dump import dump
from heraldry.errors import HeraldryError, PipelineError
from heraldry.model.catalog import Catalog

_LONGEST_PAUSE = 120.0
_SHARE = 4
"""While the catalog cannot be had, looking for it takes at most one part in five of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The catalog to judge by, as workers take it; the same object while nothing changed.

    ``external`` are the base messages that were fetched for it, as JSON. ``stale_since`` is the
    clock's time since when nothing newer could be had, or None.
    """

    catalog: Catalog
    document: bytes
    external: bytes
    digest: str
    stale_since: float | None = None

    @classmethod
    def of(cls, catalog: Catalog) -> Watched:
        """A catalog with its document; not cheap where there are thousands of definitions."""
        document, external = dump(catalog), msgspec.json.encode(catalog.external, order="sorted")
        digest = sha256(document + external).hexdigest()
        return cls(catalog=catalog, document=document, external=external, digest=digest)


class CatalogWatch:
    """Asks for the catalog at most once in ``every`` seconds, and decides how long an old one does.

    ``tell`` takes a line when the catalog changes, goes and comes back. Any thread may ask.
    """

    def __init__(
        self,
        look: Callable[[], Look],
        grace: float,
        *,
        every: float = 1.0,
        tell: Callable[[str], object] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look, self._tell = look, tell
        self._grace, self._every, self._clock = grace, every, clock
        self._accept: Callable[[Catalog], object] = lambda catalog: None
        self._follow: Callable[[Catalog], object] = lambda catalog: None
        self._lock = threading.Lock()
        self._watched: Watched | None = None
        self._offered: Catalog | None = None
        self._refused = self._trouble = ""
        self._next = 0.0

    def accept_by(self, accept: Callable[[Catalog], object]) -> None:
        """From now on a new catalog takes effect only where ``accept`` raises no error.

        What it refuses counts as a catalog that does not load, but the one that is in effect by now
        there is nothing to go on with instead of: then its error is raised.
        """
        with self._lock:
            if self._watched is not None:
                accept(self._watched.catalog)
            self._accept = accept

    def follow_by(self, follow: Callable[[Catalog], object]) -> None:
        """From now on ``follow`` is given each catalog that takes effect, first the one that is.

        It must be quick: batches wait for it.
        """
        with self._lock:
            if self._watched is not None:
                follow(self._watched.catalog)
            self._follow = follow

    def current(self) -> Watched:
        """The catalog for the next batch; PipelineError where it was away for too long."""
        with self._lock:
            if self._watched is None:
                return self._begin()
            # Whoever would stop looks once more, however short the last look is ago.
            if self._clock() >= self._next or self._age(self._watched) >= self._grace:
                self._watched = self._looked(self._watched)
            self._stop_when_too_old(self._watched)
            return self._watched

    def _begin(self) -> Watched:
        """The first catalog: where there is none at all, that is an error at once."""
        look = self._look()
        assert look.catalog is not None
        self._accept(look.catalog)
        self._watched = Watched.of(look.catalog)
        self._follow(look.catalog)
        if look.away:
            self._watched = self._aged(self._watched, look.away)
            self._stop_when_too_old(self._watched)
        self._next = self._clock() + self._every
        return self._watched

    def _looked(self, known: Watched) -> Watched:
        started = self._clock()
        look = self._look()
        # One that was refused is offered again: what it was refused for may be over.
        offered = look.catalog or self._offered
        if offered is not None:
            self._refused = self._refusal(offered)
            self._offered = offered if self._refused else None
            if not self._refused:
                known = self._changed(known, Watched.of(offered))
        trouble = look.away or self._refused
        known = self._aged(known, trouble) if trouble else self._fresh(known)
        now = self._clock()
        pause = min(_SHARE * (now - started), _LONGEST_PAUSE) if look.away else 0.0
        self._next = now + max(self._every, pause)
        return known

    def _refusal(self, catalog: Catalog) -> str:
        try:
            self._accept(catalog)
        except (HeraldryError, OSError) as error:
            return str(error)
        return ""

    def _changed(self, known: Watched, found: Watched) -> Watched:
        if found.digest == known.digest:
            return known
        self._tell(f"the catalog changed: {known.digest[:12]} is now {found.digest[:12]}")
        self._follow(found.catalog)
        return replace(found, stale_since=known.stale_since)

    def _aged(self, known: Watched, trouble: str) -> Watched:
        """Go on with an old catalog, and say so once."""
        if known.stale_since is None:
            known = replace(known, stale_since=self._clock())
            self._tell(f"the last catalog goes on for up to {self._grace:g} s: {trouble}")
        self._trouble = trouble
        return known

    def _fresh(self, known: Watched) -> Watched:
        if known.stale_since is None:
            return known
        self._tell(f"the catalog is back after {self._clock() - known.stale_since:.0f} s")
        return replace(known, stale_since=None)

    def _age(self, known: Watched) -> float:
        return -1.0 if known.stale_since is None else self._clock() - known.stale_since

    def _stop_when_too_old(self, known: Watched) -> None:
        seconds = self._age(known)
        if known.stale_since is not None and seconds >= self._grace:
            reason = f"for {seconds:.0f} s it could not be had: {self._trouble}"
            raise PipelineError("asked for its catalog", reason)


class AskedMeanwhile:
    """Asks a watch every second, batch or no batch, until the end of its ``with``.

    It asks in a thread of its own, for a look may wait long for a registry. ``failure`` is why the
    catalog cannot be had any more, until it can.
    """

    def __init__(self, watch: CatalogWatch, every: float = 1.0) -> None:
        self.failure: Exception | None = None
        self._watch, self._every = watch, every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="catalog", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        # Whoever ends is not kept waiting by a registry that is slow to answer.
        self._thread.join(timeout=self._every)

    def _ask(self) -> None:
        while not self._over.wait(self._every):
            try:
                self._watch.current()
                self.failure = None
            except Exception as error:  # noqa: BLE001 - whoever watches raises it
                self.failure = error


def fixed(catalog: Catalog) -> Callable[[], Look]:
    """A look at a catalog that never changes."""
    looks = iter((Look(catalog=catalog),))
    return lambda: next(looks, Look())
