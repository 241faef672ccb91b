"""The real servers of the live tests, one of each for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.live.servers.server import Server

SERVERS = ("kafka", "mosquitto", "nats", "rabbitmq")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is live; the users of one server share it, on one worker."""
    for item in items:
        if "live" not in item.path.parts:
            continue
        item.add_marker(pytest.mark.live)
        if item.get_closest_marker("xdist_group") is None:
            known = getattr(item, "fixturenames", ())
            server = next((one for one in SERVERS if one in known), item.path.stem)
            item.add_marker(pytest.mark.xdist_group(server))


def _start(name: str, factory: pytest.TempPathFactory) -> Iterator[Server]:
    module = import_module(f"tests.live.servers.{name}")
    with module.start(factory.mktemp(name)) as server:
        yield server


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Kafka broker in KRaft mode."""
    yield from _start("kafka", tmp_path_factory)


@pytest.fixture(scope="session")
def mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An MQTT broker."""
    yield from _start("mosquitto", tmp_path_factory)


@pytest.fixture(scope="session")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A NATS server with JetStream."""
    yield from _start("nats", tmp_path_factory)


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """RabbitMQ with AMQP 1.0."""
    yield from _start("rabbitmq", tmp_path_factory)
