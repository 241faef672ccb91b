"""One AMQP 1.0 connection with one link: proton's engine, fed by asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from proton import (
    Collector,
    Delivery,
    Event,
    Link,
    ProtonException,
    Receiver,
    Sender,
    Transport,
)

from heraldry.errors import TransportError

CREDIT = 50
"""So many messages may be on their way to a consumer that has not taken them yet."""

_STATES = {
    Delivery.REJECTED: "the server rejected the message",
    Delivery.RELEASED: "the server released the message",
    Delivery.MODIFIED: "the server did not take the message",
}
_CLOSED = "the connection is closed"

Fail = Callable[[str], TransportError]


class Engine(asyncio.Protocol):
    """Opens the link of a connection, sends and receives on it, and says why it ended.

    ``keeps`` leaves the link's end at the server as it is when the connection is closed; ``fail``
    makes the error of a reason. All of it runs in the event loop's thread.
    """

    def __init__(self, link: Link, transport: Transport, fail: Fail, *, keeps: bool) -> None:
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.reason: str | None = None
        self._closed: asyncio.Future[None] = loop.create_future()
        self._link, self._fail, self._keeps = link, fail, keeps
        self._connection = link.connection
        self._transport = transport
        self._collector = Collector()
        self._connection.collect(self._collector)
        transport.bind(self._connection)
        self._socket: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False
        self._lost = False
        self._turn = asyncio.Lock()
        self._moved = asyncio.Event()
        self._tags = 0
        self._unsettled: dict[str, asyncio.Future[None]] = {}
        self._part = bytearray()
        self._received: deque[tuple[Delivery, bytes]] = deque()

    # --- what transports call

    async def send(self, content: bytes) -> None:
        """Send one message; returns when the server has accepted it."""
        sender = self._link
        assert isinstance(sender, Sender)
        most = sender.remote_max_message_size
        if most and len(content) > most:
            told = f"the message has {len(content)} bytes, the server takes at most {most}"
            raise self._fail(told)
        async with self._turn:  # who came first sends first
            while sender.credit <= 0 or self._paused:
                await self._wait()
            self._check()
            self._tags += 1
            tag = f"{self._tags:x}"
            delivery = sender.delivery(tag)
            sender.stream(content)
            sender.advance()
        if sender.snd_settle_mode == Link.SND_SETTLED:
            delivery.settle()
            self._step()
            while sender.queued > 0:
                await self._wait()
            return
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unsettled[tag] = settled
        self._step()
        await settled

    async def receive(self) -> tuple[Delivery, bytes]:
        """The next message; another one may then be sent in its place."""
        while not self._received:
            await self._wait()
        found = self._received.popleft()
        self._ask()
        return found

    def settle(self, delivery: Delivery, state: int) -> None:
        """Tell what became of a message, once; nothing where the connection is gone."""
        if self.reason is not None or delivery.local_state:
            return
        delivery.update(state)
        # In mode second the message is done with when the server says so too.
        if delivery.settled or self._link.remote_rcv_settle_mode != Link.RCV_SECOND:
            delivery.settle()
        self._step()

    async def close(self) -> None:
        """Wait for what is not confirmed, then close the link, the connection and the socket."""
        while self.reason is None and not all(one.done() for one in self._unsettled.values()):
            await self._wait()
        if self.reason is None:
            (self._link.detach if self._keeps else self._link.close)()
            self._connection.close()
            self._step()
            self._end(_CLOSED)
        if self._socket is not None:
            await asyncio.shield(self._closed)

    def abort(self) -> None:
        """Let go of the socket at once."""
        self._end(_CLOSED)
        if self._socket is not None:
            self._socket.abort()

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to talk."""
        assert isinstance(transport, asyncio.Transport)
        self._socket = transport
        self._connection.open()
        self._link.session.open()
        self._link.open()
        self._step()
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Let the engine read what came."""
        rest = memoryview(data)
        with suppress(ProtonException):  # the engine tells of it by an event too
            while rest and (room := self._transport.capacity()) > 0:
                self._transport.push(rest[:room])
                rest = rest[room:]
                self._step()
        self._step()

    def pause_writing(self) -> None:
        """The socket has enough to send."""
        self._paused = True

    def resume_writing(self) -> None:
        """The socket takes more."""
        self._paused = False
        self._moved.set()

    def connection_lost(self, error: Exception | None) -> None:
        """The other side is gone."""
        self._socket = None
        told = getattr(error, "strerror", None) or error or "the server hung up"
        self._end(f"the connection was lost: {told}")
        self._transport.unbind()
        if not self._closed.done():
            self._closed.set_result(None)

    # --- inside

    def _check(self) -> None:
        if self.reason is not None:
            raise self._fail(self.reason)

    async def _wait(self) -> None:
        """Wait until something has happened; the error where nothing will any more."""
        self._check()
        self._moved.clear()
        await self._moved.wait()

    def _ask(self) -> None:
        """Let the server send as many messages as there is room for, many at a time."""
        receiver = self._link
        if not isinstance(receiver, Receiver) or self.reason is not None:
            return
        missing = CREDIT - receiver.credit - len(self._received)
        if missing >= CREDIT // 2:
            receiver.flow(missing)
            self._step()

    def _step(self) -> None:
        """Handle what the engine has to say, then send what it has to send."""
        self._tick()
        while (event := self._collector.peek()) is not None:
            self._on(event)
            self._collector.pop()
        self._moved.set()
        if self._socket is None:
            return
        with suppress(ProtonException):  # the engine tells of it by an event too
            while (waiting := self._transport.pending()) > 0:
                self._socket.write(self._transport.peek(waiting))
                self._transport.pop(waiting)
        if self._lost or self._transport.closed:
            self._socket.close()

    def _tick(self) -> None:
        """Keep the connection alive, and see that the server does, as both have agreed."""
        if self.reason is not None:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = self._transport.tick(now)
        if due and (self._timer is None or due < self._timer.when()):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(max(due, now + 0.01), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._step()

    def _on(self, event: Event) -> None:
        match event.type:
            case Event.LINK_REMOTE_OPEN:
                # A server that refuses a link opens it without an end, and closes it at once.
                link = event.link
                far = link.remote_source if isinstance(link, Receiver) else link.remote_target
                if far.type and not self.opened.done():
                    self.opened.set_result(None)
            case Event.DELIVERY if isinstance(event.link, Receiver):
                self._on_message(event.link, event.delivery)
            case Event.DELIVERY:
                self._on_outcome(event.delivery)
            case Event.LINK_REMOTE_CLOSE | Event.LINK_REMOTE_DETACH:
                self._lose(_told("the server closed the link", event.link))
            case Event.SESSION_REMOTE_CLOSE:
                self._lose(_told("the server closed the session", event.session))
            case Event.CONNECTION_REMOTE_CLOSE:
                self._lose(_told("the server closed the connection", event.connection))
            case Event.TRANSPORT_ERROR:
                self._lose(_told("the connection failed", event.transport, "condition"))

    def _on_message(self, receiver: Receiver, delivery: Delivery) -> None:
        if delivery.aborted:
            self._part.clear()
            delivery.settle()
            self._ask()
        elif delivery.readable:
            # Taken as it comes: what is not read counts against the window of the session.
            self._part += receiver.recv(delivery.pending) or b""
            if not delivery.partial:
                receiver.advance()
                self._received.append((delivery, bytes(self._part)))
                self._part.clear()
        elif delivery.settled and delivery.local_state:
            delivery.settle()

    def _on_outcome(self, delivery: Delivery) -> None:
        state = delivery.remote_state
        if not delivery.settled and state != Delivery.ACCEPTED and state not in _STATES:
            return  # not the last word
        waiting = self._unsettled.pop(_text(delivery.tag), None)
        if waiting is not None and not waiting.done():
            if state == Delivery.ACCEPTED:
                waiting.set_result(None)
            else:
                told = _STATES.get(state, "the server did not say what became of the message")
                reason = _told(told, delivery.remote, "condition")
                waiting.set_exception(self._fail(reason))
        delivery.settle()

    def _lose(self, reason: str) -> None:
        """The server has ended it: there is nothing to wait for before the socket is closed."""
        self._lost = True
        self._end(reason)
        self._connection.close()

    def _end(self, reason: str) -> None:
        """Nothing more will come: whoever waits gets the reason."""
        if self.reason is not None:
            return
        self.reason = reason
        if self._timer is not None:
            self._timer.cancel()
        if not self.opened.done():
            self.opened.set_exception(self._fail(reason))
            self.opened.exception()  # whoever waits gets it; nobody need wait
        for waiting in self._unsettled.values():
            if not waiting.done():
                waiting.set_exception(self._fail(reason))
        self._unsettled.clear()
        self._moved.set()


def name_of(delivery: Delivery) -> str:
    """What the server calls a delivery: a text, or the digits of its bytes."""
    try:
        found = _text(delivery.tag)
    except UnicodeDecodeError as error:  # proton takes every tag for a text
        return error.object.hex()
    return found if found.isprintable() else found.encode().hex()


def _text(tag: str | bytes) -> str:
    return tag if isinstance(tag, str) else bytes(tag).decode()


def _told(told: str, where: Any, name: str = "remote_condition") -> str:
    """What the server has said of the reason, after what it has done."""
    try:
        condition = getattr(where, name)
    except UnicodeDecodeError as error:  # RabbitMQ repeats bytes of a message
        return f"{told}: {error.object.decode(errors='replace')}"
    if condition is None:
        return told
    return f"{told}: {condition.description or condition.name}"
