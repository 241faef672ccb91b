"""Documents that are sent in pieces are the same as others, whatever way they are asked for."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.large_documents import LARGE
from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from heraldry.registry.request import Request, Target
from heraldry.server.app import create_app
from heraldry.server.settings import ServerSettings
from tests.server.asgi import Answer, call
from tests.server.calls import MODEL

SIZE = 3 * LARGE + 1
VALUE = {"text": "é" * SIZE, "list": list(range(1000)), "quote": '"\\'}
CASES = [
    pytest.param(json.dumps(VALUE, indent=1).encode(), "application/json", id="json"),
    pytest.param(b"[" + b" " * SIZE, "application/json", id="no-json"),
    pytest.param(b'["\xff' + b"x" * SIZE + b'"]', "application/json", id="json-not-utf-8"),
    pytest.param(b'"' + b"x" * SIZE + b'"', "application/json", id="json-string"),
    pytest.param('é"\n\\😀'.encode() * (SIZE // 8), "text/plain", id="text"),
    pytest.param(b"\xff" * SIZE, "text/plain", id="no-text"),
    pytest.param(bytes(range(256)) * (SIZE // 256), "application/octet-stream", id="bytes"),
]
PATH = "/dirs/d1/files/f1"


class Served:
    def __init__(self, address: str) -> None:
        self.registry = Registry.open(address, model=MODEL)
        self.app = create_app(self.registry, ServerSettings(wire=RC4))

    def __call__(self, method: str, target: str, body: bytes = b"", *headers: Any) -> Answer:
        return call(self.app, method, target, body=body, headers=headers)


@pytest.fixture
def served(address: str) -> Iterator[Served]:
    one = Served(address)
    yield one
    one.registry.close()


def shown(attributes: dict[str, Any]) -> bytes | Any:
    """The document among its attributes."""
    if "filebase64" in attributes:
        return base64.b64decode(attributes["filebase64"])
    return attributes["file"]


@pytest.mark.parametrize(("content", "type_"), CASES)
def test_a_large_document_is_shown_as_a_small_one(
    served: Served, content: bytes, type_: str
) -> None:
    assert served("PUT", PATH, content, ("content-type", type_)).status == 201
    plain = served("GET", PATH)
    assert (plain.body, plain.headers["content-length"]) == (content, str(len(content)))
    assert plain.headers["content-type"] == type_
    assert served("HEAD", PATH).headers["content-length"] == str(len(content))
    unchanged = served("GET", PATH, b"", ("if-none-match", plain.headers["etag"]))
    assert unchanged.status == 304
    packed = served("GET", PATH, b"", ("accept-encoding", "gzip"))
    is_packed = packed.headers.get("content-encoding") == "gzip"
    assert (gzip.decompress(packed.body) if is_packed else packed.body) == content

    expected: Any = content
    if type_ == "application/json" and content.startswith(b"{"):
        expected = VALUE
    elif type_ == "text/plain" and content[0] != 0xFF:
        expected = content.decode()
    exported = json.loads(served("GET", "/export").body)
    version = exported["dirs"]["d1"]["files"]["f1"]["versions"]["1"]
    for found in (
        version,
        json.loads(served("GET", f"{PATH}$details?inline=file").body),
        json.loads(served("GET", f"{PATH}/versions/1$details?inline=file").body),
        json.loads(served("GET", f"{PATH}/versions?inline=file").body)["1"],
        json.loads(served("GET", "/dirs/d1/files?inline=file").body)["f1"],
    ):
        assert shown(found) == expected
    binary = json.loads(served("GET", f"{PATH}$details?inline=file&binary").body)
    assert base64.b64decode(binary["filebase64"]) == content


def test_documents_of_all_sizes_follow_each_other(served: Served) -> None:
    sizes = [1, 10, SIZE, 10, LARGE, LARGE - 1, 100]
    for number, size in enumerate(sizes):
        served("PUT", f"/dirs/d1/files/f{number}", bytes([number]) * size)
    found = json.loads(served("GET", "/dirs/d1/files?inline=file").body)
    assert [len(shown(found[f"f{number}"])) for number in range(len(sizes))] == sizes


def test_a_document_that_is_replaced_while_it_is_sent_stays_whole(served: Served) -> None:
    served("PUT", PATH, b"a" * SIZE)
    with served.registry.store.read() as tx:
        row = tx.find(f"{PATH}/versions/1")
        assert row is not None
        pieces = tx.document_pieces(row.document, 1000)
        first = next(pieces)
        served("PUT", PATH, b"b" * SIZE)
        assert first + b"".join(pieces) == b"a" * SIZE


def test_a_reply_that_is_too_large_is_refused_before_it_is_made(address: str) -> None:
    registry = Registry.open(address, model=MODEL, limits=Limits(inline=LARGE))
    app = create_app(registry, ServerSettings(wire=RC4))
    call(app, "PUT", PATH, body=b"x" * SIZE)
    assert call(app, "GET", f"{PATH}$details?inline=file").status == 406
    assert len(call(app, "GET", "/export").body) > SIZE
    registry.close()


def test_replies_that_nobody_reads_leave_connections_to_others(address: str) -> None:
    registry = Registry.open(address, model=MODEL, limits=Limits(streams=2))
    app = create_app(registry, ServerSettings(wire=RC4))
    call(app, "PUT", PATH, body=b"x" * SIZE)
    request = Request(action="get", target=Target.parse(PATH))
    unread = [registry.run(request).pieces for _ in range(2)]
    third = call(app, "GET", PATH)
    if registry.store.reads_block:
        assert third.status == 503
        assert call(app, "GET", "/dirs/d1").status == 200
    else:
        assert third.body == b"x" * SIZE
    for pieces in unread:
        pieces.close()
    assert call(app, "GET", PATH).body == b"x" * SIZE
    registry.close()


GZIP = ("accept-encoding", "gzip")


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        pytest.param("HEAD", [], id="head"),
        pytest.param("HEAD", [GZIP], id="head-gzip"),
        pytest.param("GET", [GZIP, ("if-none-match", "*")], id="not-modified-gzip"),
    ],
)
def test_replies_without_a_body_let_go_of_the_document(
    address: str, method: str, headers: list[Any]
) -> None:
    registry = Registry.open(address, model=MODEL, limits=Limits(streams=1))
    app = create_app(registry, ServerSettings(wire=RC4))
    call(app, "PUT", PATH, body=b"x" * SIZE, headers=[("content-type", "text/plain")])
    for _ in range(3):
        assert call(app, method, PATH, headers=headers).status in (200, 304)
    assert call(app, "GET", PATH).body == b"x" * SIZE
    registry.close()


def test_a_reply_that_gets_no_memory_lets_go_of_the_document(address: str) -> None:
    limits = Limits(streams=1, replies=1_000_000, inline=1_000_000, patience=0.1)
    registry = Registry.open(address, model=MODEL, limits=limits)
    app = create_app(registry, ServerSettings(wire=RC4, limits=limits))
    call(app, "PUT", PATH, body=b"x" * SIZE)
    others = app._scheduler.share()
    others.set(1_000_000)
    for _ in range(3):
        assert call(app, "GET", PATH).status == 503
    others.end()
    assert call(app, "GET", PATH).body == b"x" * SIZE
    registry.close()
