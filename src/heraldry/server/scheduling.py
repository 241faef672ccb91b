"""Where the work of requests is done, and what it gets: threads, memory, documents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from threading import Event
from typing import Final

from heraldry.errors import IncompleteError, RegistryError
from heraldry.server.answer import Answer
from heraldry.server.content import Receive, read_content
from heraldry.server.flags import Query
from heraldry.server.handling import Handler
from heraldry.server.incoming import Incoming
from heraldry.server.memory_budget import FREE_BYTES, MemoryBudget, MemoryShare
from heraldry.server.metrics import budget_lines, measure
from heraldry.server.openapi_service import HEALTH
from heraldry.server.request_state import SMALL, RequestState
from heraldry.server.service_paths import is_service
from heraldry.server.settings import ServerSettings
from heraldry.server.work_queue import WorkQueue

_HEAVY: Final = ("inline", "filter", "collections", "doc")
_FETCHERS: Final = 4
_WATCH_AFTER: Final = 0.02
"""Seconds after which work is long enough to see whether its client is still there."""
_TRIES: Final = 4
"""A reply may need room, then documents from elsewhere, and after a write in between both again."""


class RequestScheduler:
    """Decides where a request is carried out.

    Small reads run right here, if the store never waits for a network: a thread would cost more
    than the read. Other reads have a few threads, and writes have one: the store lets only one
    of them in at a time. Documents that are kept elsewhere are fetched by threads of their own.
    """

    def __init__(self, handler: Handler, settings: ServerSettings) -> None:
        self._handler, self._limits = handler, settings.limits
        self._reads_block = handler.offer.reads_block
        limits = settings.limits
        self._bodies = MemoryBudget(limits.bodies, limits.body, limits.patience)
        self._replies = MemoryBudget(limits.replies, limits.inline, limits.patience)
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
            help_text = f"How many {name} wait for a thread."
            yield from measure(f"heraldry_{name}_waiting", help_text, queue.waiting)
            help_text = f"How many {name} were refused as too many waited."
            yield from measure(f"heraldry_{name}_refused_total", help_text, queue.refused)

    def is_memory_short(self) -> bool:
        """Whether requests wait for memory."""
        return bool(self._bodies.waiting or self._replies.waiting)

    def share(self) -> MemoryShare:
        """What a reply takes of the memory for replies."""
        return self._replies.share()

    async def answer(
        self, incoming: Incoming, receive: Receive, share: MemoryShare
    ) -> Answer | None:
        """The answer to a request; ``None``: its client went away."""
        reads = incoming.method in ("GET", "HEAD")
        state = incoming.state
        try:
            answer = await (self._read if reads else self._write)(incoming, receive, share)
            if answer is None:
                return None
            if answer.memory > max(share.size, FREE_BYTES):
                await self._make_room(answer, state, share)
        except RegistryError as error:
            return self._handler.failed(error, incoming)
        except asyncio.CancelledError:
            if state.client_left:
                return None
            raise
        share.set(answer.memory)
        return answer

    async def _make_room(self, answer: Answer, state: RequestState, share: MemoryShare) -> None:
        """Wait for the memory that an answer takes; one that does not get it is closed."""
        try:
            await state.run_while_connected(share.grow(answer.memory - share.size))
        except BaseException:
            await self.readers.step(answer.close)
            raise

    async def _read(
        self, incoming: Incoming, receive: Receive, share: MemoryShare
    ) -> Answer | None:
        if incoming.path == HEALTH and is_service(HEALTH, self._handler.offer):
            return self._handler.read(incoming)  # which asks no store
        if not self._reads_block:
            answer = self._try_inline(incoming)
            if answer is not None:
                return answer
        work = partial(self._run_on, self.readers, receive, self._handler.read, incoming)
        return await self._run_until_complete(work, incoming.state, share)

    def _try_inline(self, incoming: Incoming) -> Answer | None:
        """The answer where it takes next to no time: a small read, or a reply that was kept."""
        try:
            if not is_small(incoming):
                return self._handler.kept(incoming)
            incoming.state.reply_limit = 0  # large documents are opened on a thread
            return self._handler.read(incoming)
        except IncompleteError:
            return None
        except Exception as error:  # noqa: BLE001 - whatever fails is told as a problem
            return self._handler.failed(error, incoming)
        finally:
            incoming.state.reply_limit = SMALL

    async def _write(
        self, incoming: Incoming, receive: Receive, share: MemoryShare
    ) -> Answer | None:
        """Everything that may have a body."""
        body = self._bodies.share()
        try:
            content = await read_content(incoming, receive, self._limits, body)
            if content is None:
                return None
            incoming.state.count_body_bytes = _counting(body)
            queue = self.readers if incoming.reads else self._writer
            work = partial(self._run_on, queue, receive, self._handler.answer, incoming, content)
            return await self._run_until_complete(work, incoming.state, share)
        finally:
            body.end()

    async def _run_until_complete(
        self, work: Callable[[], Awaitable[Answer | None]], state: RequestState, share: MemoryShare
    ) -> Answer | None:
        """Carry out a request until it has got everything it needs."""
        for _ in range(_TRIES):
            try:
                return await work()
            except IncompleteError as missing:
                if missing.elsewhere:
                    await self._fetch(missing, state, share)
                else:
                    await state.run_while_connected(share.grow(self._limits.inline - share.size))
                    state.reply_limit = self._limits.inline
        raise RegistryError("server_busy")

    async def _fetch(
        self, missing: IncompleteError, state: RequestState, share: MemoryShare
    ) -> None:
        fetched = state.fetched_documents
        most = self._limits.inline
        stopped = Event()
        values = (missing.elsewhere, fetched, most, stopped.is_set)
        fetching = self._fetchers.run(self._handler.offer.fetch, *values)
        try:
            waiting = asyncio.wait_for(fetching, self._limits.proxied_seconds)
            await state.run_while_connected(waiting)
        except TimeoutError:
            detail = "The documents that are kept elsewhere did not come in time."
            raise RegistryError("server_busy", detail=detail) from None
        finally:
            stopped.set()
        size = sum(len(document) for document in fetched.values() if isinstance(document, bytes))
        if size > share.size:
            await state.run_while_connected(share.grow(size - share.size))

    async def _run_on(
        self,
        queue: WorkQueue,
        receive: Receive,
        work: Callable[..., Answer],
        incoming: Incoming,
        *values: object,
    ) -> Answer | None:
        """Work on a thread, as long as there is somebody to answer to."""
        state = incoming.state
        if state.disconnect_watch is None:
            loop = asyncio.get_running_loop()
            state.disconnect_watch = loop.call_later(_WATCH_AFTER, watch, receive, state)
        return await state.run_while_connected(queue.run(work, incoming, *values))


def watch(receive: Receive, state: RequestState) -> None:
    """Wait for the client to leave, beside what is done for it."""

    async def wait() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        state.mark_client_left()

    if isinstance(state.disconnect_watch, asyncio.Task):
        return
    if state.disconnect_watch is not None:
        state.disconnect_watch.cancel()
    state.disconnect_watch = asyncio.get_running_loop().create_task(wait())


def _counting(share: MemoryShare) -> Callable[[int], object]:
    """Counts on the event loop what is counted on a thread, unless it is too little to count."""
    loop = asyncio.get_running_loop()

    def count(size: int) -> None:
        if share.size + size > FREE_BYTES:
            loop.call_soon_threadsafe(share.add, size)

    return count


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
