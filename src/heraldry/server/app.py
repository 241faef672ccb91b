"""The ASGI application of a registry: one catch-all, as the model makes the paths."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from starlette.types import Receive, Scope, Send

from heraldry.registry.registry import Registry
from heraldry.server.answer import Answer
from heraldry.server.connection_counts import ConnectionCounts
from heraldry.server.gate import Gate
from heraldry.server.handling import Handler, conditional
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import connection_lines
from heraldry.server.offer import Offer
from heraldry.server.origins import Origins
from heraldry.server.scheduling import RequestScheduler, watch
from heraldry.server.sending import send_answer
from heraldry.server.settings import ServerSettings


def create_app(registry: Registry, settings: ServerSettings | None = None) -> App:
    """The application; the registry stays open, its owner closes it."""
    return App(registry, settings or ServerSettings())


class App:
    """Answers requests: what is done for them, and where, is decided in ``RequestScheduler``."""

    def __init__(self, registry: Registry, settings: ServerSettings) -> None:
        offer = Offer(registry)
        self._handler = Handler(offer, settings)
        self._mount = offer.mount
        self._origins = Origins(settings.origins)
        self._gate = Gate.of(self._origins, settings.hosts, settings.base_url)
        self._scheduler = RequestScheduler(self._handler, settings)
        self.connections = ConnectionCounts(self._scheduler.is_memory_short)
        self._handler.metrics.others.append(self._measures)

    def _measures(self) -> Iterator[str]:
        yield from connection_lines("heraldry", self.connections)
        yield from self._scheduler.measures()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of ASGI."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._scheduler.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        incoming = Incoming.of(scope).within(self._mount)
        state, share = incoming.state, self._scheduler.share()
        try:
            refusal = self._gate.refusal(incoming)
            answer: Answer | None
            if refusal is None:
                answer = await self._scheduler.answer(incoming, receive, share)
            else:
                answer = self._handler.failed(refusal, incoming)
            if answer is None:
                return
            answer = self._origins.shared(conditional(answer, incoming), incoming)
            if answer.rest is not None:
                watch(receive, state)
            head = incoming.method == "HEAD"
            await send_answer(answer, send, state, self._scheduler.readers, head=head)
        finally:
            share.set(0)
            if state.disconnect_watch is not None:
                state.disconnect_watch.cancel()
        seconds = perf_counter() - started
        self._handler.metrics.count(incoming.method, answer.status, answer.place, seconds)
