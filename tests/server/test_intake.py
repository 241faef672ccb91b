"""Taking messages in over HTTP: what is answered, and what is then in the log."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from heraldry.messages import line
from heraldry.messages.message import Message
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.server.intake import IntakeApp, IntakeSettings
from tests.server.asgi import Answer, _call

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": {"a": 1}}
BATCH = "application/cloudevents-batch+json"


@dataclass
class Door:
    """An application with its log; every call has an event loop of its own."""

    writer: RawLogWriter
    settings: IntakeSettings

    def post(self, url: str = "/", body: bytes = b"", *headers: tuple[str, str]) -> Answer:
        return self.call("POST", url, body, *headers)

    def call(self, method: str, url: str, body: bytes = b"", *headers: tuple[str, str]) -> Answer:
        app = IntakeApp(self.writer, self.settings)
        return asyncio.run(_call(app, method, url, headers, body))

    def lines(self) -> list[bytes]:
        log = RawLog(self.writer.folder)
        return list(log.read(0, log.end()))

    def messages(self) -> list[Message]:
        return [line.read(one) for one in self.lines()]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    with RawLogWriter(tmp_path) as writer:
        yield Door(writer, IntakeSettings(max_body=1000))


def test_a_post_is_a_message_with_its_path_query_and_headers(door):
    answer = door.post("/shops/lisbon%2F1?a=1&b=", b"hello", ("Content-Type", "text/plain"))
    assert (answer.status, answer.body) == (202, b"")
    assert json.loads(door.lines()[0]) == {
        "protocol": "HTTP",
        "metadata": {
            "method": "POST",
            "path": "/shops/lisbon%2F1",
            "query": {"a": "1", "b": ""},
            "headers": [
                {"name": "host", "value": "testserver"},
                {"name": "content-type", "value": "text/plain"},
                {"name": "content-length", "value": "5"},
            ],
        },
        "payload_text": "hello",
    }


def test_below_a_path_messages_have_what_follows_it(door):
    door.settings = IntakeSettings(path="/hooks%2F1")
    answers = [door.post(path, b"x").status for path in ("/hooks%2F1", "/hooks%2F1/a?b=1")]
    assert answers == [202, 202]
    elsewhere = ("/", "/hooks/1", "/hooks%2F10", "/a/hooks%2F1")
    assert [door.post(path, b"x").status for path in elsewhere] == [404] * 4
    assert door.call("OPTIONS", "/").status == 404
    assert door.call("GET", "/metrics").status == 200
    assert [one.metadata["path"] for one in door.messages()] == ["/", "/a"]


def test_events_in_binary_and_structured_mode(door):
    attributes = [(f"ce-{name}", str(EVENT[name])) for name in ("specversion", "id", "type")]
    door.post("/", b'{"a":1}', *attributes, ("ce-source", "/s"), ("Content-Type", "text/json"))
    door.post("/", json.dumps(EVENT).encode(), ("Content-Type", "application/cloudevents+json"))
    binary, structured = door.messages()
    assert (binary.mode, structured.mode) == ("binary", "structured")
    assert binary.attributes["id"] == structured.attributes["id"] == "1"
    assert binary.payload == b'{"a":1}'


def test_a_batch_is_a_line_for_each_event(door):
    body = json.dumps([EVENT | {"id": str(number)} for number in range(4)]).encode()
    assert door.post("/in", body, ("Content-Type", BATCH)).status == 202
    packed = ("Content-Type", BATCH), ("Content-Encoding", "gzip")
    assert door.post("/in", gzip.compress(body), *packed).status == 202
    assert [one.attributes["id"] for one in door.messages()] == ["0", "1", "2", "3"] * 2
    assert door.messages()[0].metadata["path"] == "/in"


def test_a_broken_batch_is_refused_or_kept(door):
    answer = door.post("/", b'[{"a":', ("Content-Type", BATCH))
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/problem+json"
    told = json.loads(answer.body)
    assert (told["status"], told["title"]) == (400, "Bad Request")
    assert "has an event that is not JSON" in told["detail"]
    assert door.lines() == []
    door.settings = IntakeSettings(keep_invalid=True)
    assert door.post("/", b'[{"a":', ("Content-Type", BATCH)).status == 202
    assert json.loads(door.lines()[0])["payload_text"] == '[{"a":'


def test_what_is_too_long(door):
    assert door.post("/", b"a" * 1000).status == 202
    answer = door.post("/", b"a" * 1001)
    assert (answer.status, len(door.lines())) == (413, 1)
    assert json.loads(answer.body)["detail"] == "At most 1000 bytes are taken."


BINARY = b"\xff" * (line.MAX_LINE // 4 * 3)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        pytest.param(BINARY, "image/png", id="base64"),
        pytest.param(b"a" * line.MAX_LINE, "text/plain", id="text"),
        pytest.param(
            json.dumps([EVENT, EVENT | {"data": "a" * line.MAX_LINE}]).encode(), BATCH, id="batch"
        ),
    ],
)
@pytest.mark.parametrize("keep", [False, True], ids=["refused", "kept-invalid"])
def test_what_could_never_be_landed(door, body, content, keep):
    door.settings = IntakeSettings(max_body=2 * line.MAX_LINE, keep_invalid=keep)
    answer = door.post("/", body, ("Content-Type", content))
    assert (answer.status, door.lines()) == (413, [])
    assert f"a line of at most {line.MAX_LINE} bytes" in json.loads(answer.body)["detail"]


def test_the_largest_that_can_be_landed(door):
    door.settings = IntakeSettings(max_body=2 * line.MAX_LINE)
    assert door.post("/", BINARY[:-1000]).status == 202
    events = [EVENT | {"id": one, "data": one * (line.MAX_LINE - 1000)} for one in "ab"]
    assert door.post("/", json.dumps(events).encode(), ("Content-Type", BATCH)).status == 202
    assert [len(one.payload) > 2**23 for one in door.messages()] == [True] * 3


def test_a_query_that_is_not_utf_8(door):
    assert door.post("/?a=%ff", b"a").status == 400


def test_a_token_is_demanded_and_never_kept(door):
    door.settings = IntakeSettings(token="s3cret")
    answer = door.post("/", b"a")
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert door.post("/", b"a", ("Authorization", "Bearer s3cre")).status == 401
    assert door.call("GET", "/healthz").status == 200
    shown = ("Authorization", "Bearer s3cret"), ("Cookie", "s3cret")
    assert door.post("/", b"a", *shown).status == 202
    (kept,) = door.lines()
    assert b"s3cret" not in kept
    assert "s3cret" not in repr(door.settings)


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (["bearer s3cret"], 202),
        (["BEARER  s3cret"], 202),
        (["Bearers3cret"], 401),
        (["Basic s3cret"], 401),
        (["Bearer S3CRET"], 401),
        (["Bearer s3cret", "Bearer s3cret"], 401),
    ],
)
def test_the_scheme_of_a_token_has_any_case(door, shown, status):
    door.settings = IntakeSettings(token="s3cret")
    headers = [("Authorization", value) for value in shown]
    assert door.post("/", b"a", *headers).status == status


@pytest.mark.parametrize("content", ["text/plain", BATCH])
@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "api-key", "apikey"),
        *("X-Access-Token", "X-Auth-Token", "Ocp-Apim-Subscription-Key", "aeg-sas-key"),
        *("X-Functions-Key", "X-Goog-Api-Key", "X-Amz-Security-Token", "X-Gitlab-Token"),
    ],
)
def test_headers_that_let_senders_in_are_never_kept(door, name, content):
    body = json.dumps([EVENT]).encode()
    assert door.post("/in?a=1", body, (name, "s3cret"), ("Content-Type", content)).status == 202
    (kept,) = door.lines()
    assert b"s3cret" not in kept
    assert name.lower().encode() not in kept.lower()


@pytest.mark.parametrize(
    "name", ["access_token", "Access_Token", "access%5Ftoken", "api_key", "api-key", "apikey"]
)
def test_parameters_that_let_senders_in_are_never_kept(door, name):
    assert door.post(f"/in?a=1&{name}=s3cret&{name}=s3cret&token=2", b"x").status == 202
    (kept,) = door.lines()
    assert b"s3cret" not in kept
    assert json.loads(kept)["metadata"]["query"] == {"a": "1", "token": "2"}
    assert json.loads(kept)["metadata"]["path"] == "/in"


def test_a_full_disk_takes_nothing(door, monkeypatch):
    def full(handle, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        answer = door.post("/", b"a")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert "No space left on device" in json.loads(answer.body)["detail"]
    assert door.lines() == []
    assert door.post("/", b"b").status == 202
    assert door.messages()[0].payload == b"b"


ALLOWED = "POST, PUT, PATCH, DELETE, OPTIONS"


@pytest.mark.parametrize("method", ["GET", "HEAD", "TRACE"])
def test_who_only_looks_sends_no_message(door, method):
    answer = door.call(method, "/in", b"a")
    assert (answer.status, answer.headers["allow"]) == (405, ALLOWED)
    assert door.lines() == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_messages_keep_their_method(door, method):
    assert door.call(method, "/in", b"a").status == 202
    assert [one.metadata["method"] for one in door.messages()] == [method]


def test_the_handshake_of_webhooks(door):
    answer = door.call("OPTIONS", "/in", b"", ("WebHook-Request-Origin", "shop.example.com"))
    assert (answer.status, answer.headers["webhook-allowed-origin"]) == (200, "*")
    assert "webhook-allowed-origin" not in door.call("OPTIONS", "/in").headers


def test_requests_at_once_share_a_flush_and_are_counted(door):
    app = IntakeApp(door.writer, IntakeSettings())

    async def main() -> tuple[list[Answer], str]:
        posts = [_call(app, "POST", "/", (), b"%d" % number) for number in range(300)]
        answers = await asyncio.gather(*posts, _call(app, "GET", "/", (), b""))
        return answers, (await _call(app, "GET", "/metrics", (), b"")).body.decode()

    answers, metrics = asyncio.run(main())
    assert {one.status for one in answers} == {202, 405}
    assert len(door.lines()) == 300
    assert door.writer.syncs < 10
    measured = [one for one in metrics.splitlines() if not one.startswith("#")]
    assert measured[:5] == [
        'heraldry_intake_requests_total{status="202"} 300',
        'heraldry_intake_requests_total{status="405"} 1',
        "heraldry_intake_messages_total 300",
        "heraldry_intake_bytes_total 790",
        f"heraldry_intake_syncs_total {door.writer.syncs}",
    ]
