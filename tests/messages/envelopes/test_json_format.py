"""The JSON event format: one event in an object, many in an array."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from heraldry.errors import MessageError
from heraldry.messages.envelopes import json_format
from heraldry.messages.message import Message
from tests.messages.envelopes.events import EVENT


def structured(**members: Any) -> tuple[dict[str, Any], bytes | None, str | None]:
    return json_format.read(json.dumps({**EVENT, **members}).encode())


@pytest.mark.parametrize(
    ("members", "payload", "kind"),
    [
        pytest.param({}, None, None, id="none"),
        pytest.param({"datacontenttype": "a/b"}, None, "a/b", id="only a type"),
        pytest.param({"data": {"a": 1}}, b'{"a": 1}', "application/json", id="JSON is implied"),
        pytest.param({"data": "x"}, b'"x"', "application/json", id="a JSON string"),
        pytest.param({"data": None}, b"null", "application/json", id="null"),
        pytest.param(
            {"data": "x", "datacontenttype": "text/plain"}, b"x", "text/plain", id="a text"
        ),
        pytest.param(
            {"data": [1], "datacontenttype": "text/plain"}, b"[1]", "text/plain", id="JSON as text"
        ),
        pytest.param(
            {"data": "x", "datacontenttype": "a/b+json"}, b'"x"', "a/b+json", id="JSON suffix"
        ),
        pytest.param({"data_base64": "/w=="}, b"\xff", None, id="of bytes nothing is implied"),
        pytest.param(
            {"data_base64": "e30=", "datacontenttype": "application/json"},
            b"{}",
            "application/json",
            id="bytes that say JSON",
        ),
        pytest.param({"data_base64": None, "data": 1}, b"1", "application/json", id="null bytes"),
    ],
)
def test_the_payload_of_an_event(
    members: dict[str, Any], payload: bytes | None, kind: str | None
) -> None:
    attributes, found, content_type = structured(**members)
    assert (found, content_type) == (payload, kind)
    assert not {"data", "data_base64"} & attributes.keys()


def test_the_last_of_equal_members_wins() -> None:
    found = json_format.read(b'{"data":1,"id":"a","data":{"x":  2},"id":"b"}')
    assert found == ({"id": "b"}, b'{"x":  2}', "application/json")


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        pytest.param(b"[]", "not-a-message", id="no object"),
        pytest.param(b"", "json", id="nothing"),
        pytest.param(b'{"data":"\xff"}', "json", id="not UTF-8 inside"),
        pytest.param(b'{"data":[01]}', "json", id="not JSON inside"),
        pytest.param(b'{"data":1,"data_base64":""}', "not-a-message", id="both"),
        pytest.param(b'{"data_base64":5}', "base64", id="no base64"),
    ],
)
def test_what_is_no_event(document: bytes, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        json_format.read(document)
    assert error.value.problems[0].rule == rule


@pytest.mark.parametrize(
    ("payload", "kind", "member"),
    [
        pytest.param(b'{"a": 1.0}', None, {"data": {"a": 1.0}}, id="JSON"),
        pytest.param(b"1", "application/json", {"data": 1}, id="JSON need not be said"),
        pytest.param(b"no JSON", None, {"data_base64": "bm8gSlNPTg=="}, id="not JSON"),
        pytest.param(
            b"no JSON",
            "application/json",
            {"data_base64": "bm8gSlNPTg==", "datacontenttype": "application/json"},
            id="not what it says",
        ),
        pytest.param(b" 1", None, {"data_base64": "IDE="}, id="white space would be lost"),
        pytest.param(b"1,2", None, {"data_base64": "MSwy"}, id="two texts"),
        pytest.param(b"1", "text/plain", {"datacontenttype": "text/plain", "data": "1"}, id="text"),
        pytest.param(b"\xff", "a/b", {"datacontenttype": "a/b", "data_base64": "/w=="}, id="bytes"),
    ],
)
def test_the_member_a_payload_is_written_as(
    payload: bytes, kind: str | None, member: dict[str, Any]
) -> None:
    event = Message(attributes=EVENT, payload=payload, content_type=kind)
    assert json.loads(json_format.write(event)) == EVENT | member


def test_one_line() -> None:
    for end in (b"\n", b"\r"):
        event = Message(attributes=EVENT, payload=b"[1," + end + b"2]")
        assert end in json_format.write(event)
        assert end not in json_format.write(event, one_line=True)


def test_whole_bytes() -> None:
    event = Message(attributes={**EVENT, "n": 5}, payload=b'{"a": 1}', content_type=None)
    document = b'{"specversion":"1.0","id":"1","source":"/s","type":"t","n":5,"data":{"a": 1}}'
    assert json_format.write(event) == document
    assert json_format.write_batch([event, event]) == b"[" + document + b"," + document + b"]"
    found = json_format.read(document)
    assert found == ({**EVENT, "n": 5}, b'{"a": 1}', "application/json")
    assert json_format.read_batch(b" [ " + document + b"\n,\t" + document + b"] ", 2) == (
        found,
        found,
    )


def test_an_empty_batch() -> None:
    assert json_format.write_batch([]) == b"[]"
    assert json_format.read_batch(b"[]", 0) == json_format.read_batch(b" [ ]\n", 0) == ()


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        pytest.param(b"", "not-a-message", id="nothing"),
        pytest.param(b"{}", "not-a-message", id="one event"),
        pytest.param(b"[{},{}]", "too-large", id="one too many"),
        pytest.param(b"[1]", "not-a-message", id="no event"),
        pytest.param(b'[{"data":NaN}]', "json", id="not quite JSON"),
        pytest.param(b"[", "json", id="open"),
        pytest.param(b"[{}", "json", id="not closed"),
        pytest.param(b"[{} {}]", "json", id="no comma"),
        pytest.param(b"[{},]", "json", id="comma at the end"),
        pytest.param(b"[{]", "json", id="a wrong event"),
        pytest.param(b"[]]", "json", id="more than an array"),
        pytest.param(b"[\xff]", "json", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "json", id="deep"),
        pytest.param(b'[{"a":' * 100_000, "json", id="deep objects"),
    ],
)
def test_what_is_no_batch(document: bytes, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        json_format.read_batch(document, 1)
    assert error.value.problems[0].rule == rule


def test_a_huge_batch_ends_at_its_limit() -> None:
    start = time.process_time()
    with pytest.raises(MessageError, match="more than 10 events"):
        json_format.read_batch(b"[" + b"{}," * 5_000_000 + b"{}]", 10)
    assert time.process_time() - start < 6
