"""What a registry of files must hold after each request: the reference of the stateful test.

Written from the requirements on resources, meta entities, cross references and deletion (RS, ME,
RP, XR, DE), without the registry's code. A request is either carried out on a copy, which then
takes the place of the old state, or refused (GN-01).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.registry.expected_versions import Lineage, RefusedError, Version, changed_time

Body = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Kind:
    """The aspects of the resource type."""

    mode: str = "manual"
    maxversions: int = 0
    single: bool = False
    setversionid: bool = True


@dataclass(slots=True, kw_only=True)
class File:
    """A file with its meta entity and versions."""

    id: str
    lineage: Lineage
    createdat: str
    modifiedat: str
    epoch: int = 1
    labels: Body | None = None
    default: str | None = None
    sticky: bool = False
    xref: str | None = None
    counter: int = 0
    fresh: bool = True
    touched: bool = True
    stored: tuple[int, str] = (0, "")
    """Epoch and ``modifiedat`` as they were before the request."""
    chosen: tuple[str | None, bool] = (None, False)
    """The default and whether it was pinned, likewise."""

    @property
    def versions(self) -> dict[str, Version]:
        return self.lineage.versions

    def begin(self) -> None:
        """A request begins: everything that is there was there before."""
        self.fresh = self.touched = False
        self.stored = self.epoch, self.modifiedat
        self.chosen = self.default, self.sticky
        for version in self.versions.values():
            version.fresh = version.touched = False

    def touch(self, now: str) -> None:
        """One update of the meta entity per request (ME-03)."""
        if not self.touched:
            self.epoch, self.modifiedat, self.touched = self.epoch + 1, now, True

    def next_id(self) -> str:
        """The next number that is not taken (AL-01)."""
        self.counter += 1
        while str(self.counter) in self.versions:
            self.counter += 1
        return str(self.counter)


@dataclass(slots=True, kw_only=True)
class Request:
    """What holds for a whole request."""

    kind: Kind
    now: str
    patch: bool = False
    flag: str | None = None
    """``setdefaultversionid``."""


def check_id(body: Body, name: str, id_: str) -> None:
    """An id in a body must be the one it is addressed by (CA-04)."""
    if body.get(name) is not None and body[name] != id_:
        raise RefusedError("mismatched_id")


def new_file(request: Request, id_: str) -> File:
    kind = request.kind
    lineage = Lineage(mode=kind.mode, maxversions=kind.maxversions, single=kind.single)
    return File(id=id_, lineage=lineage, createdat=request.now, modifiedat=request.now)


def write_version(request: Request, file: File, id_: str, body: Body) -> Version:
    """Create or update one version; without an id the server chooses (AL-01, AL-02)."""
    if file.xref is not None:
        raise RefusedError("bad_request")  # XR-06
    version = file.versions.get(id_) if id_ else None
    if version is None:
        if id_ and any(id_.lower() == other.lower() for other in file.versions):
            raise RefusedError("bad_request")  # CA-03
        if id_ and not request.kind.setversionid:
            raise RefusedError("versionid_not_allowed")
        version = Version(id_ or file.next_id())
        file.versions[version.id] = version
        file.touch(request.now)
    check_id(body, "fileid", file.id)
    check_id(body, "versionid", version.id)
    version.write(body, request.now, patch=request.patch)
    return version


def write_file(request: Request, file: File, body: Body, target: File | None) -> None:
    """The whole processing of a resource (RP-01..RP-05); ``target`` is what its xref shows."""
    check_id(body, "fileid", file.id)
    meta = body.get("meta", {}) if "meta" in body else None
    meta = {} if "meta" in body and meta is None else meta
    own = {name: value for name, value in body.items() if name not in ("meta", "versions")}
    if refers(request, file, meta):
        beside = {name for name in body if name not in ("meta", "fileid")}
        refer(request, file, meta or {}, beside)
        return
    leave(request, file, target)
    versions = body.get("versions", {})
    place = _place(request, file, own, meta)
    for id_, entry in versions.items():
        write_version(request, file, id_, entry)
    if place not in versions and (place or not versions):
        write_version(request, file, place, own)
    write_meta(request, file, meta)
    settle(request, file)


def _place(request: Request, file: File, own: Body, meta: Body | None) -> str:
    """Which version the attributes of the resource are meant for (RP-02..RP-04, VE-03)."""
    if file.versions:
        check_id(own, "versionid", file.default or "")
        return file.default or ""
    if own.get("versionid") is not None:
        return own["versionid"]
    if request.flag not in (None, "null", "request"):
        return request.flag or ""
    return (meta or {}).get("defaultversionid") or ""


def write_meta(request: Request, file: File, meta: Body | None) -> None:
    """Replace or patch the meta entity (ME-09..ME-13, CA-13, CA-14)."""
    if meta is None:
        return
    check_id(meta, "fileid", file.id)
    epoch, modifiedat = file.stored
    if not file.fresh and meta.get("epoch") not in (None, epoch):
        raise RefusedError("mismatched_epoch")
    patch = request.patch
    file.touch(request.now)
    file.modifiedat = changed_time(meta, modifiedat, request.now)
    if "createdat" in meta:
        file.createdat = meta["createdat"] or request.now
    if not patch or "labels" in meta:
        file.labels = meta.get("labels")
    _choose(file, meta, patch=patch)


def _choose(file: File, meta: Body, *, patch: bool) -> None:
    """Which version is wanted as the default, before versions are ordered (ME-10, ME-13)."""
    given, sticky = meta.get("defaultversionid"), meta.get("defaultversionsticky")
    if patch and "defaultversionid" not in meta and "defaultversionsticky" not in meta:
        return
    if patch and "defaultversionsticky" not in meta:
        sticky = given is not None
    file.sticky = sticky is True
    if not patch or "defaultversionid" in meta:
        file.default = given


def settle(request: Request, file: File) -> None:
    """Order the versions, choose the default, prune, check (RP-01 steps 3 to 10)."""
    if request.flag == "null":
        file.sticky, file.default = False, None
    elif request.flag is not None:
        if request.flag not in file.versions:
            raise RefusedError("unknown_id")  # FL-61
        file.sticky, file.default = True, request.flag
    file.lineage.check_ancestors()
    file.lineage.arrange(request.now)
    _elect(request, file)
    pruned = False
    while (id_ := file.lineage.surplus(file.default or "")) is not None:
        drop(request, file, id_)
        pruned = True
    if pruned:
        file.lineage.arrange(request.now)
        _elect(request, file)
    file.lineage.check()
    if (file.default, file.sticky) != file.chosen:
        file.touch(request.now)


def _elect(request: Request, file: File) -> None:
    """The pinned version, else the newest (AL-04, ME-09, ME-11, ME-12)."""
    if file.sticky and request.kind.maxversions == 1:
        raise RefusedError("setdefaultversionsticky_false")
    if file.sticky and file.default is not None and file.default not in file.versions:
        raise RefusedError("unknown_id")
    if not file.sticky or file.default is None:
        file.default = file.lineage.newest()


def drop(request: Request, file: File, id_: str) -> None:
    """Take one version away; a pinned default that goes is pinned no more (AL-04)."""
    file.lineage.remove(id_, request.now)
    file.touch(request.now)
    if file.default == id_:
        file.default, file.sticky = None, False


def refers(request: Request, file: File, meta: Body | None) -> bool:
    """Whether the file will borrow from another one: a PUT without xref ends that (XR-07)."""
    if meta is None or (request.patch and "xref" not in meta):
        return file.xref is not None
    return meta.get("xref") is not None


def refer(request: Request, file: File, meta: Body, beside: set[str]) -> None:
    """Borrow from another file: nothing but ids and an epoch may come along (XR-05)."""
    epoch = meta.get("epoch")
    if not file.fresh and file.xref is None and epoch not in (None, file.epoch):
        raise RefusedError("mismatched_epoch")
    more = {name for name, value in meta.items() if value is not None}
    if beside or more - {"fileid", "xref", "epoch"} or request.flag is not None:
        raise RefusedError("extra_xref_attribute")
    file.xref = meta.get("xref", file.xref)
    file.versions.clear()
    file.labels, file.default, file.sticky, file.counter = None, None, False, 0


def leave(request: Request, file: File, target: File | None) -> None:
    """Begin anew with own versions, with an epoch beyond what was shown (XR-07)."""
    if file.xref is None:
        return
    # A target that shows nothing itself, as it borrows too, counts like a missing one (XR-03).
    shown = [file.epoch]
    if target is not None:
        shown += [target.epoch, target.versions[target.default or ""].epoch]
    file.xref, file.epoch = None, max(shown) + 1
    file.modifiedat, file.touched, file.fresh = request.now, True, True
    shown_ids = target.versions if target is not None else {}
    file.counter = next(n for n in range(1000) if str(n + 1) not in shown_ids)


def delete_versions(request: Request, file: File, gone: list[str]) -> bool:
    """Delete some versions; True: the file goes with its last one (DE-05, AL-24)."""
    if len(gone) == len(file.versions):
        return True
    if request.flag in gone:
        raise RefusedError("bad_request")
    for id_ in gone:
        drop(request, file, id_)
    settle(request, file)
    return False


def asked(file: File, entries: dict[str, Body] | None) -> list[str]:
    """The versions that a DELETE of a collection means (DE-02, DE-03)."""
    if file.xref is not None:
        raise RefusedError("bad_request")  # XR-06
    if entries is None:
        return list(file.versions)
    found = []
    for id_, entry in entries.items():
        if id_ in file.versions:
            check_id(entry, "versionid", id_)
            if entry.get("epoch") not in (None, file.versions[id_].epoch):
                raise RefusedError("mismatched_epoch")
            found.append(id_)
    return found
