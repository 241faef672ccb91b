"""What a client knows of a registry by its own writes: the requests it made, and what they leave.

A client has directories of its own, so its requests follow each other, and the outcome of at most
one is not known: then the registry must be as before it, or as after it.
"""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import httpx2

DIRS = 3
"""So many directories a client keeps."""
TREE = "?inline=files.meta,files.versions"


@dataclass(kw_only=True)
class File:
    """A resource: the epoch of its meta entity, and epoch and token of its versions by id."""

    epoch: int = 1
    versions: dict[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Dir:
    """A group."""

    name: str
    epoch: int = 1
    files: dict[str, File] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request, and the directory as it is after it; ``None``: there is none then."""

    method: str
    path: str
    body: Any
    dir: str
    after: Dir | None
    filed: bool
    """Whether it adds or removes a directory."""


class Mirror:
    """The directories of one client."""

    def __init__(self, name: str, chance: random.Random) -> None:
        self.name, self._chance = name, chance
        self.dirs: dict[str, Dir] = {}
        self.pending: Step | None = None
        self.done = self.filed = 0
        """So many requests were carried out; so many of them added or removed a directory."""
        self._last = 0

    def plan(self) -> Step:
        """The next request."""
        filed = self._chance.random() < 0.3
        if not self.dirs or (filed and len(self.dirs) < DIRS):
            step = self._import()
        elif filed:
            id_ = self._chance.choice(list(self.dirs))
            step = self._step("DELETE", f"/dirs/{id_}", None, id_, None, filed=True)
        else:
            id_ = self._chance.choice(list(self.dirs))
            way = self._chance.choice((self._grow, self._put, self._touch, self._drop, self._name))
            step = way(id_, deepcopy(self.dirs[id_]))
        self.pending = step
        return step

    def happened(self, step: Step) -> None:
        """A request was carried out."""
        self.pending = None
        self.done += 1
        self.filed += step.filed
        if step.after is None:
            del self.dirs[step.dir]
        else:
            self.dirs[step.dir] = step.after

    async def settle(self, client: httpx2.AsyncClient) -> bool | None:
        """Find out whether a request without an answer was carried out: wholly, or not at all."""
        step = self.pending
        if step is None:
            return None
        found = await shown(client, step.dir)
        before = self.dirs.get(step.dir)
        assert found in (before, step.after), f"half of {step.method} {step.path}"
        if found == before:
            self.pending = None
        else:
            self.happened(step)
        return found != before

    # The kinds of requests

    def _step(
        self,
        method: str,
        path: str,
        body: Any,
        dir_: str,
        after: Dir | None,
        *,
        filed: bool = False,
    ) -> Step:
        return Step(method=method, path=path, body=body, dir=dir_, after=after, filed=filed)

    def _new(self, prefix: str) -> str:
        self._last += 1
        return f"{prefix}{self._last:08}"

    def _token(self) -> str:
        """A text that no other version has."""
        return self._new(f"{self.name}-token")

    def _import(self) -> Step:
        """One request with a directory of many files."""
        id_, made = self._new(f"{self.name}-"), Dir(name=self._new("name"))
        files = self._files(made, self._chance.randint(10, 40))
        body = {"dirs": {id_: {"name": made.name, "files": files}}}
        return self._step("POST", "/", body, id_, made, filed=True)

    def _grow(self, id_: str, after: Dir) -> Step:
        """More files in a directory, which is a change of it."""
        after.epoch += 1
        body = {"files": self._files(after, self._chance.randint(1, 10))}
        return self._step("POST", f"/dirs/{id_}", body, id_, after)

    def _files(self, into: Dir, count: int) -> dict[str, Any]:
        bodies: dict[str, Any] = {}
        for _ in range(count):
            made = File()
            versions = {self._new("v"): self._token() for _ in range(3)}
            made.versions = {id_: (1, token) for id_, token in versions.items()}
            name = self._new("f")
            into.files[name] = made
            bodies[name] = {"versions": {id_: {"token": t} for id_, t in versions.items()}}
        return bodies

    def _put(self, id_: str, after: Dir) -> Step:
        """A single new file."""
        after.epoch += 1
        name, version, token = self._new("f"), self._new("v"), self._token()
        after.files[name] = File(versions={version: (1, token)})
        body = {"versionid": version, "token": token}
        return self._step("PUT", f"/dirs/{id_}/files/{name}", body, id_, after)

    def _touch(self, id_: str, after: Dir) -> Step:
        """An old version gets another token, or there is a new version."""
        if not after.files:
            return self._put(id_, after)
        name = self._chance.choice(list(after.files))
        file, token = after.files[name], self._token()
        if self._chance.random() < 0.5:
            version = self._new("v")
            file.epoch += 1
            file.versions[version] = (1, token)
        else:
            version = self._chance.choice(list(file.versions))
            file.versions[version] = (file.versions[version][0] + 1, token)
        path = f"/dirs/{id_}/files/{name}/versions/{version}"
        return self._step("PUT", path, {"token": token}, id_, after)

    def _drop(self, id_: str, after: Dir) -> Step:
        """A file goes."""
        if not after.files:
            return self._put(id_, after)
        name = self._chance.choice(list(after.files))
        del after.files[name]
        after.epoch += 1
        return self._step("DELETE", f"/dirs/{id_}/files/{name}", None, id_, after)

    def _name(self, id_: str, after: Dir) -> Step:
        """The directory gets another name."""
        after.name = self._new("name")
        after.epoch += 1
        return self._step("PATCH", f"/dirs/{id_}", {"name": after.name}, id_, after)


async def shown(client: httpx2.AsyncClient, id_: str) -> Dir | None:
    """A directory as the registry shows it; what it counts must agree with what it lists."""
    answer = await client.get(f"/dirs/{id_}{TREE}")
    if answer.status_code == 404:
        return None
    assert answer.status_code == 200, answer.text
    return dir_of(answer.json())


def dir_of(body: Any) -> Dir:
    """A directory of a reply."""
    assert body["filescount"] == len(body["files"])
    files = {id_: _file_of(one) for id_, one in body["files"].items()}
    return Dir(name=body["name"], epoch=body["epoch"], files=files)


def _file_of(body: Any) -> File:
    assert body["versionscount"] == len(body["versions"])
    newest = max(body["versions"])
    assert body["meta"]["defaultversionid"] == body["versionid"] == newest
    assert body["token"] == body["versions"][newest]["token"]
    versions = {id_: (one["epoch"], one["token"]) for id_, one in body["versions"].items()}
    return File(epoch=body["meta"]["epoch"], versions=versions)
