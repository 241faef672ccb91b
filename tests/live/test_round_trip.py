"""Every definition of an example, published and recognised through each real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import heraldry
from tests.live.servers.server import free_port

HERALDRY = [sys.executable, "-m", "heraldry"]
ENDPOINTS = [
    pytest.param(endpoint, server, id=name, marks=pytest.mark.xdist_group(server or "http"))
    for name, endpoint, server in (
        ("HTTP", "shop-http", None),
        ("AMQP", "shop-amqp", "rabbitmq"),
        ("MQTT 5.0", "shop-mqtt", "mosquitto"),
        ("MQTT 3.1.1", "shop-mqtt-old", "mosquitto"),
        ("Kafka", "shop-kafka", "kafka"),
        ("NATS", "shop-nats", "nats"),
    )
]


def address(request: pytest.FixtureRequest, server: str | None) -> str:
    """Where the server is; over HTTP the consumer is the server."""
    if server is None:
        return f"http://127.0.0.1:{free_port()}"
    found: str = request.getfixturevalue(server).address
    return found


@contextmanager
def listening(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    """`heraldry consume`, once it says that it listens."""
    process = subprocess.Popen(
        [*HERALDRY, "consume", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    with process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert said.startswith("listening to"), said + process.stderr.read()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("endpoint", "server"), ENDPOINTS)
def test_every_definition_arrives_and_is_recognised(
    endpoint: str, server: str | None, request: pytest.FixtureRequest, examples: Path
) -> None:
    place = ["--endpoint", endpoint, "--address", address(request, server)]
    options = ["--catalog", str(examples / "shop"), *place, "--format", "json"]
    wanted = [one.xid for one in heraldry.open(examples / "shop").endpoint(endpoint)]
    assert len(wanted) >= 3
    with listening([*options, "--count", str(3 * len(wanted)), "--seconds", "60"]) as consumer:
        published = subprocess.run(
            [*HERALDRY, "publish", *options, "--sample", "--seed", "1", "--count", "3"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert published.returncode == 0, published.stderr
        out, err = consumer.communicate(timeout=90)
    sent = [json.loads(line) for line in published.stdout.splitlines()]
    received = [json.loads(line) for line in out.splitlines()]
    assert [one["problems"] for one in received] == [[]] * len(received), err
    assert sorted(one["definition"] for one in received) == sorted(3 * wanted), err
    assert all(one["data"] is not None for one in received)
    assert len(sent) == len(received)


@pytest.mark.xdist_group("mosquitto")
def test_what_the_contract_does_not_know_stands_out(
    request: pytest.FixtureRequest, examples: Path
) -> None:
    """A message of another endpoint's contract is shown with the reason, and the tail goes on."""
    where = address(request, "mosquitto")
    shop = str(examples / "shop")
    options = ["--catalog", shop, "--endpoint", "shop-mqtt", "--address", where]
    with listening([*options, "--format", "json", "--count", "2", "--seconds", "60"]) as consumer:
        strange = ["--catalog", shop, "--endpoint", "shop-mqtt-old", "--address", where]
        for arguments in (
            [*strange, "shop.fridge.oldtemperature"],
            [*options, "shop.order.placed"],
        ):
            run = subprocess.run(
                [*HERALDRY, "publish", *arguments, "--sample"], capture_output=True, check=False
            )
            assert run.returncode == 0, run.stderr
        out, _ = consumer.communicate(timeout=90)
    first, second = (json.loads(line) for line in out.splitlines())
    assert first["definition"] is None
    assert first["problems"]
    assert second["definition"] == "/messagegroups/shop.orders/messages/shop.order.placed"
