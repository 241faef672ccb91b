"""`heraldry publish`: all or nothing, and what is said of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main

ORDER = '{"order": "4711", "customer": "Inês", "total": 12.5}'
GIVEN = ("--set", "shop=lisbon", "--set", "order=4711")
PLACED = "/messagegroups/shop.orders/messages/shop.order.placed"


class Sink(ThreadingHTTPServer):
    """A server that keeps what is posted and answers as it is told."""

    daemon_threads = False
    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keep)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Keep(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        names = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, names, body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def publish(examples: Path, *arguments: str, endpoint: str = "shop-http") -> Result:
    where = ("--catalog", str(examples / "shop"), "--endpoint", endpoint)
    return CliRunner().invoke(main, ["publish", *where, *arguments])


def test_a_message_is_sent(examples: Path, sink: Sink) -> None:
    where = ("--address", sink.address)
    result = publish(examples, PLACED, *where, *GIVEN, "--data", ORDER, "--seed", "1")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{PLACED}  7e18901e-ce88-48af-8241-84edcea2851e\n"
    assert result.stderr == "1 message published to /endpoints/shop-http\n"
    ((path, headers, body),) = sink.requests
    assert (path, headers["ce-source"], json.loads(body)["total"]) == ("/", "/shops/lisbon", 12.5)


def test_a_sample_of_every_definition_is_sent(examples: Path, sink: Sink) -> None:
    result = publish(examples, "--address", sink.address, "--sample", "--count", "2")
    assert (result.exit_code, len(sink.requests)) == (0, 6)
    assert "6 messages published" in result.stderr


def test_json_is_a_line_of_each_message_sent(examples: Path, sink: Sink) -> None:
    result = publish(examples, "--address", sink.address, "--sample", "--format", "json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["protocol"] for line in lines] == ["HTTP"] * 3
    sent = [headers.get("ce-id") for _, headers, _ in sink.requests]
    shown = [{one["name"]: one["value"] for one in line["metadata"]["headers"]} for line in lines]
    assert [one.get("ce-id") for one in shown] == sent


def test_an_event_may_be_one_document(examples: Path, sink: Sink) -> None:
    where = ("--address", sink.address)
    result = publish(examples, PLACED, *where, "--sample", "--event-format", "json")
    assert result.exit_code == 0
    ((_, headers, body),) = sink.requests
    assert headers["content-type"].startswith("application/cloudevents+json")
    assert json.loads(body)["type"] == "shop.order.placed"


def test_nothing_is_sent_when_one_is_refused(examples: Path, sink: Sink) -> None:
    xids = (PLACED, "shop.order.cancelled")
    result = publish(examples, *xids, "--address", sink.address, *GIVEN, "--data", ORDER)
    assert result.exit_code == 1
    assert "shop.order.cancelled refuses this message" in result.stderr
    assert (result.stdout, sink.requests) == ("", [])


def test_every_reason_of_a_refusal_is_told(examples: Path, sink: Sink) -> None:
    result = publish(examples, PLACED, "--address", sink.address)
    assert (result.exit_code, sink.requests) == (1, [])
    for told in ("{shop} has no value", "{order} has no value", "the payload is missing"):
        assert told in result.stderr


def test_what_the_server_refuses_is_no_success(examples: Path, sink: Sink) -> None:
    sink.status = 403
    result = publish(examples, PLACED, "--address", sink.address, "--sample")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("heraldry: /endpoints/shop-http: the server answered 403")
    assert "published" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((), "no definition is named", id="no definition"),
        pytest.param(("shop.order.plaecd", "--sample"), "did you mean", id="unknown definition"),
        pytest.param(
            ("shop.payment.made", "--sample"), "the contract of /endpoints/shop-http", id="foreign"
        ),
        pytest.param((PLACED, "--set", "shop"), "write --set NAME=VALUE", id="set"),
        pytest.param((PLACED, "--data", "{"), "--data", id="data"),
        pytest.param((PLACED, "--data", "@/no/file"), "cannot be read", id="file"),
        pytest.param((PLACED, "--sample", "--raw"), "--raw does not go with --sample", id="raw"),
        pytest.param((PLACED, "--sample", "--count", "0"), "--count", id="count"),
        pytest.param(
            ("--sample", "--address", "mqtt://h:1"), "is not an address of this", id="scheme"
        ),
        pytest.param(("--sample", "--address", "http://127.0.0.1:1"), "no connection", id="nobody"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], told: str, examples: Path) -> None:
    result = publish(examples, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_an_unknown_endpoint_is_told_with_similar_ones(examples: Path) -> None:
    result = publish(examples, "--sample", endpoint="shop-htp")
    assert result.exit_code == 2
    assert "did you mean /endpoints/shop-http" in result.stderr


def test_an_endpoint_without_definitions_is_told(tmp_path: Path) -> None:
    options = {"endpoints": [{"url": "http://127.0.0.1:1"}]}
    own = {"endpointid": "e", "usage": ["producer"], "protocol": "HTTP", "protocoloptions": options}
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "e.xreg.json").write_text(json.dumps({"endpoints": {"e": own}}))
    result = publish(tmp_path, "--sample", endpoint="e")
    assert result.exit_code == 2
    assert "/endpoints/e has no definitions" in result.stderr


@pytest.mark.parametrize("command", [pytest.param(one, id=one) for one in ("publish", "consume")])
def test_help_fits_80_columns_and_says_where_passwords_come_from(command: str) -> None:
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "HERALDRY_PASSWORD" in result.stdout
