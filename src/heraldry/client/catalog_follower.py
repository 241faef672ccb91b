"""A catalog that is looked at again and again: loaded anew only where something changed.

follower = CatalogFollower(Catalogs(), ["http://localhost:8080"])
follower.look()     # Look(catalog=...): the first time
follower.look()     # Look(catalog=None): nothing changed; a registry was asked once, and said 304
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from heraldry.client.registry import Patience, RegistryClient
from heraldry.client.registry_answer import Answer
from heraldry.client.registry_catalog import ELSEWHERE, Catalogs, is_address, wanted
from heraldry.client.resolver import Resolver
from heraldry.dialects.limits import DEFAULT
from heraldry.dialects.load import is_others, load_bytes, load_files
from heraldry.dialects.merge import merge
from heraldry.errors import ClientError, DocumentError, HeraldryError, TransportError, UsageError
from heraldry.model.catalog import Catalog

PATIENCE = Patience(connect=2.0, answer=30.0, tries=1, size=DEFAULT.size)
"""Whoever looks again and again need not insist: the next look is the second try."""

_UNCHANGED = 304
_ROWS = ".parquet"
"""Tables may stand beside a catalog, and have new files all the time."""
Documents = list[tuple[str, Catalog]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a look found: ``catalog`` is None where it is the one of the look before.

    ``away`` says why nothing newer could be had; a catalog given with it is an old copy.
    """

    catalog: Catalog | None = None
    away: str = ""


@dataclass(slots=True)
class _Files:
    """Files and folders; a change shows in names, sizes and times.

    A file that is gone is a change. One that is there and held a part of the catalog before must
    hold one again: until then it may be half written.
    """

    path: Path
    seen: tuple[object, ...] | None = None
    documents: Documents = field(default_factory=list)

    def look(self) -> bool:
        """Whether there is something new; then ``documents`` hold it."""
        seen = tuple(_stamps(self.path))
        if seen == self.seen:
            return False
        documents = load_files(self.path)
        self._refuse_passed_over({name for name, _ in documents})
        self.documents = documents
        # Only now: what cannot be loaded is tried again by the next look.
        self.seen = seen
        return True

    def _refuse_passed_over(self, names: set[str]) -> None:
        for name, _ in self.documents:
            # An exported folder is one document, and may give way to files in it.
            below = any(Path(name) in Path(one).parents for one in names)
            if name not in names and not below and Path(name).exists():
                reason = (
                    "it held a part of the catalog and holds none now; remove it if that is meant"
                )
                raise DocumentError(name, "", reason)


@dataclass(slots=True)
class _Address:
    """A registry or document by its address, asked with the tag of the last answer."""

    address: str
    catalogs: Catalogs
    paths: tuple[str, ...]
    client: RegistryClient
    tag: str = ""
    digest: bytes = b""
    documents: Documents = field(default_factory=list)

    @classmethod
    def of(cls, address: str, catalogs: Catalogs) -> _Address:
        server, paths = wanted(address)
        client = RegistryClient(server, patience=catalogs.patience)
        return cls(address=address, catalogs=catalogs, paths=paths, client=client)

    def look(self) -> bool:
        """Whether there is something new; then ``documents`` hold it, and a copy is kept."""
        answer = self._asked()
        if answer.code == _UNCHANGED:
            return False
        digest = sha256(answer.content).digest()
        if digest != self.digest:
            self._load(answer.content)
            self.catalogs.copies.keep(answer.url, answer.headers, answer.content)
        changed, self.digest = digest != self.digest, digest
        self.tag = answer.headers.get("etag", "")
        return changed

    def copy(self) -> bool:
        """Take the copy of an earlier time; False where there is none."""
        kept = self.catalogs.kept(self.client, self.paths)
        if kept is None:
            return False
        self._load(kept.content)
        self.tag, self.digest = kept.tag, sha256(kept.content).digest()
        return True

    def hurry(self) -> None:
        """From now on an answer is not waited for as long as the first one was."""
        self.client.close()
        self.client.patience = PATIENCE

    def _load(self, content: bytes) -> None:
        self.documents = [(self.address, load_bytes(content, self.address))]

    def _asked(self) -> Answer:
        known = {"If-None-Match": self.tag} if self.tag else {}
        for path in self.paths[:-1]:
            try:
                return self.client.send("GET", path, headers=known)
            except ClientError as error:
                if error.code not in ELSEWHERE:
                    raise
        # A server without the first view is not asked for it again, unless this one goes too.
        answer = self.client.send("GET", self.paths[-1], headers=known)
        self.paths = self.paths[-1:]
        return answer


class CatalogFollower:
    """Follows the catalog of some places, with the base messages that may be fetched for it.

    Those base messages are fetched anew only with a catalog that changed.
    """

    def __init__(
        self, catalogs: Catalogs, places: Sequence[str | Path], allow: tuple[str, ...] = ()
    ) -> None:
        if not places:
            raise UsageError("no catalog given", "name at least one file, folder or address")
        self._resolver = Resolver(allow=allow)
        self._places: list[_Files | _Address] = [
            _Address.of(str(place), catalogs) if is_address(place) else _Files(Path(place))
            for place in places
        ]
        self._first = self._changed = True
        self._closed = False

    def look(self) -> Look:
        """What is new; the first look takes old copies where it must, or raises."""
        try:
            return self._begin() if self._first else self._look_again()
        finally:
            # Closed by another thread meanwhile: nobody else lets go of what this look has opened.
            if self._closed:
                self._let_go()

    def close(self) -> None:
        """Let go of the connections; a look that goes on in another thread does so at its end."""
        self._closed = True
        self._let_go()

    def _let_go(self) -> None:
        for place in self._places:
            if isinstance(place, _Address):
                place.client.close()

    def _look_again(self) -> Look:
        try:
            for place in self._places:
                self._changed |= place.look()
            catalog = self._merged() if self._changed else None
        except (HeraldryError, OSError) as error:
            return Look(away=str(error))
        self._changed = False
        return Look(catalog=catalog)

    def _begin(self) -> Look:
        away = ""
        for place in self._places:
            try:
                place.look()
            except (TransportError, ClientError) as error:
                # A refusal is not papered over by a copy.
                if isinstance(error, ClientError) and error.code < 500:
                    raise
                if not isinstance(place, _Address) or not place.copy():
                    raise
                away = str(error)
        catalog = self._merged()
        self._first = self._changed = False
        for place in self._places:
            if isinstance(place, _Address):
                place.hurry()
        return Look(catalog=catalog, away=away)

    def _merged(self) -> Catalog:
        documents = [one for place in self._places for one in place.documents]
        return self._resolver.resolve_all(merge(documents))


def _stamps(path: Path) -> Iterator[tuple[object, ...]]:
    """Every file below a path that is not hidden, with what changes when it is written."""
    if not path.is_dir():
        yield _stamp(path)
        return
    for parent, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not is_others(name))
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith(_ROWS):
                yield _stamp(Path(parent, name))


def _stamp(path: Path) -> tuple[object, ...]:
    try:
        found = path.stat()
    except OSError:
        return (str(path),)
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns
