"""Pages of other origins."""

from __future__ import annotations

import pytest

from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

ORIGIN = "https://example.com"
GRANTED = "access-control-allow-origin"


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
def test_nobody_unless_named(calls: Calls, method: str) -> None:
    answer = calls(method, "/dirs/d1", b"{}" if method == "PUT" else b"", {"Origin": ORIGIN})
    assert answer.header(GRANTED) is None
    assert (answer.status == 403) is (method == "PUT")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("target", ["/", "/dirs/d1", "/dirs/d1/files/f1", "/export", "/model"])
def test_everybody(method: str, target: str) -> None:
    calls = Calls(ServerSettings(origins=("*",)))
    answer = calls(method, target, b"{}" if method == "PUT" else b"")
    assert answer.all(GRANTED) == ["*"]
    methods = answer.all("access-control-allow-methods")
    assert methods == calls("OPTIONS", target).all("allow")
    assert len(methods) == 1
    assert answer.header("vary") in (None, "accept-encoding")


@pytest.mark.parametrize(("origin", "granted"), [(ORIGIN, ORIGIN), ("https://evil.example", None)])
def test_only_those_named(origin: str, granted: str | None) -> None:
    calls = Calls(ServerSettings(origins=(ORIGIN, "http://localhost:5173")))
    for _ in range(2):  # the second time from the cache
        answer = calls.get("/", Origin=origin)
        assert (answer.header(GRANTED), answer.all("vary")) == (granted, ["origin"])
    assert calls.get("/").header(GRANTED) is None


@pytest.mark.covers("HT-03")
def test_a_browser_that_asks_before_a_write() -> None:
    calls = Calls(ServerSettings(origins=(ORIGIN,)))
    asked = {"Origin": ORIGIN, "Access-Control-Request-Headers": "xregistry-name"}
    answer = calls("OPTIONS", "/dirs/d1", b"", asked)
    assert (answer.status, answer.header(GRANTED)) == (200, ORIGIN)
    assert answer.header("access-control-allow-headers") == "*"
    assert answer.all("access-control-allow-methods") == answer.all("allow")
    assert answer.header("access-control-allow-credentials") is None
