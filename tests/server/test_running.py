"""A real server on a real port: its start and end, and what a connection bounds."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from heraldry.errors import UsageError
from heraldry.server.running import listen
from tests.conftest import ROOT
from tests.server.calls import MODEL

CONFIG = ROOT / "tests/live/schemathesis.toml"

PROGRAM = """
import json, sys
from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from heraldry.server.app import create_app
from heraldry.server.running import address, end_on_sigterm, listen, run
from heraldry.server.settings import ServerSettings

end_on_sigterm()
registry = Registry.open("sqlite::memory:", model=json.loads(sys.argv[1]))
try:
    with listen("127.0.0.1", 0) as listening:
        print("at", address(listening), file=sys.stderr, flush=True)
        limits = Limits(
            header_size=int(sys.argv[2]),
            patience=float(sys.argv[3]),
            connections=int(sys.argv[4]),
            body=min(64_000_000, int(sys.argv[5]) // 2),
            bodies=int(sys.argv[5]),
        )
        app = create_app(registry, ServerSettings(limits=limits))
        run(app, listening, limits=limits, counts=app.connections)
except KeyboardInterrupt:
    pass
finally:
    registry.close()
    print("closed")
"""


@contextmanager
def running(
    header_size: int = 1000,
    patience: float = 30,
    connections: int = 1000,
    bodies: int = 300_000_000,
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server of its own, and its port."""
    program = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            json.dumps(MODEL),
            str(header_size),
            str(patience),
            str(connections),
            str(bodies),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    try:
        line = program.stderr.readline()
        assert line.startswith("at http://127.0.0.1:"), line
        yield program, int(line.rpartition(":")[2])
    finally:
        program.kill()
        program.communicate()


def exchange(port: int, text: bytes) -> bytes:
    """Whatever comes back until the other side ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(text)
        found = b""
        while piece := connection.recv(65536):
            found += piece
        return found


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with running() as (_, number):
        yield number


def test_it_answers(port: int) -> None:
    text = b"GET / HTTP/1.1\r\nHost: a:%d\r\nConnection: close\r\n\r\n" % port
    head, _, body = exchange(port, text).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["self"] == f"http://a:{port}/"


def test_headers_without_an_end_are_refused(port: int) -> None:
    answered = exchange(port, b"GET / HTTP/1.1\r\nx: " + b"y" * 110_000)
    assert answered.startswith(b"HTTP/1.1 431 ")
    assert b"urn:heraldry:error:headers_too_large" in answered


def test_what_is_not_http_gets_a_problem_document(port: int) -> None:
    answered = exchange(port, b"\x16\x03\x01 hello\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 400 ")
    assert b"#bad_request" in answered


CHUNKED = b"%s /dirs/d1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"2\r\n{}\r\n0\r\n" + b"x: y\r\n" * 60_000, id="trailers"),
        pytest.param(b"2\r\n{}\r\n0\r\nx: " + b"y" * 400_000, id="one-trailer"),
        pytest.param(b"2;" + b"x" * 400_000, id="comments-of-chunks"),
    ],
)
def test_what_surrounds_a_body_has_an_end(port: int, text: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(CHUNKED % b"PUT" + text[:1000])
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(text[1000:])
        received(connection)


def test_a_body_may_come_with_its_headers(port: int) -> None:
    head = (
        b"PUT /dirs/d2/files/f HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 200000"
    )
    assert exchange(port, head + b"\r\n\r\n" + b"x" * 200_000).startswith(b"HTTP/1.1 201 ")


def test_trailers_are_passed_over(port: int) -> None:
    body = b"2\r\n{}\r\n0\r\nxregistry-name: x\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    answered = exchange(port, CHUNKED % b"PUT" + body + last)
    assert answered.count(b"HTTP/1.1 20") == 2


def test_more_requests_than_can_wait_end_the_connection(port: int) -> None:
    one = b"GET /model HTTP/1.1\r\nHost: a\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(one * 1000)
        assert received(connection) < 1000 * len(one)


def received(connection: socket.socket) -> int:
    """How many bytes come until the other side ends a connection, in whatever way."""
    size = 0
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            size += len(piece)
    return size


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTT", id="no-headers"),
        pytest.param(CHUNKED % b"PUT", id="no-body"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTT", id="no-second-headers"),
    ],
)
def test_who_sends_nothing_is_let_go(text: bytes) -> None:
    with (
        running(patience=0.2) as (program, port),
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
    ):
        connection.sendall(text)
        received(connection)
        program.terminate()
        assert program.stderr is not None
        assert program.stderr.read() == ""


def ended_after(connection: socket.socket, piece: bytes, seconds: float) -> bool:
    """Whether the other side ends a connection on which a piece is sent ten times a second."""
    end = time.monotonic() + seconds
    connection.settimeout(0.1)
    try:
        while time.monotonic() < end:
            connection.sendall(piece)
            with suppress(TimeoutError):
                if not connection.recv(65536):
                    return True
                time.sleep(0.1)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


LAST = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
PUT = b"PUT /dirs/d/files/f HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
DRIPPING = [
    pytest.param(b"GET / HTTP/1.1\r\nx-long: ", b"x", id="headers"),
    pytest.param(CHUNKED % b"PUT", b"1\r\n \r\n", id="body"),
    pytest.param(b"GET / HTTP/1.1\r\nContent-Length: 90000\r\n\r\n", b"x", id="body-of-a-read"),
]


@pytest.mark.parametrize(("first", "piece"), DRIPPING)
def test_who_sends_next_to_nothing_is_let_go(first: bytes, piece: bytes) -> None:
    with (
        running(patience=0.5) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
    ):
        connection.sendall(first)
        assert ended_after(connection, piece, 20)


def test_who_takes_next_to_nothing_is_let_go() -> None:
    with running(patience=0.5) as (_, port):
        exchange(port, PUT % 9_000_000 + b"x" * 9_000_000)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(b"GET /dirs/d/files/f HTTP/1.1\r\nHost: a\r\n\r\n")
            with suppress(ConnectionResetError):
                for _ in range(50):
                    connection.recv(1)
                    time.sleep(0.1)
            assert received(connection) < 8_900_000


def test_a_body_that_keeps_its_pace_is_taken() -> None:
    with (
        running(patience=3) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
    ):
        connection.sendall(PUT % 40_000)
        for _ in range(40):
            connection.sendall(b"x" * 1000)
            time.sleep(0.1)
        assert connection.recv(100).startswith(b"HTTP/1.1 201 ")


def test_who_holds_memory_that_others_wait_for_must_be_quick() -> None:
    with ExitStack() as stack:
        _, port = stack.enter_context(running(patience=1, bodies=20_000_000))
        slow = []
        for _ in range(2):
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            slow.append(stack.enter_context(connection))
            connection.sendall(PUT % 9_900_000 + b"x" * 9_000_000)
        status, end = b"", time.monotonic() + 30
        while status != b"201" and time.monotonic() < end:
            for connection in slow:
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.sendall(b"x" * 4000)
            with suppress(BrokenPipeError, ConnectionResetError):
                status = exchange(port, PUT % 5_000_000 + b"x" * 5_000_000).split(b" ")[1]
        assert status == b"201"


def test_the_longest_wait_ends_where_too_many_are_connected() -> None:
    with ExitStack() as stack:
        _, port = stack.enter_context(running(connections=20))
        hostile = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(40)
        ]
        for one in hostile:
            with suppress(BrokenPipeError, ConnectionResetError):
                one.sendall(b"GET / HTTP/1.1\r\nx: ")
        for _ in range(20):
            assert exchange(port, LAST % b"/").startswith(b"HTTP/1.1 200 ")
        assert received(hostile[0]) == 0
        counted = re.search(rb"_ended_total (\d+)", exchange(port, LAST % b"/metrics"))
        assert counted is not None
        assert int(counted[1]) >= 20


def test_a_newcomer_is_served_where_bodies_hold_all_connections() -> None:
    with ExitStack() as stack:
        _, port = stack.enter_context(running(connections=5))
        for _ in range(5):
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            stack.enter_context(connection)
            connection.sendall(PUT % 20_000 + b"x" * 100)
        for _ in range(3):
            assert exchange(port, LAST % b"/").startswith(b"HTTP/1.1 200 ")


def test_what_is_not_http_does_not_fill_the_log() -> None:
    with running() as (program, port):
        for _ in range(50):
            exchange(port, b"\x16\x03\x01 hello\r\n\r\n")
        assert b"heraldry_invalid_http_total 50\n" in exchange(port, LAST % b"/metrics")
        program.terminate()
        assert program.stderr is not None
        assert len(program.stderr.read().splitlines()) == 1


def test_who_takes_nothing_is_let_go() -> None:
    one = b"GET /dirs/d/files/f HTTP/1.1\r\nHost: a\r\n\r\n"
    put = (
        b"PUT /dirs/d/files/f HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 20000000"
    )
    with running(patience=0.3) as (_, port):
        exchange(port, put + b"\r\n\r\n" + b"x" * 20_000_000)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(one)
            time.sleep(2)
            assert received(connection) < 20_000_000


def test_a_body_that_is_none_leaves_no_trace_in_the_log() -> None:
    with running() as (program, port):
        exchange(port, CHUNKED % b"GET" + b"zz\r\n")
        program.terminate()
        assert program.stderr is not None
        assert "Traceback" not in program.stderr.read()


def test_two_hosts_are_none(port: int) -> None:
    text = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n"
    assert exchange(port, text).startswith(b"HTTP/1.1 400 ")


def test_a_wish_for_another_protocol_is_passed_over() -> None:
    wish = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n"
    with running() as (program, port):
        assert exchange(port, wish).startswith(b"HTTP/1.1 200 OK\r\n")
        program.terminate()
        assert program.stderr is not None
        assert program.stderr.read() == ""


def test_requests_follow_each_other_on_a_connection(port: int) -> None:
    one = b"GET /model HTTP/1.1\r\nHost: a\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert exchange(port, one * 30 + last).count(b"HTTP/1.1 200 OK") == 31


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_it_ends_when_asked_to(how: signal.Signals) -> None:
    with running() as (program, _):
        program.send_signal(how)
        out, _ = program.communicate(timeout=20)
        assert (program.returncode, out) == (0, "closed\n")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_signal_while_it_starts_is_not_lost(how: signal.Signals) -> None:
    """The handler of a signal raises; where Python drops that, the server must not go on."""
    early = f"""
import os, uvicorn
config = uvicorn.Config
class Early(config):
    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        try:
            os.kill(os.getpid(), {int(how)})
        except BaseException:
            pass
uvicorn.Config = Early
"""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            early + PROGRAM,
            json.dumps(MODEL),
            "1000",
            "30",
            "1000",
            "300000000",
        ],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.returncode, done.stdout) == (0, "closed\n")


def test_a_port_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UsageError, match="cannot listen at"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_openapi_promises_what_the_server_keeps(tmp_path: Path) -> None:
    """Requests made from the description: no reply is a 5xx or other than it says.

    That every request is accepted which the schemas allow is not promised: the rules of a model
    are more than they can say.
    """
    changing = "^/(capabilities|modelsource)?$"  # these change what the API is
    with running(64 * 1024) as (_, number):
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("schemathesis"), "--config-file", CONFIG, "run"),
                f"http://127.0.0.1:{number}/openapi.json",
                *("--max-examples", "2", "--phases", "fuzzing", "--seed", "1"),
                *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
                *("--exclude-path-regex", changing, "--suppress-health-check", "all"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stdout[-5000:]
