"""How versions are ordered: ancestors, the newest, the oldest, per versionmode (AL-10..AL-16)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from heraldry.registry.draft import VersionDraft

Versions = Collection[VersionDraft]
_SEMVER = re.compile(r"(\d{1,18})(?:\.(\d{1,18}))?(?:\.(\d{1,18}))?(?:-([0-9A-Za-z.-]+))?")


def moment(text: Any) -> tuple[str, str]:
    """A key that sorts timestamps in UTC, whatever their number of decimals."""
    if not isinstance(text, str):
        return "", ""
    second, _, decimals = text.rstrip("Z").partition(".")
    return second, decimals.rstrip("0")


def _created(version: VersionDraft) -> tuple[Any, ...]:
    return moment(version.values.get("createdat")), version.id.lower()


def _modified(version: VersionDraft) -> tuple[Any, ...]:
    return moment(version.values.get("modifiedat")), version.id.lower()


def _semantic(version: VersionDraft) -> tuple[Any, ...]:
    """SemVer precedence (AL-15); ids that are none come first, by their text."""
    found = _SEMVER.fullmatch(version.id)
    if found is None:
        return 0, version.id.lower()
    numbers = tuple(int(part or 0) for part in found.groups()[:3])
    return 1, numbers, _prerelease(found[4]), version.id.lower()


def _prerelease(text: str | None) -> tuple[Any, ...]:
    if text is None:
        return (1,)
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in text.split("."))
    return 0, parts


_ORDERS: dict[str, Callable[[VersionDraft], tuple[Any, ...]]] = {
    "createdat": _created,
    "modifiedat": _modified,
    "semver": _semantic,
}


def set_ancestors(mode: str, versions: Versions, now: str) -> None:
    """Give every version the ancestor its mode asks for; a changed one is touched (VE-08)."""
    order = _ORDERS.get(mode)
    if order is None:
        _follow_newest(versions, now)
        return
    # By modifiedat, a touch may change the order again: each round touches more, until none does.
    while True:
        before = sum(version.touched for version in versions)
        previous: VersionDraft | None = None
        for version in sorted(versions, key=order):
            version.point(previous.id if previous else version.id, now)
            previous = version
        if mode != "modifiedat" or before == sum(version.touched for version in versions):
            return


def _follow_newest(versions: Versions, now: str) -> None:
    """Manual: a version without an ancestor follows the newest (AL-11).

    New ones come in the order of their ids, each being the newest when the next one comes. What
    was there before and lost its ancestor comes before them, in the order of time.
    """
    if not any(version.unrooted for version in versions):
        return
    last = _newest_leaf([v for v in versions if v.old is not None and not v.unrooted])
    before = sorted((v for v in versions if v.old is not None and v.unrooted), key=_created)
    new = sorted((v for v in versions if v.old is None), key=lambda version: version.id.lower())
    for version in (*before, *new):
        if version.unrooted:
            version.point(last.id if last else version.id, now)
        last = version


def newest(mode: str, versions: Versions) -> VersionDraft | None:
    """The version that is default where none is sticky (AL-04)."""
    order = _ORDERS.get(mode)
    if order is None:
        return _newest_leaf(versions)
    return max(versions, key=order, default=None)


def _newest_leaf(versions: Versions) -> VersionDraft | None:
    """Among those that are nobody's ancestor, the latest; all of them where they form a circle."""
    parents = {v.values["ancestorid"] for v in versions if v.values["ancestorid"] != v.id}
    leaves = [v for v in versions if v.id not in parents]
    return max(leaves or versions, key=_created, default=None)


def oldest(mode: str, versions: Versions) -> VersionDraft:
    """The version that goes first; a root in manual mode (AL-10). There must be one."""
    order = _ORDERS.get(mode)
    if order is not None:
        return min(versions, key=order)
    present = {version.id for version in versions}
    # The default version may have been left out: its children then count as roots.
    tops = [
        version
        for version in versions
        if (ancestor := version.values["ancestorid"]) == version.id or ancestor not in present
    ]
    return min(tops or versions, key=_created)


def orphan(mode: str, versions: Iterable[VersionDraft], gone: str, now: str) -> None:
    """Manual: versions whose ancestor vanished become roots (AL-12); other modes order anew."""
    if mode not in _ORDERS:
        for version in versions:
            if version.values.get("ancestorid") == gone:
                version.point(version.id, now)


def roots(versions: Versions) -> list[VersionDraft]:
    """The versions that are their own ancestor."""
    return [version for version in versions if version.values["ancestorid"] == version.id]


def circle(versions: Versions) -> list[str]:
    """The ids of versions that are their own ancestors through others (VE-07), sorted."""
    parents = {version.id: version.values["ancestorid"] for version in versions}
    seen: set[str] = set()
    found: list[str] = []
    for start in parents:
        path: dict[str, int] = {}
        at = start
        while at not in seen:
            seen.add(at)
            path[at] = len(path)
            at = parents[at]
        if at in path and parents[at] != at:
            found += list(path)[path[at] :]
    return sorted(found)
