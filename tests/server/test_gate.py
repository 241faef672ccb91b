"""What web pages may do, and by which names a server is reached: registry and intake alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.server.intake import IntakeApp, IntakeSettings
from heraldry.server.settings import ServerSettings
from tests.server.asgi import Answer, _call
from tests.server.calls import Calls, Response

OWN = "http://localhost:8080"
FRIEND = "https://friend.example"
EVIL = "https://evil.example"
JSON = "application/json"


@pytest.fixture
def registry() -> Iterator[Calls]:
    opened = Calls(ServerSettings(wire=RC4, origins=(FRIEND,), hosts=("registry.example",)))
    opened("PUT", "/dirs/d1", b"{}")
    yield opened
    opened.close()


Send = Callable[..., Answer]


@pytest.fixture
def send(tmp_path: Path) -> Iterator[Send]:
    """Requests to an intake whose host is ``localhost:8080`` unless another is given."""
    settings = IntakeSettings(origins=(FRIEND,), hosts=("intake.example",), token=None)
    with RawLogWriter(tmp_path) as log:

        def sent(method: str, *headers: tuple[str, str], host: str = "localhost:8080") -> Answer:
            app = IntakeApp(log, settings)

            async def served(scope, receive, out):
                scope["headers"] = [(b"host", host.encode()), *scope["headers"][1:]]
                await app(scope, receive, out)

            return asyncio.run(_call(served, method, "/in", headers, b"{}"))

        yield sent


FOREIGN = [
    pytest.param({"Origin": EVIL}, id="origin"),
    pytest.param({"Origin": "null"}, id="sandbox"),
    pytest.param({"Origin": "http://localhost:9999"}, id="other-port"),
    pytest.param({"Origin": "http://localhost.evil.example:8080"}, id="looks-alike"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, id="no-origin"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, id="same-site"),
    pytest.param({"Origin": OWN, "Sec-Fetch-Site": "cross-site"}, id="redirected"),
    pytest.param({"Origin": EVIL, "Sec-Fetch-Site": "same-origin"}, id="contradiction"),
]
WELCOME = [
    pytest.param({}, id="no-browser"),
    pytest.param({"Origin": OWN}, id="own-page"),
    pytest.param({"Origin": "https://localhost:8080"}, id="own-page-behind-tls"),
    pytest.param({"Origin": OWN, "Sec-Fetch-Site": "same-origin"}, id="own-page-now"),
    pytest.param({"Sec-Fetch-Site": "none"}, id="typed"),
    pytest.param({"Origin": FRIEND, "Sec-Fetch-Site": "cross-site"}, id="allowed"),
]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE"])
@pytest.mark.parametrize("headers", FOREIGN)
def test_a_foreign_page_writes_nothing(
    registry: Calls, headers: dict[str, str], method: str
) -> None:
    before = registry.get("/export").body
    body = b"" if method == "DELETE" else b'{"name":"evil"}'
    refused = registry(method, "/dirs/d1", body, headers | {"Content-Type": JSON})
    assert (refused.status, refused.json["type"]) == (403, "urn:heraldry:error:foreign_page")
    assert "--allow-origin" in refused.json["detail"]
    assert registry.get("/export").body == before


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_foreign_page_may_ask_what_it_cannot_read(
    registry: Calls, headers: dict[str, str]
) -> None:
    for method in ("GET", "HEAD", "OPTIONS"):
        shown = registry(method, "/dirs/d1", headers=headers)
        assert (shown.status, shown.header("access-control-allow-origin")) == (200, None)


@pytest.mark.parametrize("headers", WELCOME)
def test_others_write(registry: Calls, headers: dict[str, str]) -> None:
    done = registry("PATCH", "/dirs/d1", b'{"name":"a"}', headers | {"Content-Type": JSON})
    assert (done.status, done.json["name"]) == (200, "a")


def test_behind_a_proxy_the_address_that_clients_see_is_ours() -> None:
    calls = Calls(ServerSettings(wire=RC4, base_url="https://Registry.example/reg", hosts=()))
    page = {"Origin": "https://registry.example", "Content-Type": JSON}
    for host in ("registry.example", "127.0.0.1:8080"):
        assert calls("PUT", "/dirs/d1", b"{}", page | {"Host": host}).status in (200, 201)
    forwarded = {"Host": "evil.example", "X-Forwarded-Host": "registry.example"}
    assert calls("GET", "/", headers=forwarded).status == 403


@pytest.mark.parametrize("page", [{"Origin": FRIEND}, {"Origin": OWN}, {"Sec-Fetch-Site": "none"}])
@pytest.mark.parametrize(
    ("content_type", "allowed"),
    [
        ("application/json; charset=utf-8", True),
        ("Application/JSON", True),
        ("text/json", True),
        ("application/merge-patch+json", True),
        ("text/plain", False),
        ("text/plain;application/json", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        (None, False),
    ],
)
def test_json_of_a_page_has_the_type_of_json(
    registry: Calls, page: dict[str, str], content_type: str | None, allowed: bool
) -> None:
    typed = {} if content_type is None else {"Content-Type": content_type}
    done: Response = registry("POST", "/dirs", b'{"d2":{}}', page | typed)
    assert done.status == (200 if allowed else 403)
    if not allowed:
        assert done.json["type"] == "urn:heraldry:error:page_media_type"
    assert registry.get("/dirs/d2").status == (200 if allowed else 404)
    assert registry("POST", "/dirs", b'{"d3":{}}', typed).status == 200  # no browser


@pytest.mark.parametrize("content_type", ["text/plain", "image/png", None])
def test_a_document_of_an_allowed_page_has_any_type(
    registry: Calls, content_type: str | None
) -> None:
    typed = {} if content_type is None else {"Content-Type": content_type}
    assert registry("PUT", "/dirs/d1/files/f1", b"{}", {"Origin": FRIEND} | typed).status == 201
    assert registry("DELETE", "/dirs/d1/files/f1", b"", {"Origin": FRIEND}).status == 204


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST"])
@pytest.mark.parametrize("path", ["/", "/dirs/d1", "/healthz", "/metrics", "/openapi.json"])
def test_a_rebound_host_reaches_nothing(registry: Calls, method: str, path: str) -> None:
    before = registry.get("/export").body
    page = {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}
    refused = registry(method, path, b"", page | {"Sec-Fetch-Site": "same-origin"})
    assert refused.status == 403
    if method != "HEAD":
        assert refused.json["type"] == "urn:heraldry:error:foreign_host"
        assert "--allow-host evil.example" in refused.json["detail"]
    assert registry.get("/export").body == before


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost", True),
        ("LOCALHOST:1", True),
        ("localhost.:8080", True),
        ("app.localhost:8080", True),
        ("127.0.0.1:8080", True),
        ("127.8.9.1", True),
        ("[::1]:8080", True),
        ("registry.example", True),
        ("Registry.Example.:80", True),
        ("sub.registry.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("evillocalhost", False),
        ("192.168.1.5:8080", False),
        ("[fe80::1]", False),
    ],
)
def test_hosts_of_ours(registry: Calls, send: Send, host: str, ours: bool) -> None:
    assert registry.get("/dirs/d1", Host=host).status == (200 if ours else 403)
    host = host.lower().replace("registry", "intake")
    assert send("POST", host=host).status == (202 if ours else 403)


@pytest.mark.parametrize("hosts", [None, ("*",)], ids=["unchecked", "any"])
def test_every_host_where_that_is_wanted(hosts: tuple[str, ...] | None) -> None:
    calls = Calls(ServerSettings(wire=RC4, hosts=hosts))
    assert calls.get("/", Host="evil.example").status == 200


def log_end(tmp_path: Path) -> int:
    return RawLog(tmp_path).end()


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_foreign_page_sends_no_message(
    send: Send, headers: dict[str, str], method: str, tmp_path: Path
) -> None:
    refused = send(method, *headers.items(), ("Content-Type", "text/plain"))
    assert (refused.status, refused.headers["content-type"]) == (403, "application/problem+json")
    assert b"--allow-origin" in refused.body
    assert log_end(tmp_path) == 0


@pytest.mark.parametrize("headers", WELCOME)
def test_others_send_messages(send: Send, headers: dict[str, str], tmp_path: Path) -> None:
    assert send("POST", *headers.items(), ("Content-Type", "text/plain")).status == 202
    assert log_end(tmp_path) == 1


def test_a_browser_that_asks_an_intake_before_it_sends(send: Send) -> None:
    asked = ("Access-Control-Request-Method", "POST")
    granted = send("OPTIONS", ("Origin", FRIEND), asked)
    assert (granted.status, granted.headers["access-control-allow-origin"]) == (200, FRIEND)
    assert granted.headers["access-control-allow-methods"] == granted.headers["allow"]
    assert granted.headers["access-control-allow-headers"] == "*, authorization"
    refused = send("OPTIONS", ("Origin", EVIL), asked)
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    ("headers", "host", "granted"),
    [
        pytest.param({}, "localhost", True, id="a-sender"),
        pytest.param({"Origin": FRIEND}, "localhost", True, id="an-allowed-page"),
        pytest.param({"Origin": EVIL}, "localhost", False, id="a-foreign-page"),
        pytest.param({}, "evil.example", False, id="a-rebound-host"),
    ],
)
def test_who_is_granted_a_webhook(
    send: Send, headers: dict[str, str], host: str, granted: bool
) -> None:
    wish = ("WebHook-Request-Origin", "sender.example")
    answer = send("OPTIONS", wish, *headers.items(), host=host)
    assert answer.status == (200 if granted else 403)
    assert ("webhook-allowed-origin" in answer.headers) is granted
