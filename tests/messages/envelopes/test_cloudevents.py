"""CloudEvents: what every event has, what a definition implies, and the JSON format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import normalize
from heraldry.model.definition import NOW, Definition
from heraldry.model.xid import Xid
from tests.messages.wires import events

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}


def structured(**members: Any) -> tuple[dict[str, Any], bytes | None, str | None]:
    return cloudevents.read_structured(json.dumps({**EVENT, **members}).encode())


def definition(**members: Any) -> Definition:
    xid = Xid.parse("/messagegroups/g/messages/m")
    return Definition(xid=xid, envelope="CloudEvents/1.0", **members)


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
        pytest.param({"data_base64": "/w=="}, b"\xff", "application/json", id="bytes"),
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
    found = cloudevents.read_structured(b'{"data":1,"id":"a","data":{"x":  2},"id":"b"}')
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
        cloudevents.read_structured(document)
    assert error.value.problems[0].rule == rule


@given(events("structured"))
@settings(max_examples=500)
def test_read_inverts_write(event: Message) -> None:
    message = normalize(event)
    found = cloudevents.read_structured(cloudevents.write_structured(message))
    assert found == (message.attributes, message.payload, message.content_type)
    assert message.payload == event.payload


@pytest.mark.parametrize(
    ("payload", "kind", "member"),
    [
        pytest.param(b'{"a": 1.0}', None, {"data": {"a": 1.0}}, id="JSON"),
        pytest.param(b"no JSON", None, {"data_base64": "bm8gSlNPTg=="}, id="not JSON"),
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
    assert json.loads(cloudevents.write_structured(event)) == EVENT | member


def test_one_line() -> None:
    for end in (b"\n", b"\r"):
        event = Message(attributes=EVENT, payload=b"[1," + end + b"2]")
        assert end in cloudevents.write_structured(event)
        assert end not in cloudevents.write_structured(event, one_line=True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, [], id="good"),
        pytest.param({"id": ""}, [("id", "required")], id="empty id"),
        pytest.param({"type": None}, [("type", "required")], id="no type"),
        pytest.param({"specversion": "0.3"}, [("specversion", "constant")], id="old"),
        pytest.param({"myExt": "x"}, [("myExt", "name")], id="name"),
        pytest.param({"time": "now"}, [("time", "type")], id="time"),
        pytest.param({"source": "a b"}, [("source", "type")], id="source"),
        pytest.param({"dataschema": "/relative"}, [("dataschema", "type")], id="dataschema"),
        pytest.param({"id": 5}, [("id", "type")], id="number as id"),
        pytest.param({"ext": 5, "flag": True, "raw": b"\xff"}, [], id="extensions"),
        pytest.param({"ext": 2**31}, [("ext", "type")], id="large integer"),
        pytest.param({"ext": {"a": 1}}, [("ext", "type")], id="object"),
        pytest.param({"ext": 1.5}, [("ext", "type")], id="fraction"),
    ],
)
def test_check(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    problems = cloudevents.check({**EVENT, **changes})
    assert [(p.path, p.rule) for p in problems] == [(f"attributes.{n}", r) for n, r in expected]


def test_implied_properties() -> None:
    found = cloudevents.properties(
        definition(
            envelopemetadata={
                "type": {"value": "t", "required": False},
                "subject": {"type": "urireference"},
                "gate": {"value": "A1"},
            },
            dataschemaformat="JsonSchema/draft-07",
            dataschemauri="https://example.com/s.json",
        )
    )
    assert {name for name, one in found.items() if one.required} == set(cloudevents.REQUIRED)
    assert {name: one.value for name, one in found.items() if one.has_value} == {
        "specversion": "1.0",
        "type": "t",
        "time": NOW,
        "gate": "A1",
        "datacontenttype": "application/json",
        "dataschema": "https://example.com/s.json",
    }
    types = {name: one.type for name, one in found.items()}
    assert types == {**cloudevents.ATTRIBUTES, "subject": "urireference", "gate": "string"}
