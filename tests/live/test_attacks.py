"""What one client, or many of them, may do to the others: they are served, within bounds."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import cycle

import pytest

from tests.live.attack import MIB, Attacked, attacked, read_for

pytestmark = pytest.mark.alone

LARGE = b"x" * 60_000_000
GROUPS = 10_000
BUDGETS = 600 * MIB
"""What many clients may take together: a budget, and what is around it."""
SECONDS = 3
"""An attack lasts for so long that one slow answer is no percentile."""
HEAD = b"%s HTTP/1.1\r\nHost: localhost\r\n"
Connections = AbstractContextManager[list[socket.socket]]
TYPED = {"Content-Type": "application/json"}


@contextmanager
def tarpit() -> Iterator[int]:
    """A port at which connections are taken, and nothing is answered."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as stack:
        ended = threading.Event()

        def take() -> None:
            with suppress(OSError):
                while not ended.is_set():
                    stack.enter_context(listening.accept()[0])

        taking = threading.Thread(target=take)
        taking.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
            listening.shutdown(socket.SHUT_RDWR)
            taking.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """A server with a large document, many groups, and documents that never come."""
    with (
        tarpit() as port,
        attacked(
            tmp_path_factory.mktemp("attacked"),
            *({"groups": _groups()}, "--allow-include", f"http://127.0.0.1:{port}/"),
        ) as one,
    ):
        assert one.call("PUT", "/dirs/d1/files/large", LARGE).status == 201
        many = json.dumps({f"g{number}": {"name": "x" * 2000} for number in range(GROUPS)})
        assert one.call("POST", "/groups", many.encode()).status == 200
        for number in range(12):
            kept = json.dumps({"fileproxyurl": f"http://127.0.0.1:{port}/{number}"}).encode()
            assert one.call("PUT", f"/dirs/d2/files/f{number}$details", kept).status == 201
        yield one


def _groups() -> dict[str, object]:
    files = {"files": {"singular": "file"}}
    return {
        "dirs": {"singular": "dir", "resources": files},
        "groups": {"singular": "group"},
    }


def sent_for(
    seconds: float, connections: Sequence[socket.socket], piece: bytes, *, every: float = 0.01
) -> int:
    """Send pieces on all connections as far as these take them; how many bytes were taken."""
    end, taken = time.monotonic() + seconds, 0
    for connection in connections:
        connection.setblocking(False)
    while time.monotonic() < end:
        for connection in connections:
            with suppress(OSError):
                taken += connection.send(piece)
        time.sleep(every)
    return taken


@contextmanager
def connected(
    server: Attacked, number: int, sent: bytes, *, buffer: int = 0
) -> Iterator[list[socket.socket]]:
    """Connections on which something was sent; the server may have ended them by then."""
    with ExitStack() as stack:
        found = []
        for _ in range(number):
            with suppress(OSError):
                found.append(stack.enter_context(server.connect(sent, buffer=buffer)))
        yield found


def bodies(server: Attacked, number: int = 25) -> Connections:
    """Bodies of 60 MB that do not end."""
    head = HEAD % b"PUT /dirs/d1/files/new" + b"Content-Length: 60000000\r\n\r\n"
    return connected(server, number, head)


def unread(server: Attacked, target: bytes, number: int = 40) -> Connections:
    """Clients that ask and do not read."""
    return connected(server, number, HEAD % (b"GET " + target) + b"\r\n", buffer=4096)


def test_many_values_in_a_packed_body(server: Attacked) -> None:
    packed = gzip.compress(b"[" + b'"","",' * 10_000_000 + b'""]')
    headers = {"Content-Encoding": "gzip", **TYPED}

    def assault() -> None:
        assert server.call("PUT", "/dirs/d3", packed, headers).status in (400, 413)

    server.withstands(assault)


def test_bodies_that_do_not_end(server: Attacked) -> None:
    def assault() -> None:
        with bodies(server) as connections:
            assert sent_for(SECONDS, connections, LARGE[:MIB]) > 100 * MIB
            small = server.call("PUT", "/dirs/d4", b'{"name": "x"}', TYPED, seconds=5)
            assert small.status in (200, 201)

    server.withstands(assault, memory=BUDGETS)


def test_headers_that_do_not_end(server: Attacked) -> None:
    def assault() -> None:
        with connected(server, 2000, HEAD % b"GET /") as connections:
            sent_for(SECONDS, connections, b"x: y\r\n", every=0.5)

    server.withstands(assault)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(b"/dirs/d1/files/large", id="document"),
        pytest.param(b"/export", id="export"),
        pytest.param(b"/groups?inline", id="collection"),
        pytest.param(b"/dirs/d1/files?inline=file", id="inlined-document"),
        pytest.param(b"/?inline=groups", id="inlined"),
        pytest.param(b"/?%69nline=groups", id="encoded-flag"),
    ],
)
def test_readers_that_do_not_read(server: Attacked, target: bytes) -> None:
    def assault() -> None:
        with unread(server, target):
            read_for(SECONDS)

    server.withstands(assault, memory=BUDGETS)


def test_documents_elsewhere_that_do_not_come(server: Attacked) -> None:
    def assault() -> None:
        asked = [b"GET /dirs/d2/files/f%d" % number for number in range(12)]
        with ExitStack() as stack:
            for one in asked:
                stack.enter_context(server.connect(HEAD % one + b"\r\n"))
            assert server.call("GET", "/groups?limit=5", seconds=10).status == 200
            read_for(SECONDS)

    server.withstands(assault)


def test_all_of_them_at_once(server: Attacked) -> None:
    def assault() -> None:
        with (
            connected(server, 2000, HEAD % b"GET /"),
            unread(server, b"/dirs/d1/files/large"),
            bodies(server) as connections,
        ):
            sent_for(SECONDS, connections, LARGE[:MIB])

    server.withstands(assault, memory=1_000_000_000)


def test_an_import_of_many_definitions(server: Attacked) -> None:
    files = {
        f"f{number}": {"file": {"type": "object", "number": number}} for number in range(10_000)
    }
    body = json.dumps(files).encode()
    rounds = cycle("abc")

    def assault() -> None:
        answer = server.call("POST", f"/dirs/{next(rounds)}/files", body, TYPED, seconds=60)
        assert answer.status == 200

    server.withstands(assault)
