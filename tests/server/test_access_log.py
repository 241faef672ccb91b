"""The access log: one line for each request, which nothing in the request can break or betray."""

from __future__ import annotations

import io
import re

import pytest

from heraldry.server.access_log import AccessLog, mask_query
from tests.server.asgi import call
from tests.server.calls import Calls


def line(calls: Calls, method: str, target: str, body: bytes = b"") -> str:
    stream = io.StringIO()
    call(AccessLog(calls.app, stream), method, target, body=body)
    (told,) = stream.getvalue().splitlines()
    return told


def test_a_line_tells_who_asked_for_what_and_what_came_of_it(calls: Calls) -> None:
    told = line(calls, "PUT", "/dirs/d1?foo=1", b"{}")
    when, client, method, target, status, size, milliseconds = told.split(" ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", when)
    assert (client, method, target, status) == ("127.0.0.1", "PUT", "/dirs/d1?foo=1", "201")
    assert int(size) > 100
    assert float(milliseconds) >= 0


def test_what_was_refused_has_a_line(calls: Calls) -> None:
    assert " GET /nothing 404 " in line(calls, "GET", "/nothing")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("inline=*&sort=name", "inline=*&sort=name"),
        ("access_token=abc&x=1", "access_token=***&x=1"),
        ("a=1;Api-Key=abc", "a=1;Api-Key=***"),
        ("%74oken=abc", "%74oken=***"),
        ("password=a=b", "password=***"),
        ("X-Amz-Signature=abc", "X-Amz-Signature=***"),
        ("token", "token"),
    ],
)
def test_credentials_in_a_query_are_not_written(query: str, shown: str) -> None:
    assert mask_query(query) == shown


def test_control_characters_are_escaped(calls: Calls) -> None:
    told = line(calls, "GET", "/dirs/\x1b[31m\n\x7f é?\r=1")
    assert "/dirs/\\x1b[31m\\x0a\\x7f\\x20\\xc3\\xa9?\\x0d=1" in told


def test_a_stream_that_fails_stops_nothing(calls: Calls) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    assert call(AccessLog(calls.app, Full()), "GET", "/").status == 200
