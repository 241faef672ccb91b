"""Opening the registry that `serve` offers: a database with an id and a model of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from heraldry.cli.model_files import read_source, resolved
from heraldry.cli.output import plural
from heraldry.dialects.xreg_1_0.error_catalogue import problem
from heraldry.dialects.xreg_1_0.wire import RC4, WIRES, Wire
from heraldry.errors import RegistryError, UsageError
from heraldry.registry.limits import Limits
from heraldry.registry.models import NAMES
from heraldry.registry.new_registry import first_state
from heraldry.registry.registry import Registry
from heraldry.registry.request import Request, Target
from heraldry.store.opening import open_store
from heraldry.store.reserve import SIZE
from heraldry.store.rows import State
from heraldry.store.store import Store

UNBOUNDED = Limits(write_entities=0, write_seconds=0)
"""For the owner of a registry, who may import what it can hold."""
DEFAULT_ID = "heraldry"
DEFAULT_MODEL = "messaging"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a registry is asked for; ``id`` and ``model`` are None where nobody said them."""

    database: str
    id: str | None
    model: str | None
    wire: Wire
    allow_include: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A registry that is ready, and what there is to say about it."""

    registry: Registry
    store: Store
    id: str
    database: str
    """Without a password."""
    notes: tuple[str, ...]


def open_registry(opening: Opening) -> Opened:
    """The registry in a database; a new one where the database is new."""
    first = _first(opening)
    store = open_store(opening.database, first, reserve=SIZE)
    try:
        with store.read() as tx:
            state = tx.state()
        shown = _without_password(opening.database)
        _check_id(opening, state, shown)
        return Opened(
            registry=_registry(store, opening),
            store=store,
            id=state.id,
            database=shown,
            notes=tuple(_notes(opening, first, state, shown)),
        )
    except BaseException:
        store.close()
        raise


@contextmanager
def existing_registry(database: str) -> Iterator[Registry]:
    """The registry in a database that is there, for a command of its owner."""
    scheme, _, rest = database.partition(":")
    file = rest.partition("?")[0]
    if scheme == "sqlite" and not Path(file).is_file():
        raise UsageError(f"{file} does not exist", "name the database of a registry")
    with closing(open_store(database, None, reserve=SIZE)) as store:
        yield Registry(store, limits=UNBOUNDED)


def _registry(store: Store, opening: Opening) -> Registry:
    """A registry on a store; it fetches nothing unless something is allowed."""
    allow, limits = opening.allow_include, opening.limits
    if not allow:
        return Registry(store, limits=limits)
    from heraldry.client.registry_includes import Includes

    includes = Includes(allow=allow)
    return Registry(store, limits=limits, include=includes.load, fetch=includes.fetch)


def _check_id(opening: Opening, state: State, shown: str) -> None:
    if opening.id is not None and state.id != opening.id:
        reason = f"{shown} holds the registry {state.id!r}, not {opening.id!r}"
        raise UsageError(reason, "leave out --registry-id, or name another database")


def _first(opening: Opening) -> State:
    """What a new database starts with."""
    id_, name = opening.id or DEFAULT_ID, opening.model or DEFAULT_MODEL
    if name in NAMES:
        return first_state(id_, name, None)
    source = resolved(read_source(name), name, opening.allow_include)
    faults: list[RegistryError] = []
    # A file does not say which version it is written in: the one that is spoken comes first.
    for wire in sorted(WIRES, key=lambda one: one is not opening.wire):
        try:
            return first_state(id_, source, None, wire)
        except RegistryError as error:
            faults.append(error)
    raise UsageError(f"{name} is no model", _told(faults[0], opening.wire))


def _notes(opening: Opening, first: State, state: State, shown: str) -> Iterator[str]:
    if opening.model is not None and state.modelsource != first.modelsource:
        yield f"{shown} has a model already, which stays; `heraldry model update` changes it"


def import_all(registry: Registry, paths: tuple[str, ...]) -> Iterator[str]:
    """Import documents and folders, each as one request; says what was imported."""
    if not paths:
        return
    # Loaded only now: readers of documents would make up a good part of the start.
    from heraldry.cli.importing import documents

    for document in documents(paths):
        wire = next((one for one in WIRES if one.specversion == document.specversion), RC4)
        request = Request(action="post", target=Target(), body=document.groups, wire=wire)
        try:
            registry.run(request, UNBOUNDED)
        except RegistryError as error:
            raise UsageError(f"{document.file} cannot be imported", _told(error, wire)) from None
        found = [plural(len(one), name[:-1], name) for name, one in document.groups.items()]
        yield f"imported {', '.join(found) or 'nothing'} from {document.file}"


def _told(error: RegistryError, wire: Wire) -> str:
    """An error as a client of the server would be told it."""
    said = problem(error, wire)[1]
    return " ".join(said[name] for name in ("title", "detail") if name in said)


def _without_password(database: str) -> str:
    parts = urlsplit(database)
    if parts.password is None:
        return database
    return database.replace(f":{parts.password}@", ":***@", 1)
