"""A listening AMQP 1.0 peer on proton's own reactor: it stores messages, and forwards them.

What it does with a message depends on the name of the node; every other name is a queue.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from proton import Condition, Delivery, Handler, Link, SSLDomain, Terminus
from proton.reactor import ApplicationEvent, Container, EventInjector

from tests.live.servers.server import free_port

OUTCOMES = {
    "rejects": Delivery.REJECTED,
    "releases": Delivery.RELEASED,
    "modifies": Delivery.MODIFIED,
}
SMALLEST = 100
"""What the node "small" takes at most, in bytes."""

ABORTED = 60
"""So many messages the node "aborts" begins and gives up, before it sends one."""

_TAG = b"\xff\x00\xfe"
"""Before the number of a delivery: no text, as with some brokers."""


@dataclass(slots=True, kw_only=True)
class Opened:
    """What a client said when it opened its connection and link."""

    container: str
    properties: Any
    capabilities: Any
    link: str
    link_properties: Any
    sending: int
    receiving: int
    source: dict[str, Any]
    target: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Peer(Handler):  # type: ignore[misc]
    """The peer: what was opened, what it holds, and what clients said of what they got."""

    port: int
    domain: SSLDomain | None = None
    idle: float = 0.0
    opened: list[Opened] = field(default_factory=list)
    held: dict[str, deque[bytes]] = field(default_factory=lambda: defaultdict(deque))
    took: list[tuple[str, bytes]] = field(default_factory=list)
    outcomes: list[tuple[int, bool]] = field(default_factory=list)
    users: list[str | None] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    credit: list[int] = field(default_factory=list)
    running: threading.Event = field(default_factory=threading.Event)
    injector: EventInjector = field(default_factory=EventInjector)
    links: list[Any] = field(default_factory=list)
    _connections: list[Any] = field(default_factory=list)
    _acceptor: Any = None
    _container: Any = None
    _begun: int = 0
    _tags: int = 0

    @property
    def address(self) -> str:
        return f"{'amqps' if self.domain else 'amqp'}://127.0.0.1:{self.port}"

    def on_reactor_init(self, event) -> None:
        self._container = event.container
        self._acceptor = self._container.listen(f"127.0.0.1:{self.port}", self.domain)
        self._container.selectable(self.injector)
        self.running.set()

    def on_connection_bound(self, event) -> None:
        event.transport.idle_timeout = self.idle
        # Before anything is read: without it a client without SASL would be let in too.
        event.transport.sasl()

    def on_connection_remote_open(self, event) -> None:
        self._connections.append(event.connection)
        self.users.append(event.transport.user)
        event.connection.open()

    def on_session_remote_open(self, event) -> None:
        event.session.open()

    def on_link_remote_open(self, event) -> None:
        link = event.link
        self.links.append(link)
        self.opened.append(_opened(link))
        node = _node(link)
        if node == "refuses":
            link.source.type = link.target.type = Terminus.UNSPECIFIED
            link.open()
            link.condition = Condition("amqp:not-found", "there is no such node")
            link.close()
            return
        link.source.copy(link.remote_source)
        link.target.copy(link.remote_target)
        for end in (link.source, link.target):
            if end.dynamic:
                end.address = "made-here"
        link.rcv_settle_mode = link.remote_rcv_settle_mode
        link.snd_settle_mode = link.remote_snd_settle_mode
        if node == "small":
            link.max_message_size = SMALLEST
        link.open()
        if link.is_receiver:
            link.flow(1 if node in ("one-by-one", "stingy") else 100)
        if node == "detaches at once":
            link.close()

    def on_link_flow(self, event) -> None:
        if event.link.is_sender:
            self.credit.append(event.link.credit)
            self._forward(event.link)

    def on_delivery(self, event) -> None:
        link, delivery = event.link, event.delivery
        if link.is_sender:
            if delivery.updated:
                self.outcomes.append((int(delivery.remote_state), delivery.settled))
                delivery.settle()
        elif delivery.readable and not delivery.partial:
            content = link.recv(delivery.pending)
            link.advance()
            self._take(_node(link), link, delivery, bytes(content))
            if _node(link) != "stingy":
                link.flow(1)

    def on_link_remote_close(self, event) -> None:
        self.gone.append("closed")
        event.link.close()

    def on_link_remote_detach(self, event) -> None:
        self.gone.append("detached")
        event.link.detach()

    def on_connection_remote_close(self, event) -> None:
        event.connection.close()

    def on_transport_error(self, event) -> None:
        self.gone.append(str(event.transport.condition.description))

    def on_told(self, event) -> None:
        """What another thread has asked for."""
        event.subject(event)

    def _take(self, node: str, link: Link, delivery: Delivery, content: bytes) -> None:
        self.took.append((node, content))
        match node:
            case "rejects" | "releases" | "modifies":
                delivery.local.condition = Condition("amqp:not-allowed", "not here")
                delivery.update(OUTCOMES[node])
            case "says nothing":
                pass
            case "takes its time":
                delivery.update(Delivery.RECEIVED)
                self._container.schedule(0.3, _Later(lambda: _accept(delivery)))
                return
            case "answers never":
                return
            case "detaches":
                link.condition = Condition("amqp:resource-deleted", "the node is gone")
                link.close()
                return
            case "closes":
                link.connection.condition = Condition("amqp:internal-error", "out of order")
                link.connection.close()
                return
            case "sleeps":
                time.sleep(1.5)
                return
            case _:
                self.held[node].append(content)
                delivery.update(Delivery.ACCEPTED)
        delivery.settle()

    def _forward(self, sender: Link) -> None:
        node = _node(sender)
        if node == "aborts" and (self._begun < ABORTED or sender.current is not None):
            if sender.credit > 0 and sender.current is None:
                self._begun += 1
                sender.delivery(f"begun {self._begun}")
                sender.stream(b"never to be ended" * 100)
                # What was not sent yet would not be aborted, but forgotten.
                self._container.schedule(0.005, _Later(lambda: self._abort(sender)))
            return
        while sender.credit > 0 and self.held[node]:
            self._tags += 1
            delivery = sender.delivery(_TAG + str(self._tags).encode())
            sender.stream(self.held[node].popleft())
            sender.advance()
            if sender.snd_settle_mode == Link.SND_SETTLED:
                delivery.settle()

    def _abort(self, sender: Link) -> None:
        sender.current.abort()
        self._forward(sender)

    def tell(self, act: Callable[[Any], None]) -> None:
        """Do something in the peer's own thread."""
        self.injector.trigger(ApplicationEvent("told", subject=act))

    def stop(self, event: Any) -> None:
        self._acceptor.close()
        for connection in self._connections:
            if connection.transport is not None:
                connection.transport.close_tail()
                connection.transport.close_head()
        self.injector.close()


class _Later(Handler):  # type: ignore[misc]
    """Does something when its time has come."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self._act = act

    def on_timer_task(self, event) -> None:
        self._act()


def _accept(delivery: Delivery) -> None:
    delivery.update(Delivery.ACCEPTED)
    delivery.settle()


@contextmanager
def listening(
    domain: SSLDomain | None = None, idle: float = 0.0, port: int | None = None
) -> Iterator[Peer]:
    """A peer in a thread of its own; ``idle`` is how long clients may be silent, in seconds."""
    peer = Peer(port=port or free_port(), domain=domain, idle=idle)
    container = Container(peer)
    thread = threading.Thread(target=container.run)
    thread.start()
    try:
        assert peer.running.wait(10)
        yield peer
    finally:
        peer.tell(peer.stop)
        thread.join(10)
        for end in peer.injector.pipe:
            with suppress(OSError):  # the reactor may have closed it
                os.close(end)
    assert not thread.is_alive()


def _node(link: Link) -> str:
    end = link.remote_source if link.is_sender else link.remote_target
    return end.address or ""


def _opened(link: Link) -> Opened:
    connection = link.connection
    return Opened(
        container=connection.remote_container,
        properties=connection.remote_properties,
        capabilities=connection.remote_desired_capabilities,
        link=link.name,
        link_properties=link.remote_properties,
        sending=link.remote_snd_settle_mode,
        receiving=link.remote_rcv_settle_mode,
        source=_terminus(link.remote_source),
        target=_terminus(link.remote_target),
    )


def _terminus(end: Terminus) -> dict[str, Any]:
    def held(data: Any) -> Any:
        data.rewind()
        return data.get_object() if data.next() else None

    return {
        "address": end.address,
        "dynamic": end.dynamic,
        "durability": end.durability,
        "expiry": end.expiry_policy,
        "timeout": end.timeout,
        "mode": end.distribution_mode,
        "capabilities": held(end.capabilities),
        "filter": held(end.filter),
    }
