"""Where the work of requests is done, and what it gets: threads, memory, documents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final

from heraldry.errors import IncompleteError, RegistryError
from heraldry.server.answer import Answer
from heraldry.server.budget import Budget, Share
from heraldry.server.content import Receive, read_content
from heraldry.server.exchange import SMALL, Exchange
from heraldry.server.flags import Query
from heraldry.server.handling import Handler
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import budget_lines, measure
from heraldry.server.openapi_service import HEALTH
from heraldry.server.service_paths import is_service
from heraldry.server.settings import ServerSettings
from heraldry.server.work_queue import WorkQueue

_HEAVY: Final = ("inline", "filter", "collections", "doc")
_FETCHERS: Final = 4
_TRIES: Final = 4
"""A reply may need room, then documents from elsewhere, and after a write in between both again."""


class Work:
    """Decides where a request is carried out.

    Small reads run right here, if the store never waits for a network: a thread would cost more
    than the read. Other reads have a few threads, and writes have one: the store lets only one
    of them in at a time. Documents that are kept elsewhere are fetched by threads of their own.
    """

    def __init__(self, handler: Handler, settings: ServerSettings) -> None:
        self._handler, self._limits = handler, settings.limits
        self._blocks = handler.offer.reads_block
        limits = settings.limits
        self._bodies = Budget(limits.bodies, limits.body, limits.patience)
        self._replies = Budget(limits.replies, limits.inline, limits.patience)
        self.readers = WorkQueue("read", settings.readers, limits.waiting)
        self._writer = WorkQueue("write", 1, limits.waiting)
        self._fetchers = WorkQueue("fetch", _FETCHERS, limits.waiting)

    def close(self) -> None:
        """Finish what is under way."""
        for queue in (self.readers, self._writer, self._fetchers):
            queue.close()

    def measures(self) -> Iterator[str]:
        """What is under way, and what was refused."""
        yield from budget_lines("heraldry_bodies", "bodies", self._bodies)
        yield from budget_lines("heraldry_replies", "replies", self._replies)
        for name, queue in (
            ("reads", self.readers),
            ("writes", self._writer),
            ("fetches", self._fetchers),
        ):
            told = f"How many {name} wait for a thread."
            yield from measure(f"heraldry_{name}_waiting", told, queue.waiting)
            told = f"How many {name} were refused as too many waited."
            yield from measure(f"heraldry_{name}_refused_total", told, queue.refused)

    def share(self) -> Share:
        """What a reply takes of the memory for replies."""
        return self._replies.share()

    async def answer(self, incoming: Incoming, receive: Receive, share: Share) -> Answer | None:
        """The answer to a request; ``None``: its client went away."""
        reads = incoming.method in ("GET", "HEAD")
        exchange = incoming.exchange
        try:
            answer = await (self._read if reads else self._write)(incoming, receive, share)
            if answer is None:
                return None
            if share.size < answer.memory:
                await exchange.while_there(share.grow(answer.memory - share.size))
        except RegistryError as error:
            return self._handler.failed(error, incoming)
        except asyncio.CancelledError:
            if exchange.gone:
                return None
            raise
        share.set(answer.memory)
        return answer

    async def _read(self, incoming: Incoming, receive: Receive, share: Share) -> Answer | None:
        if incoming.path == HEALTH and is_service(HEALTH, self._handler.offer):
            return self._handler.read(incoming)  # which asks no store
        if not self._blocks:
            found = self._at_once(incoming)
            if found is not None:
                return found
        work = partial(self._in, self.readers, receive, self._handler.read, incoming)
        return await self._completed(work, incoming.exchange, share)

    def _at_once(self, incoming: Incoming) -> Answer | None:
        """The answer where it takes next to no time: a small read, or a reply that was kept."""
        try:
            if not is_small(incoming):
                return self._handler.kept(incoming)
            incoming.exchange.room = 0  # large documents are opened on a thread
            return self._handler.read(incoming)
        except IncompleteError:
            return None
        except Exception as error:  # noqa: BLE001 - whatever fails is told as a problem
            return self._handler.failed(error, incoming)
        finally:
            incoming.exchange.room = SMALL

    async def _write(self, incoming: Incoming, receive: Receive, share: Share) -> Answer | None:
        """Everything that may have a body."""
        body = self._bodies.share()
        try:
            content = await read_content(incoming, receive, self._limits, body)
            if content is None:
                return None
            incoming.exchange.count = _counting(body)
            queue = self.readers if incoming.reads else self._writer
            work = partial(self._in, queue, receive, self._handler.answer, incoming, content)
            return await self._completed(work, incoming.exchange, share)
        finally:
            body.set(0)

    async def _completed(
        self, work: Callable[[], Awaitable[Answer | None]], exchange: Exchange, share: Share
    ) -> Answer | None:
        """Carry out a request until it has got everything it needs."""
        for _ in range(_TRIES):
            try:
                return await work()
            except IncompleteError as missing:
                if missing.elsewhere:
                    await self._fetch(missing, exchange, share)
                else:
                    await exchange.while_there(share.grow(self._limits.inline - share.size))
                    exchange.room = self._limits.inline
        raise RegistryError("server_busy")

    async def _fetch(self, missing: IncompleteError, exchange: Exchange, share: Share) -> None:
        fetched = exchange.elsewhere
        most = self._limits.inline
        values = (missing.elsewhere, fetched, most, exchange.cancelled)
        fetching = self._fetchers.run(self._handler.offer.fetch, *values)
        try:
            waiting = asyncio.wait_for(fetching, self._limits.proxied_seconds)
            await exchange.while_there(waiting)
        except TimeoutError:
            detail = "The documents that are kept elsewhere did not come in time."
            raise RegistryError("server_busy", detail=detail) from None
        size = sum(len(one) for one in fetched.values() if isinstance(one, bytes))
        if size > share.size:
            await exchange.while_there(share.grow(size - share.size))

    async def _in(
        self,
        queue: WorkQueue,
        receive: Receive,
        work: Callable[..., Answer],
        incoming: Incoming,
        *values: object,
    ) -> Answer | None:
        """Work on a thread, as long as there is somebody to answer to."""
        exchange = incoming.exchange
        if exchange.watching is None:
            exchange.watching = watch(receive, exchange)
        return await exchange.while_there(queue.run(work, incoming, *values))


def watch(receive: Receive, exchange: Exchange) -> asyncio.Task[None]:
    """Wait for the client to leave, beside what is done for it."""

    async def wait() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        exchange.leave()

    return asyncio.get_running_loop().create_task(wait())


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
