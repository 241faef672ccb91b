"""CloudEvents: what every event has, and what a definition implies."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.model.definition import NOW, Definition
from heraldry.model.xid import Xid
from tests.messages.envelopes.events import EVENT


def definition(**members: Any) -> Definition:
    xid = Xid.parse("/messagegroups/g/messages/m")
    return Definition(xid=xid, envelope="CloudEvents/1.0", **members)


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
        pytest.param({"subject": ""}, [("subject", "type")], id="empty subject"),
        pytest.param({"ext": "a\x00"}, [("ext", "type")], id="control character"),
        pytest.param({"datacontenttype": "x"}, [("datacontenttype", "type")], id="media type"),
        pytest.param({"data": "x"}, [("data", "name")], id="data is no attribute"),
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


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(2**31, id="large integer"),
        pytest.param(1.5, id="fraction"),
        pytest.param(["a"], id="list"),
        pytest.param("\ud800", id="no UTF-8"),
    ],
)
def test_values_that_have_no_type(value: Any) -> None:
    with pytest.raises(MessageError) as error:
        cloudevents.stated(Message(attributes={"ext": value, "id": 2**31}))
    assert [(p.path, p.rule) for p in error.value.problems] == [
        ("attributes.ext", "type"),
        ("attributes.id", "type"),
    ]


def test_the_content_type_is_stated() -> None:
    message = Message(attributes={"id": "1", "x": None}, content_type="a/b")
    assert cloudevents.stated(message) == {"id": "1", "datacontenttype": "a/b"}
    stated = Message(attributes={"datacontenttype": "c/d"}, content_type="a/b")
    assert cloudevents.stated(stated) == {"datacontenttype": "c/d"}
