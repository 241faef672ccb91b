"""Producers and consumers without asyncio: threads, interrupts, and what is left behind."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heraldry.errors import BuildError, TransportError, UsageError
from heraldry.messages.catalog import Matched, MessageEndpoint
from heraldry.messages.transports.blocking import BlockingConsumer
from tests.live.servers.server import free_port
from tests.messages.transports.loopback import ORDER, PLACED, SECONDS, VALUES, free_address, shop

THREADS, EACH = 4, 10


@pytest.fixture
def endpoint(examples: Path) -> MessageEndpoint:
    return shop(examples).endpoint("shop-http")


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())  # those of earlier tests may end meanwhile
    yield
    assert not set(threading.enumerate()) - before


@pytest.fixture
def interrupted() -> Iterator[None]:
    """Ctrl-C, in a moment."""
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def take(consumer: BlockingConsumer, count: int) -> list[str]:
    """The ids of the next events, each settled."""
    found: list[str] = []
    for received in consumer:
        consumer.ack(received)
        assert received.message is not None
        found.append(str(received.message.attributes["id"]))
        if len(found) == count:
            break
    return found


def test_one_producer_serves_several_threads(endpoint: MessageEndpoint) -> None:
    address = free_address()
    with (
        ThreadPoolExecutor(THREADS + 1) as pool,
        endpoint.blocking_consumer(address=address) as consumer,
        endpoint.blocking_producer(address=address) as producer,
    ):

        def publish() -> list[str]:
            sent = [producer.publish(PLACED, ORDER, **VALUES) for _ in range(EACH)]
            return [str(one.attributes["id"]) for one in sent]

        taking = pool.submit(take, consumer, THREADS * EACH)
        sending = [pool.submit(publish) for _ in range(THREADS)]
        sent = [id_ for one in sending for id_ in one.result(SECONDS)]
        assert sorted(taking.result(SECONDS)) == sorted(sent)


def test_send_and_reject(endpoint: MessageEndpoint) -> None:
    address = free_address()
    with (
        ThreadPoolExecutor(1) as pool,
        endpoint.blocking_consumer(address=address) as consumer,
        endpoint.blocking_producer(address=address) as producer,
    ):
        sending = pool.submit(producer.send, endpoint[PLACED].sample())
        for received in consumer:
            consumer.reject(received)
            break
        with pytest.raises(TransportError, match="answered 422"):
            sending.result(SECONDS)


def test_errors_come_out_as_they_are(endpoint: MessageEndpoint) -> None:
    with endpoint.blocking_producer(address=free_address()) as producer:
        with pytest.raises(BuildError):
            producer.publish(PLACED, {"total": -1}, **VALUES)
        with pytest.raises(TransportError, match="no connection"):
            producer.publish(PLACED, ORDER, **VALUES)


def test_an_error_while_connecting_leaves_nothing_behind(endpoint: MessageEndpoint) -> None:
    address = free_address()
    second = endpoint.blocking_consumer(address=address)
    with (
        endpoint.blocking_consumer(address=address),
        pytest.raises(TransportError, match="cannot listen"),
    ):
        second.__enter__()


def test_an_interrupt_ends_a_consumer(endpoint: MessageEndpoint, interrupted: None) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        endpoint.blocking_consumer(address=free_address()) as consumer,
    ):
        take(consumer, 1)


def test_an_interrupt_ends_a_publication(endpoint: MessageEndpoint, interrupted: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(KeyboardInterrupt),
            endpoint.blocking_producer(address=address) as producer,
        ):
            producer.publish(PLACED, ORDER, **VALUES)


def test_an_interrupt_ends_connecting(examples: Path, interrupted: None) -> None:
    pytest.importorskip("nats")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"nats://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(KeyboardInterrupt),
            shop(examples).endpoint("shop-nats").blocking_producer(address=address),
        ):
            raise AssertionError


def test_closing_ends_what_other_threads_wait_for(endpoint: MessageEndpoint) -> None:
    with ThreadPoolExecutor(1) as pool:
        with endpoint.blocking_consumer(address=free_address()) as consumer:
            waiting = pool.submit(take, consumer, 1)
            with pytest.raises(TimeoutError):
                waiting.result(0.2)
        with pytest.raises(UsageError, match="closed before this was done"):
            waiting.result(SECONDS)


def test_what_is_not_open_says_so(endpoint: MessageEndpoint) -> None:
    producer = endpoint.blocking_producer(address=free_address())
    with pytest.raises(UsageError, match="not open"):
        producer.publish(PLACED, ORDER, **VALUES)
    with producer:
        pass
    with pytest.raises(UsageError, match="not open"):
        producer.publish(PLACED, ORDER, **VALUES)


def test_an_iterator_may_outlive_its_consumer(endpoint: MessageEndpoint) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with (
        ThreadPoolExecutor(1) as pool,
        endpoint.blocking_consumer(address=address) as consumer,
        endpoint.blocking_producer(address=address) as producer,
    ):
        sending = pool.submit(producer.send, endpoint[PLACED].sample())
        messages = iter(consumer)
        consumer.ack(next(messages))
        sending.result(SECONDS)
    with pytest.raises(UsageError, match="not open"):
        next(messages)


def test_handlers_run_in_the_thread_of_the_caller(examples: Path) -> None:
    catalog, address, seen = shop(examples), free_address(), list[object]()

    @catalog.on(PLACED)
    def placed(data: dict[str, object], match: Matched) -> None:
        seen.append((data["customer"], threading.current_thread()))
        if data["customer"] == "last":
            raise LookupError

    catalog.on_dead_letter(lambda raw, rejected: seen.append(rejected.stage))
    endpoint = catalog.endpoint("shop-http")
    with (
        ThreadPoolExecutor(1) as pool,
        endpoint.blocking_consumer(address=address) as consumer,
        endpoint.blocking_producer(address=address) as producer,
    ):
        for message in (
            endpoint[PLACED].sample(ORDER),
            endpoint["shop.order.cancelled"].sample(),
            endpoint[PLACED].sample(ORDER | {"customer": "last"}),
        ):
            pool.submit(producer.send, message)
        with pytest.raises(LookupError):
            consumer.run()
    here = threading.current_thread()
    assert seen == [("Inês", here), "handle", ("last", here)]


def test_without_a_handler_for_dead_letters_nothing_runs(endpoint: MessageEndpoint) -> None:
    with (
        endpoint.blocking_consumer(address=free_address()) as consumer,
        pytest.raises(UsageError, match="they would be lost"),
    ):
        consumer.run()
