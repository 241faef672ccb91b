"""Where requests are carried out: who waits for what, who is sent away, and who left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from heraldry.server.app import create_app
from heraldry.server.settings import ServerSettings
from tests.server.asgi import scope
from tests.server.calls import MODEL

ELSEWHERE = "http://elsewhere.example/"


class Served:
    """An application on one event loop, on which many requests can be under way."""

    def __init__(self, limits: Limits, fetch: Callable[[str, str], bytes] | None = None) -> None:
        self.registry = Registry.open("sqlite::memory:", model=MODEL, limits=limits, fetch=fetch)
        self.app = create_app(self.registry, ServerSettings(wire=RC4, limits=limits))

    async def __call__(
        self, method: str, target: str, body: bytes = b"", leaves: asyncio.Event | None = None
    ) -> tuple[int, bytes]:
        """Status and body of an answer; 0 where none came. ``leaves``: when the client goes."""
        path, _, query = target.partition("?")
        incoming = [{"type": "http.request", "body": body, "more_body": False}]
        status, found = 0, b""

        async def receive() -> dict[str, Any]:
            if incoming:
                return incoming.pop()
            await (leaves or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal status, found
            status = message.get("status", status)
            found += message.get("body", b"")

        await self.app(scope(method, path, query, (), body), receive, send)
        return status, found

    def run(self, test: Callable[[], Awaitable[Any]]) -> None:
        try:
            asyncio.run(asyncio.wait_for(test(), 30))
        finally:
            self.registry.close()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Somebody else is writing."""
        begun, ended = threading.Event(), threading.Event()

        def write() -> None:
            with self.registry.store.write():
                begun.set()
                ended.wait(20)

        writing = threading.Thread(target=write)
        writing.start()
        begun.wait(20)
        try:
            yield
        finally:
            ended.set()
            writing.join()


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not become so")


async def until_waiting(served: Served, name: str, number: int) -> None:
    for _ in range(2000):
        if (await measured(served))[f"heraldry_{name}_waiting"] == number:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not become so")


async def measured(served: Served) -> dict[str, float]:
    """What ``/metrics`` counts, by name and labels."""
    _, text = await served("GET", "/metrics")
    lines = [line.rpartition(" ") for line in text.decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, _, value in lines}


def with_files(served: Served, number: int) -> Awaitable[Any]:
    puts = [
        served(
            "PUT",
            f"/dirs/d1/files/f{one}$details",
            msgspec.json.encode({"fileproxyurl": f"{ELSEWHERE}{one}"}),
        )
        for one in range(number)
    ]
    return asyncio.gather(*puts)


def test_too_many_writes_that_wait_are_sent_away() -> None:
    served = Served(Limits(waiting=2))

    async def test() -> None:
        with served.busy():
            puts = [asyncio.create_task(served("PUT", f"/dirs/d{one}", b"{}")) for one in range(5)]
            await until(lambda: sum(one.done() for one in puts) == 2)
            assert (await served("GET", "/dirs/d1"))[0] == 404, "readers do not wait"
        found = [await one for one in puts]
        assert [status for status, _ in found] == [201, 201, 201, 503, 503]

    served.run(test)


def test_a_write_that_waits_goes_with_its_client() -> None:
    served = Served(Limits())

    async def test() -> None:
        gone = asyncio.Event()
        with served.busy():
            first = asyncio.create_task(served("PUT", "/dirs/d1", b"{}"))
            second = asyncio.create_task(served("PUT", "/dirs/d2", b"{}", gone))
            third = asyncio.create_task(served("PUT", "/dirs/d3", b"{}"))
            await until_waiting(served, "writes", 2)
            gone.set()
            assert await second == (0, b"")
            await until_waiting(served, "writes", 1)
        assert [(await first)[0], (await third)[0]] == [201, 201]
        assert (await served("GET", "/dirs/d2"))[0] == 404

    served.run(test)


def test_readers_do_not_wait_for_documents_that_are_kept_elsewhere() -> None:
    came = threading.Event()

    def fetch(address: str, subject: str) -> bytes:
        assert came.wait(20)
        return address.encode()

    served = Served(Limits(), fetch)

    async def test() -> None:
        await with_files(served, 12)
        asked = [asyncio.create_task(served("GET", f"/dirs/d1/files/f{one}")) for one in range(12)]
        await until_waiting(served, "fetches", 8)
        for target in ("/dirs", "/dirs/d1/files", "/export", "/?inline=dirs.files"):
            assert (await served("GET", target))[0] == 200
        assert (await served("PUT", "/dirs/d2", b"{}"))[0] == 201
        came.set()
        assert [(await one)[1] for one in asked] == [
            f"{ELSEWHERE}{number}".encode() for number in range(12)
        ]

    served.run(test)


def test_documents_from_elsewhere_are_shown_also_after_a_write() -> None:
    served = Served(Limits(), lambda address, _: address.encode())

    async def test() -> None:
        body = msgspec.json.encode({"fileproxyurl": ELSEWHERE, "contenttype": "text/plain"})
        made = await served("PUT", "/dirs/d1/files/f1$details?inline=file", body)
        assert (made[0], msgspec.json.decode(made[1])["file"]) == (201, ELSEWHERE)
        shown = msgspec.json.decode((await served("GET", "/dirs/d1/files?inline=file"))[1])
        assert (shown["f1"]["file"], shown["f1"]["epoch"]) == (ELSEWHERE, 1)

    served.run(test)


def test_what_cannot_be_fetched_says_why() -> None:
    def fetch(address: str, subject: str) -> bytes:
        raise RegistryError("bad_request", subject, {"error_detail": "it is away"})

    served = Served(Limits(), fetch)

    async def test() -> None:
        await with_files(served, 1)
        status, body = await served("GET", "/dirs/d1/files/f0")
        assert (status, b"it is away" in body) == (400, True)

    served.run(test)


@pytest.mark.parametrize(
    ("limits", "number"),
    [
        pytest.param(Limits(proxied_seconds=0.2), 1, id="too-late"),
        pytest.param(Limits(waiting=1, proxied_seconds=10), 6, id="too-many"),
    ],
)
def test_documents_elsewhere_that_do_not_come_are_given_up(limits: Limits, number: int) -> None:
    came = threading.Event()

    def fetch(address: str, subject: str) -> bytes:
        assert came.wait(20)
        return b""

    served = Served(limits, fetch)

    async def test() -> None:
        for one in range(number):
            body = msgspec.json.encode({"fileproxyurl": f"{ELSEWHERE}{one}"})
            await served("PUT", f"/dirs/d1/files/f{one}$details", body)
        asked = [
            asyncio.create_task(served("GET", f"/dirs/d1/files/f{one}")) for one in range(number)
        ]
        await until(lambda: any(one.done() for one in asked))
        came.set()
        assert 503 in [(await one)[0] for one in asked]

    served.run(test)


def test_what_is_given_up_is_not_fetched_any_more() -> None:
    fetched: list[str] = []

    def fetch(address: str, subject: str) -> bytes:
        fetched.append(address)
        time.sleep(0.05)
        return b""

    served = Served(Limits(proxied_seconds=0.1), fetch)

    async def test() -> None:
        for number in range(40):
            body = msgspec.json.encode({"fileproxyurl": f"{ELSEWHERE}{number}"})
            await served("PUT", f"/dirs/d1/files/f{number}$details", body)
        fetched.clear()
        assert (await served("GET", "/dirs/d1/files?inline=file"))[0] == 503
        given_up = len(fetched)
        await asyncio.sleep(0.5)
        assert len(fetched) <= given_up + 1 < 40

    served.run(test)


def test_large_replies_share_their_memory() -> None:
    limits = Limits(inline=3_000_000, replies=4_000_000, patience=0.3)
    served = Served(limits)

    async def test() -> None:
        groups = {f"d{one}": {"description": "x" * 4_000} for one in range(400)}
        assert (await served("POST", "/dirs", msgspec.json.encode(groups)))[0] == 200
        taken = served.app._scheduler.share()
        await taken.grow(3_990_000)
        status, body = await served("GET", "/dirs")
        assert (status, b"server_busy" in body) == (503, True)
        assert (await served("GET", "/dirs?limit=2"))[0] == 200, "small ones do not wait"
        taken.set(0)
        status, body = await served("GET", "/dirs")
        assert (status, len(msgspec.json.decode(body))) == (200, 400)
        assert (await measured(served))["heraldry_replies_bytes"] == 0

    served.run(test)
