"""The ASGI application of a registry: one catch-all, as the model makes the paths."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from starlette.types import Receive, Scope, Send

from heraldry.errors import RegistryError
from heraldry.registry.registry import Registry
from heraldry.server.answer import Answer, take
from heraldry.server.budget import Budget, Share
from heraldry.server.connection_counts import ConnectionCounts
from heraldry.server.content import read_content
from heraldry.server.exchange import Exchange
from heraldry.server.flags import Query
from heraldry.server.gate import Gate
from heraldry.server.handling import Handler, conditional
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import budget_lines, connection_lines, measure
from heraldry.server.offer import Offer
from heraldry.server.openapi_service import HEALTH
from heraldry.server.origins import Origins
from heraldry.server.service_paths import is_service
from heraldry.server.settings import ServerSettings
from heraldry.server.work_queue import WorkQueue

_HEAVY = ("inline", "filter", "collections", "doc")


def create_app(registry: Registry, settings: ServerSettings | None = None) -> App:
    """The application; the registry stays open, its owner closes it."""
    return App(registry, settings or ServerSettings())


class App:
    """Decides where the work of a request runs.

    Small reads run right here, if the store never waits for a network: a thread would cost more
    than the read. Other reads have a few threads, and writes have one: the store lets only one
    of them in at a time.
    """

    def __init__(self, registry: Registry, settings: ServerSettings) -> None:
        offer = Offer(registry)
        self._handler = Handler(offer, settings)
        self._limits = settings.limits
        self._mount = offer.mount
        self._origins = Origins(settings.origins)
        self._gate = Gate.of(self._origins, settings.hosts, settings.base_url)
        self._blocks = offer.reads_block
        limits = settings.limits
        self._bodies = Budget(limits.bodies, limits.body, limits.patience)
        self._readers = WorkQueue("read", settings.readers, limits.waiting)
        self._writer = WorkQueue("write", 1, limits.waiting)
        self.connections = ConnectionCounts()
        self._handler.metrics.others.append(self._measures)

    def _measures(self) -> Iterator[str]:
        yield from connection_lines("heraldry", self.connections)
        yield from budget_lines("heraldry_bodies", "bodies", self._bodies)
        for name, told, queue in (
            ("reads", "read", self._readers),
            ("writes", "write", self._writer),
        ):
            told = f"Requests that wait for a thread to {told}."
            yield from measure(f"heraldry_{name}_waiting", told, queue.waiting)
            told = "Requests that were refused as too many waited."
            yield from measure(f"heraldry_{name}_refused_total", told, queue.refused)

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
        self._readers.close()
        self._writer.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        incoming = Incoming.of(scope).within(self._mount)
        refusal = self._gate.refusal(incoming)
        answer: Answer | None
        if refusal is not None:
            answer = self._handler.failed(refusal, incoming)
        elif incoming.method in ("GET", "HEAD"):
            answer = await self._read(incoming, receive)
        else:
            answer = await self._write(incoming, receive)
        if answer is None:
            return
        answer = self._origins.shared(conditional(answer, incoming), incoming)
        await self._send(answer, incoming.method, receive, send)
        seconds = perf_counter() - started
        self._handler.metrics.count(incoming.method, answer.status, answer.place, seconds)

    async def _read(self, incoming: Incoming, receive: Receive) -> Answer | None:
        if incoming.path == HEALTH and is_service(HEALTH, self._handler.offer):
            return self._handler.read(incoming)  # which asks no store
        if self._blocks:
            return await self._in(self._readers, receive, self._handler.read, incoming)
        if is_small(incoming):
            return self._handler.read(incoming)
        found = self._kept(incoming)
        if found is not None:
            return found
        return await self._in(self._readers, receive, self._handler.read, incoming)

    def _kept(self, incoming: Incoming) -> Answer | None:
        try:
            return self._handler.kept(incoming)
        except Exception as error:  # noqa: BLE001 - whatever fails is told as a problem
            return self._handler.failed(error, incoming)

    async def _write(self, incoming: Incoming, receive: Receive) -> Answer | None:
        """Everything that may have a body; ``None``: the client went away."""
        share = self._bodies.share()
        try:
            content = await read_content(incoming, receive, self._limits, share)
            if content is None:
                return None
            incoming.exchange.count = _counting(share)
            queue = self._readers if incoming.reads else self._writer
            return await self._in(queue, receive, self._handler.answer, incoming, content)
        except RegistryError as error:
            return self._handler.failed(error, incoming)
        finally:
            share.set(0)

    async def _in(
        self,
        queue: WorkQueue,
        receive: Receive,
        work: Callable[..., Answer],
        incoming: Incoming,
        *values: Any,
    ) -> Answer | None:
        """Work on a thread, as long as there is somebody to answer to."""
        exchange = incoming.exchange
        watching = asyncio.get_running_loop().create_task(_watch(receive, exchange))
        try:
            return await queue.run(exchange, work, incoming, *values)
        except RegistryError as error:
            return self._handler.failed(error, incoming)
        finally:
            watching.cancel()

    async def _send(self, answer: Answer, method: str, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        )
        if method == "HEAD":
            answer.close()
            await send({"type": "http.response.body", "body": b""})
        elif answer.rest is None:
            await send({"type": "http.response.body", "body": answer.body})
        else:
            await self._stream(answer, receive, send)

    async def _stream(self, answer: Answer, receive: Receive, send: Send) -> None:
        """Send pieces as they are made, as long as there is somebody to take them.

        An error ends the connection, so that it is noticed.
        """
        assert answer.rest is not None
        exchange = Exchange()
        piece, more = answer.body, True
        watching = asyncio.get_running_loop().create_task(_watch(receive, exchange))
        try:
            while more and not exchange.gone:
                if piece:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece, more = await self._readers.step(take, answer.rest)
        finally:
            watching.cancel()
            await self._readers.step(answer.close)
        await send({"type": "http.response.body", "body": piece})


async def _watch(receive: Receive, exchange: Exchange) -> None:
    """Wait for the client to leave."""
    while (await receive())["type"] != "http.disconnect":
        pass
    exchange.leave()


def _counting(share: Share) -> Callable[[int], object]:
    """Counts on the event loop what is counted on a thread."""
    loop = asyncio.get_running_loop()
    return lambda size: loop.call_soon_threadsafe(share.set, share.size + size)


def is_small(incoming: Incoming) -> bool:
    """Whether one entity is asked for, without anything inside it."""
    path = incoming.raw_path.strip(b"/")
    if path and path.count(b"/") % 2 == 0:
        return False
    if not incoming.query:
        return True
    try:
        query = Query(incoming.query, incoming.path)
    except RegistryError:
        return True  # it is refused as quickly
    return not any(query.has(flag) for flag in _HEAVY)
