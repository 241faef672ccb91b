"""A registry of files in memory, as the specification has it: requests in, the whole view out."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.registry.expected_files import (
    Body,
    File,
    Kind,
    Request,
    asked,
    check_id,
    delete_versions,
    leave,
    new_file,
    refer,
    refers,
    settle,
    write_file,
    write_meta,
    write_version,
)
from tests.registry.expected_versions import RefusedError, Version, changed_time

BASE = "http://reg.example"


@dataclass(slots=True, kw_only=True)
class Group:
    """A group of files."""

    id: str
    createdat: str
    modifiedat: str
    epoch: int = 1
    name: str | None = None
    files: dict[str, File] = field(default_factory=dict)
    fresh: bool = True
    touched: bool = True

    def touch(self, now: str) -> None:
        if not self.touched:
            self.epoch, self.modifiedat, self.touched = self.epoch + 1, now, True


@dataclass(slots=True, kw_only=True)
class Expected:
    """The groups, and the epoch of the registry itself."""

    kind: Kind
    epoch: int = 1
    groups: dict[str, Group] = field(default_factory=dict)
    touched: bool = False

    def after(self, action: str, path: str, body: Any, flags: dict[str, Any], now: str) -> Expected:
        """The registry after a request; RefusedError where it is refused (GN-01)."""
        copy = deepcopy(self)
        copy._begin()
        flag = flags.get("setdefaultversionid")
        request = Request(kind=self.kind, now=now, patch=action == "patch", flag=flag)
        parts = path.strip("/").split("/")[1:]
        _check_flag(flag, action, parts)
        if action == "delete":
            copy._delete(request, parts, body, flags.get("epoch"))
        else:
            copy._write(request, action, parts, body)
        return copy

    def _begin(self) -> None:
        self.touched = False
        for group in self.groups.values():
            group.fresh = group.touched = False
            for file in group.files.values():
                file.begin()

    def _write(self, request: Request, action: str, parts: list[str], body: Any) -> None:
        match parts:
            case [gid]:
                self._group(request, gid, body)
            case [gid, _]:
                self._files(request, self._need(request, gid), body)
            case [gid, _, fid]:
                self._file(request, action, self._need(request, gid), fid, body)
            case [gid, _, fid, "meta"]:
                self._meta(request, self._need(request, gid), fid, body)
            case [gid, _, fid, "versions"]:
                file = self._open(request, self._need(request, gid), fid)
                if file.fresh and not body:
                    raise RefusedError("missing_versions")
                self._versions(request, file, body)
            case [gid, _, fid, _, vid]:
                file = self._open(request, self._need(request, gid), fid)
                self._versions(request, file, {vid: body})
                _check_shown(file, vid)

    def _need(self, request: Request, gid: str) -> Group:
        """A group, made where it is missing (GN-03); that is a change of the registry (CA-10)."""
        if gid not in self.groups:
            if any(gid.lower() == other.lower() for other in self.groups):
                raise RefusedError("bad_request")
            self.groups[gid] = Group(id=gid, createdat=request.now, modifiedat=request.now)
            self._touch()
        return self.groups[gid]

    def _touch(self) -> None:
        if not self.touched:
            self.epoch, self.touched = self.epoch + 1, True

    def _open(self, request: Request, group: Group, fid: str) -> File:
        if fid not in group.files:
            if any(fid.lower() == other.lower() for other in group.files):
                raise RefusedError("bad_request")
            group.files[fid] = new_file(request, fid)
            group.touch(request.now)
        return group.files[fid]

    def _group(self, request: Request, gid: str, body: Body) -> None:
        old = self.groups.get(gid)
        group = self._need(request, gid)
        check_id(body, "dirid", gid)
        if old is not None and body.get("epoch") not in (None, old.epoch):
            raise RefusedError("mismatched_epoch")
        stored = group.modifiedat if old is not None else ""
        group.touch(request.now)
        group.modifiedat = changed_time(body, stored, request.now)
        if "createdat" in body:
            group.createdat = body["createdat"] or request.now
        if not request.patch or "name" in body:
            group.name = body.get("name")
        self._files(request, group, body.get("files") or {})

    def _files(self, request: Request, group: Group, entries: dict[str, Body]) -> None:
        for fid, entry in entries.items():
            file = self._open(request, group, fid)
            write_file(request, file, entry, self.target(file))

    def _file(self, request: Request, action: str, group: Group, fid: str, body: Body) -> None:
        file = self._open(request, group, fid)
        if action != "post":
            write_file(request, file, body, self.target(file))
            return
        version = write_version(request, file, body.get("versionid") or "", body)
        if request.flag == "request":
            request.flag = version.id  # FL-62
        settle(request, file)
        _check_shown(file, version.id)

    def _meta(self, request: Request, group: Group, fid: str, body: Body) -> None:
        """A missing file gets one default version (ME-02)."""
        file = self._open(request, group, fid)
        if refers(request, file, body):
            refer(request, file, body, set())
            return
        leave(request, file, self.target(file))
        if not file.versions:
            write_version(Request(kind=request.kind, now=request.now), file, "", {})
        write_meta(request, file, body)
        settle(request, file)

    def _versions(self, request: Request, file: File, entries: dict[str, Body]) -> None:
        for vid, entry in entries.items():
            write_version(request, file, vid, entry)
        if file.xref is None:
            settle(request, file)
        elif request.flag is not None:
            raise RefusedError("extra_xref_attribute")  # there is no default of its own to choose

    def _delete(self, request: Request, parts: list[str], body: Any, epoch: str | None) -> None:
        group = self.groups.get(parts[0])
        if group is None:
            raise RefusedError("not_found")
        wanted = None if epoch is None else int(epoch)
        if len(parts) == 1:
            if wanted not in (None, group.epoch):
                raise RefusedError("mismatched_epoch")
            del self.groups[parts[0]]
            self._touch()
        elif len(parts) == 2:
            self._delete_files(request, group, body)
        elif parts[2] not in group.files:
            raise RefusedError("not_found")
        else:
            self._delete_below(request, group, parts[2:], body, wanted)

    def _delete_files(self, request: Request, group: Group, body: Any) -> None:
        entries = {fid: {} for fid in group.files} if body is None else body
        for fid, entry in entries.items():
            file = group.files.get(fid)
            if file is None:
                continue
            meta = entry.get("meta")
            if meta is not None:
                self._check_epoch(file, meta.get("epoch"))
            elif "epoch" in entry:
                raise RefusedError("misplaced_epoch")
            check_id(entry, "fileid", fid)
            del group.files[fid]
            group.touch(request.now)

    def _delete_below(
        self, request: Request, group: Group, parts: list[str], body: Any, epoch: int | None
    ) -> None:
        file = group.files[parts[0]]
        if len(parts) == 1:
            self._check_epoch(file, epoch)
            gone = True
        elif len(parts) == 2:
            gone = delete_versions(request, file, asked(file, body))
        else:
            if parts[2] not in self.shown(file).versions:
                raise RefusedError("not_found")
            entry = {} if epoch is None else {"epoch": epoch}
            gone = delete_versions(request, file, asked(file, {parts[2]: entry}))
        if gone:
            del group.files[parts[0]]
            group.touch(request.now)

    def _check_epoch(self, file: File, epoch: int | None) -> None:
        """The epoch of a file is the one it shows; one that borrows from nothing shows none."""
        shown = self.shown(file)
        if shown.xref is None and epoch not in (None, shown.epoch):
            raise RefusedError("mismatched_epoch")

    def target(self, file: File) -> File | None:
        """The file that another one borrows from, if it is there and has its own (XR-03)."""
        if file.xref is None:
            return None
        _, gid, _, fid = file.xref.strip("/").split("/")
        found = self.groups[gid].files.get(fid) if gid in self.groups else None
        return found if found is not None and found.xref is None else None

    def shown(self, file: File) -> File:
        """The file whose meta entity and versions are shown (XR-02)."""
        return self.target(file) or file

    def view(self) -> Body:
        """What GET of the registry shows of its groups, everything inlined."""
        return {gid: self._view_group(group) for gid, group in self.groups.items()}

    def _view_group(self, group: Group) -> Body:
        at = f"/dirs/{group.id}"
        shown = _links(at) | {"dirid": group.id, "epoch": group.epoch}
        shown |= {"createdat": group.createdat, "modifiedat": group.modifiedat}
        shown |= {} if group.name is None else {"name": group.name}
        files = {
            fid: self._view_file(f"{at}/files/{fid}", file) for fid, file in group.files.items()
        }
        return shown | {"filesurl": f"{BASE}{at}/files", "filescount": len(files), "files": files}

    def _view_file(self, at: str, file: File) -> Body:
        common = {"fileid": file.id}
        meta = common | _links(f"{at}/meta") | ({"xref": file.xref} if file.xref else {})
        shown = common | _links(at) | {"metaurl": f"{BASE}{at}/meta", "meta": meta}
        source = self.shown(file)
        if source.xref is not None:
            return shown  # XR-04
        default = source.default or ""
        meta |= {
            "epoch": source.epoch,
            "createdat": source.createdat,
            "modifiedat": source.modifiedat,
            "readonly": False,
            "defaultversionid": default,
            "defaultversionurl": f"{BASE}{at}/versions/{default}",
            "defaultversionsticky": source.sticky,
        } | ({} if source.labels is None else {"labels": source.labels})
        versions = {
            vid: common | _links(f"{at}/versions/{vid}") | _view_version(one, vid == default)
            for vid, one in source.versions.items()
        }
        shown |= _view_version(source.versions[default], True)
        count = {"versionsurl": f"{BASE}{at}/versions", "versionscount": len(versions)}
        return shown | count | {"versions": versions}


def _check_shown(file: File, vid: str) -> None:
    """A version that is too old to stay cannot be shown, and so it cannot be written (GN-01)."""
    if vid not in file.versions:
        raise RefusedError("not_found")


def _check_flag(flag: str | None, action: str, parts: list[str]) -> None:
    """``setdefaultversionid`` is for writes to one file, its meta and versions (FL-60, FL-62)."""
    deletes_file = action == "delete" and len(parts) == 3
    creates = action != "delete" and (len(parts) == 3 or parts[3:] == ["versions"])
    if flag is not None and (len(parts) < 3 or deletes_file or (flag == "request" and not creates)):
        raise RefusedError("bad_flag")


def _links(xid: str) -> Body:
    return {"self": f"{BASE}{xid}", "xid": xid}


def _view_version(version: Version, default: bool) -> Body:
    shown = {
        "versionid": version.id,
        "epoch": version.epoch,
        "isdefault": default,
        "createdat": version.createdat,
        "modifiedat": version.modifiedat,
        "ancestorid": version.ancestor,
    }
    return shown if version.name is None else shown | {"name": version.name}
