"""The registry: requests in, replies out, each in one transaction of its store (GN-01).

registry = Registry.open("sqlite:catalog.db", registry_id="catalog", model="messaging")
registry.run(Request(action="put", target=Target.parse("/dirs/d1"), body={"name": "one"}))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import BoundedSemaphore
from typing import Any

from heraldry.errors import RegistryError, StoreFullError
from heraldry.model.metamodel import Model
from heraldry.model.model_reading import read_model
from heraldry.registry.capabilities import read_capabilities
from heraldry.registry.delete import delete
from heraldry.registry.filtering import check_syntax
from heraldry.registry.flag_values import ignored, supported_flags, wanted_default
from heraldry.registry.limits import Limits
from heraldry.registry.new_registry import first_state
from heraldry.registry.precondition_check import check_precondition
from heraldry.registry.proxy import Fetch, Proxy
from heraldry.registry.read import show
from heraldry.registry.request import Reply, Request
from heraldry.registry.session import Session
from heraldry.registry.streamed import Streamed
from heraldry.registry.unit import Unit
from heraldry.registry.write import ACTIONS, write
from heraldry.registry.write_budget import WriteBudget, check_entities
from heraldry.store.opening import open_store
from heraldry.store.rows import State
from heraldry.store.store import Reader, Store

Include = Callable[[str], Any]


class Registry:
    """A registry on a store; it may be used from several threads at a time."""

    def __init__(
        self,
        store: Store,
        *,
        limits: Limits | None = None,
        include: Include | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        self.store = store
        self.limits = limits or Limits()
        self._include = include
        self._fetch = fetch
        self._streams = BoundedSemaphore(self.limits.streams)
        self._known: tuple[Mapping[str, Any] | None, Model] | None = None

    @classmethod
    def open(
        cls,
        url: str,
        *,
        registry_id: str = "xRegistry",
        model: str | Mapping[str, Any] = "none",
        limits: Limits | None = None,
        include: Include | None = None,
        fetch: Fetch | None = None,
    ) -> Registry:
        """Open a database; a new one gets the id and the model: a built-in one or a source."""
        first = first_state(registry_id, model, include)
        return cls(open_store(url, first), limits=limits, include=include, fetch=fetch)

    @property
    def fetch(self) -> Fetch | None:
        """Gives documents that are kept elsewhere; None where nobody allowed it."""
        return self._fetch

    @property
    def reads_block(self) -> bool:
        """Whether reading may wait for a network, besides that for documents kept elsewhere."""
        return self.store.reads_block

    def close(self) -> None:
        """Let go of the database."""
        self.store.close()

    def run(self, request: Request, limits: Limits | None = None) -> Reply:
        """Carry out one request; :class:`RegistryError` where it is refused.

        ``limits``: others than those of the registry, for a request of its owner.
        """
        if request.action not in ACTIONS[request.target.place]:
            arguments = {"action": request.action.upper()}
            raise RegistryError("action_not_supported", request.path, arguments)
        if request.action == "get":
            return self._get(request)
        try:
            return self._run(request, limits)
        except StoreFullError:
            # The store has made what room it can: enough for a delete, maybe also for others.
            return self._run(request, limits)

    def _run(self, request: Request, limits: Limits | None) -> Reply:
        with self.write(request, limits) as unit:
            check_syntax(unit.session, unit.request.flags.filter)
            unit.ignores = ignored(unit.request, unit.capabilities)
            unit.setdefault = wanted_default(unit.request)
            check_precondition(unit)
            reply = delete(unit) if request.action == "delete" else write(unit)
            unit.session.proxy.check()
            return replace(reply, volatile=True) if unit.session.proxy.used else reply

    @contextmanager
    def write(self, request: Request, limits: Limits | None = None) -> Iterator[Unit]:
        """A write at work: committed at the end, or nothing of it where an error leaves it.

        Its time does not include its wait for other writers.
        """
        limits = limits or self.limits
        with self.store.write(frees=request.action == "delete") as writer:
            session = self._session(writer, request)
            if limits is not session.limits:
                session = replace(session, limits=limits)
            check_entities(request, session.model, limits)
            budget = WriteBudget(limits, request.cancelled, request.path)
            writer.watch(budget.check)
            yield Unit(tx=writer, session=session, include=self._include, budget=budget)
            budget.check()

    def _get(self, request: Request) -> Reply:
        with ExitStack() as snapshot:
            # Asked before the snapshot: a tag may be older than its reply, but never newer.
            revision = self.store.revision()
            tx = snapshot.enter_context(self.store.read())
            session = replace(self._session(tx, request), revision=revision)
            reply = show(session, request.target)
            session.proxy.check()
            if session.proxy.used:
                reply = replace(reply, tag="", volatile=True)
            if reply.streamed and reply.pieces is not None:
                # It is read while it is sent, so the snapshot must last as long.
                self._reserve_stream(snapshot)
                reply = replace(reply, pieces=Streamed(reply.pieces, snapshot.pop_all()))
            return reply

    def _reserve_stream(self, snapshot: ExitStack) -> None:
        """Let a reply keep its snapshot, unless others wait for the connection that it holds."""
        if not self.store.reads_block:
            return
        if not self._streams.acquire(blocking=False):
            raise RegistryError("server_busy", detail="Too many large replies are being sent.")
        snapshot.callback(self._streams.release)

    def session(self, tx: Reader, request: Request) -> Session:
        """What reading needs, in a snapshot of this registry's store."""
        return self._session(tx, request)

    def _session(self, tx: Reader, request: Request) -> Session:
        state = tx.state()
        capabilities = read_capabilities(state.capabilities)
        flags = supported_flags(request.flags, capabilities)
        return Session(
            tx=tx,
            state=state,
            model=self.model_of(state),
            capabilities=capabilities,
            limits=self.limits,
            proxy=Proxy(self._fetch, self.limits.proxied, request.elsewhere),
            asked=request.flags,
            request=request if flags is request.flags else replace(request, flags=flags),
        )

    def model_of(self, state: State) -> Model:
        """The model of a state, compiled once per source."""
        known = self._known
        if known is not None and (known[0] is state.model or known[0] == state.model):
            return known[1]
        model = read_model(state.model or {})
        self._known = (state.model, model)
        return model
