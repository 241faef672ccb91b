"""The versions of a file as the specification orders them: a second, simple implementation.

It is written from the requirements (AL, VE, ME) and knows nothing of the registry's code, so that
the two can be compared after every step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MISSING: Any = object()


class RefusedError(Exception):
    """A request that must be refused; its text is the name of the error."""


@dataclass(slots=True)
class Version:
    """A version; ``ancestor`` None: the versionmode decides."""

    id: str
    createdat: str = ""
    modifiedat: str = ""
    name: str | None = None
    ancestor: str | None = None
    epoch: int = 0
    fresh: bool = True
    touched: bool = False

    def touch(self, now: str) -> None:
        """One update, however often it is changed in a request (CA-08)."""
        if not self.touched:
            self.epoch, self.touched, self.modifiedat = self.epoch + 1, True, now

    def follow(self, ancestor: str, now: str) -> None:
        """Another ancestor is an update (VE-08)."""
        if self.ancestor != ancestor:
            self.ancestor = ancestor
            self.touch(now)

    def write(self, body: dict[str, Any], now: str, *, patch: bool) -> None:
        """Take the attributes of a body (WR-01, WR-02, CA-09, CA-13, CA-14, VE-07)."""
        epoch = body.get("epoch")
        if not self.fresh and epoch is not None and epoch != self.epoch:
            raise RefusedError("mismatched_epoch")
        stored = "" if self.fresh else self.modifiedat
        self.touch(now)
        self.modifiedat = changed_time(body, stored, now)
        if "createdat" in body or not self.createdat:
            self.createdat = body.get("createdat") or now
        if not patch or "name" in body:
            self.name = body.get("name")
        if "ancestorid" in body:
            given = body["ancestorid"]
            self.ancestor = self.id if given == "request" else given


def changed_time(body: dict[str, Any], stored: str, now: str) -> str:
    """The ``modifiedat`` that a write leads to (CA-14)."""
    given = body.get("modifiedat")
    return now if given is None or given == stored else given


def semantic(id_: str) -> tuple[Any, ...]:
    """SemVer precedence (AL-15); a plain number is a major version."""
    numbers, _, prerelease = id_.partition("-")
    parts = tuple(int(part) for part in numbers.split("."))
    release = (*parts, 0, 0)[:3]
    if not prerelease:
        return (*release, 1, ())
    told = [
        (0, int(p), "") if re.fullmatch(r"\d+", p) else (1, 0, p) for p in prerelease.split(".")
    ]
    return (*release, 0, tuple(told))


@dataclass(slots=True)
class Lineage:
    """The versions of one file, and the rules of its type."""

    mode: str
    maxversions: int = 0
    single: bool = False
    versions: dict[str, Version] = field(default_factory=dict)

    def key(self, version: Version) -> tuple[Any, ...]:
        """What versions are ordered by, oldest first."""
        if self.mode == "semver":
            return semantic(version.id)
        time = version.modifiedat if self.mode == "modifiedat" else version.createdat
        return time, version.id.lower()

    def ordered(self) -> list[Version]:
        """All of them in order."""
        return sorted(self.versions.values(), key=self.key)

    def newest(self) -> str:
        """The one that is the default where none is pinned (AL-04, AL-10)."""
        candidates = self.ordered()
        if self.mode == "manual":
            used = {one.ancestor for one in candidates if one.ancestor != one.id}
            candidates = [one for one in candidates if one.id not in used] or candidates
        return candidates[-1].id

    def check_ancestors(self) -> None:
        """A named ancestor must exist (VE-07); only where ancestors are chosen by clients."""
        for version in self.versions.values():
            named = version.ancestor
            if self.mode == "manual" and named is not None and named not in self.versions:
                raise RefusedError("unknown_id")

    def arrange(self, now: str) -> None:
        """Give every version its ancestor (AL-11, AL-13..AL-15)."""
        if self.mode == "manual":
            self._arrange_new(now)
            return
        while True:
            order = self.ordered()
            for before, version in zip([order[0], *order], order, strict=False):
                version.follow(before.id, now)
            if order == self.ordered():
                return

    def _arrange_new(self, now: str) -> None:
        """Manual: who has no ancestor follows the newest; each new version is that in its turn."""
        known = {o.id: o for o in self.ordered() if not o.fresh and o.ancestor is not None}
        last = Lineage(mode="manual", versions=known).newest() if known else None
        loose = [one for one in self.ordered() if not one.fresh and one.ancestor is None]
        fresh = [one for one in self.versions.values() if one.fresh]
        for version in (*loose, *sorted(fresh, key=lambda one: one.id.lower())):
            if version.ancestor is None:
                version.follow(last or version.id, now)
            last = version.id

    def remove(self, id_: str, now: str) -> None:
        """Take one away; in manual mode its children become roots (AL-12)."""
        del self.versions[id_]
        if self.mode == "manual":
            for version in self.versions.values():
                if version.ancestor == id_:
                    version.follow(version.id, now)

    def surplus(self, default: str) -> str | None:
        """The version to be pruned next: the oldest that is not the default (AL-21)."""
        if not self.maxversions or len(self.versions) <= self.maxversions:
            return None
        spared = {default}
        fresh = {key for key, one in self.versions.items() if one.fresh}
        if self.maxversions == 1 and fresh and len(fresh) < len(self.versions):
            spared = fresh  # with room for one, a new version replaces what was there
        left = [one for one in self.ordered() if one.id not in spared]
        if self.mode == "manual":
            ids = {one.id for one in left}
            left = [o for o in left if o.ancestor == o.id or o.ancestor not in ids] or left
        return left[0].id

    def check(self) -> None:
        """No circles, and one root where there may be one only (VE-07, AL-20, AL-22)."""
        for version in self.versions.values():
            seen = set()
            while version.ancestor != version.id:
                if version.id in seen:
                    raise RefusedError("ancestor_circular_reference")
                seen.add(version.id)
                version = self.versions[version.ancestor or ""]
        roots = [one for one in self.versions.values() if one.ancestor == one.id]
        if self.single and len(roots) > 1:
            raise RefusedError("multiple_roots")
