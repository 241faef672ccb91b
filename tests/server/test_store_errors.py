"""A database that fails: what a client is told of it, and what not."""

from __future__ import annotations

import pytest

from heraldry.errors import StoreBusyError, StoreError
from tests.server.calls import Calls

SECRET = "postgresql: host=db.internal"


@pytest.mark.parametrize(
    ("error", "status", "name", "again"),
    [
        pytest.param(StoreBusyError(SECRET, "no connection"), 503, "server_busy", "1", id="busy"),
        pytest.param(StoreError(SECRET, "disk full"), 500, "server_error", None, id="broken"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_database_that_fails(
    calls: Calls,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    method: str,
    error: StoreError,
    status: int,
    name: str,
    again: str | None,
) -> None:
    def fail() -> None:
        raise error

    with monkeypatch.context() as patched:
        for question in ("read", "write", "revision"):
            patched.setattr(calls.registry.store, question, fail)
        failed = calls(method, "/dirs/d1", b"{}" if method == "PUT" else b"")
    assert (failed.status, failed.error, failed.json["subject"]) == (status, name, "/dirs/d1")
    assert failed.header("Retry-After") == again
    assert SECRET.encode() not in failed.body
    assert error.reason in caplog.text  # whoever runs the server is told
    assert calls.put("/dirs/d1", {}).status == 201
