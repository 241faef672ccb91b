"""The reasons of a masked letter: they show neither a masked value nor what is in one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Rejected
from heraldry.model.problem import Problem
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import Masker
from heraldry.pipeline.letters.places import MASK
from tests.pipeline.letters.masked_letters import SECRET, STRUCTURED, masked
from tests.suites.streams import event, line


@pytest.mark.parametrize(
    ("found", "after"),
    [
        ('"hunter2-Geheim"', MASK),
        ("hunter2-Geheim", MASK),
        ('{"x":"hunter2-G…', MASK),
        ("Geheim", MASK),
        ('"much"', '"much"'),
        (None, None),
        ("", ""),
    ],
    ids=["quoted", "bare", "cut", "a part", "another value", "none", "empty"],
)
def test_reasons(found: str | None, after: str | None) -> None:
    problem = Problem(path="/y", rule="r", message=f"is {SECRET}", expected=found, found=found)
    told = masked(["/data/x"], line({"data": {"x": SECRET, "y": 1}}), problem)
    assert (told["found"], told["expected"], told["message"]) == (after, after, f"is {MASK}")
    inner = json.loads(told["problems"])[0]
    assert (inner["found"], inner["expected"], inner["rule"]) == (after, after, "r")
    assert json.loads(told["near"])[0]["problems"] == [inner]


def test_reasons_about_a_payload_that_was_withheld() -> None:
    whole = line(event("raw") | {"data_base64": base64.b64encode(b'{"email":"x@y"}').decode()})
    about = Problem(path="/email", rule="r", message="m", found="y")
    kind = Problem(path="attributes.type", rule="r", message="m", found="shop.raw")
    told = masked(["/data/email"], whole, about, kind)
    shown = [(one["path"], one["found"]) for one in json.loads(told["problems"])]
    assert shown == [("/", MASK), ("attributes.type", "shop.raw")]


@pytest.mark.parametrize(
    ("rules", "payload", "shown"),
    [
        (["*email*"], {"data_base64": "eyJlbWFpbCI6InhAeSJ9"}, "shop.raw"),
        (["/payload/email"], {"data": "email=x@y"}, "shop.raw"),
        (["/payload"], {"data_base64": "eyJlbWFpbCI6InhcdTAwNDB5In0="}, "shop.raw"),
        (["/payload/email", "/type"], {"data": "email=x@y"}, MASK),
    ],
    ids=["name", "pointer", "whole", "type"],
)
def test_reasons_about_an_event_on_a_protocol(
    rules: list[str], payload: dict[str, str], shown: str
) -> None:
    whole = {"protocol": "KAFKA", "metadata": STRUCTURED, "payload": event("raw") | payload}
    about = Problem(path="/email", rule="r", message="m", found="x@y")
    kind = Problem(path="attributes.type", rule="r", message="m", found="shop.raw")
    told = masked(rules, line(whole), about, kind)
    assert [one["found"] for one in json.loads(told["problems"])] == [
        MASK,
        MASK if rules == ["/payload"] else shown,
    ]


def test_reasons_about_an_event_that_was_withheld() -> None:
    text = json.dumps(event("raw", {"email": "x@y"}, subject="a b"), indent=1)
    whole = line({"protocol": "KAFKA", "metadata": STRUCTURED, "payload_text": text})
    places = ("attributes.subject", "content_type", "/email", "metadata.topic")
    reasons = [Problem(path=path, rule="r", message="m", found="dlq") for path in places]
    told = masked(["/subject"], whole, *reasons)
    assert [one["found"] for one in json.loads(told["problems"])] == [MASK, MASK, MASK, "dlq"]


# --- refused by a definition: what the judge itself says of a message


EMAIL = "ines@example.com"
NUMBER = {"type": "number"}


def definition(**more: Any) -> dict[str, Any]:
    """A definition of the events of type ``t``."""
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}} | more


def schema(**properties: Any) -> dict[str, Any]:
    """The same, with a schema for the payload."""
    inner = {"type": "object", "properties": properties}
    return definition(dataschemaformat="JSONSchema/draft-07", dataschema=inner)


def reasons_of(one: dict[str, Any], rules: list[str], whole: Any) -> dict[str, Any]:
    """The masked letter of a message that its definition refuses, without the line."""
    group = {"messagegroupid": "g", "messages": {"m": one}}
    catalog = load_bytes(json.dumps({"messagegroups": {"g": group}}).encode(), "catalog.json")
    verdict = Judge(catalog).judge(line(whole))
    assert isinstance(verdict, Rejected)
    found = Masker.of(rules).letter(letter(line(whole), verdict))
    assert found.pop("masked")
    assert found.pop("line") != line(whole)
    return found


CUSTOMERS = schema(
    customers={
        "type": "object",
        "additionalProperties": {"required": ["total"], "properties": {"total": NUMBER}},
    }
)
ORDER = event("raw", {"customers": {EMAIL: {"total": "much"}}}, type="t")
ENCODED = base64.b64encode(json.dumps(ORDER["data"]).encode()).decode()


@pytest.mark.parametrize(
    ("rules", "whole", "path"),
    [
        pytest.param(["/data/customers"], ORDER, "/customers", id="pointer"),
        pytest.param(["customers"], ORDER, "/customers", id="name"),
        pytest.param(["/data"], ORDER, "/", id="payload"),
        pytest.param(
            ["/data/customers"],
            {n: v for n, v in ORDER.items() if n != "data"} | {"data_base64": ENCODED},
            "/",
            id="withheld payload",
        ),
        pytest.param(
            ["/data/customers"],
            {"protocol": "KAFKA", "metadata": STRUCTURED, "payload": ORDER},
            "/customers",
            id="event on a protocol",
        ),
    ],
)
def test_a_path_goes_no_deeper_than_what_is_masked(
    rules: list[str], whole: dict[str, Any], path: str
) -> None:
    told = reasons_of(CUSTOMERS, rules, whole)
    assert (told["path"], told["found"]) == (path, MASK)
    assert EMAIL not in repr(told)


def test_paths_beside_what_is_masked_stay() -> None:
    data = {"customer": {"total": 1}, "items": [{"total": "much"}]}
    one = schema(items={"items": {"properties": {"total": NUMBER}}})
    told = reasons_of(one, ["/data/customer"], event("raw", data, type="t"))
    assert told["path"] == "/items/0/total"
    assert (told["message"], told["found"]) == ("is not of type number", '"much"')


def test_a_name_that_a_format_spells_in_another_way() -> None:
    problem = Problem(path=f"/customer_list/{EMAIL}/a", rule="r", message="m", found="1")
    whole = line({"data": {"customerList": {EMAIL: {"a": 1}}}})
    told = masked(["customerlist"], whole, problem)
    assert (told["path"], told["found"]) == (f"/customer_list/{MASK}/{MASK}", MASK)


@pytest.mark.parametrize(
    ("one", "data", "path"),
    [
        pytest.param(
            schema(customer={"additionalProperties": False}),
            {"customer": {EMAIL: 1}},
            "/customer",
            id="members that are too many",
        ),
        pytest.param(
            schema() | {"dataschema": {"type": "array"}},
            {"customer": {EMAIL: {}}},
            "/",
            id="a whole payload",
        ),
        pytest.param(
            schema() | {"dataschema": {"type": "array"}},
            {"customer": {"x" * 50 + EMAIL: {}}},
            "/",
            id="a payload cut within a name",
        ),
    ],
)
def test_names_within_what_is_masked(one: dict[str, Any], data: Any, path: str) -> None:
    told = reasons_of(one, ["/data/customer"], event("raw", data, type="t"))
    assert (told["path"], told["found"]) == (path, MASK)
    assert "ines" not in repr(told)


@pytest.mark.parametrize("value", [True, False, None], ids=str)
@pytest.mark.parametrize("other", ["hiv", "whole"])
def test_truth_is_a_secret_like_any_other(value: bool | None, other: str) -> None:
    one = schema(hiv={"type": "string"})
    if other == "whole":
        one["dataschema"] = {"type": "array"}
    told = reasons_of(one, ["/data/hiv"], event("raw", {"hiv": value}, type="t"))
    assert told["path"] == ("/hiv" if other == "hiv" else "/")
    assert told["found"] == MASK
    assert json.loads(told["problems"])[0]["found"] == MASK


@pytest.mark.parametrize("value", [True, False, None, {"total": None}], ids=str)
def test_truth_hides_no_reasons_of_other_members(value: Any) -> None:
    one = schema(total={"type": ["number", "null", "boolean"]})
    whole = event("raw", {"total": "x", "email": value}, type="t")
    told = reasons_of(one, ["email"], whole)
    assert (told["path"], told["found"]) == ("/total", '"x"')
    assert set(told["expected"].split(" or ")) == {"boolean", "null", "number"}


@pytest.mark.parametrize(
    ("found", "after"),
    [
        ("null", "null"),
        ("true", "true"),
        ('"total"', '"total"'),
        ('"is null"', '"is null"'),
        ('{"a":null}', MASK),
        ("[true,null]", MASK),
        ('{"total":1}', MASK),
        ('{"a":"bcd","tot…', MASK),
        ('{"a":1}', '{"a":1}'),
    ],
)
@pytest.mark.parametrize("path", ["/y", "/email", "/email/total"])
def test_words_are_sought_in_what_may_hold_the_masked_value(
    found: str, after: str, path: str
) -> None:
    problem = Problem(path=path, rule="r", message="m", expected="null or total", found=found)
    told = masked(["email"], line({"data": {"email": {"total": None}, "y": 1}}), problem)
    shown = (after, "null or total") if path == "/y" else (MASK, MASK)
    assert (told["found"], told["expected"]) == shown


@pytest.mark.parametrize("protocol", ["HTTP", "NATS"])
def test_a_quoted_header(protocol: str) -> None:
    headers = {f"ce-{name}": value for name, value in event("raw", type="t").items()}
    headers["ce-subject"] = '"hunter2\\" Geheim"'
    whole = {"protocol": protocol, "metadata": {"headers": headers}}
    if protocol == "NATS":
        whole["metadata"] = {"subject": "s", "headers": headers}
    one = definition(protocol=protocol)
    one["envelopemetadata"] = {"type": {"value": "t"}, "subject": {"value": "s"}}
    told = reasons_of(one, ["/metadata/headers/ce-subject"], whole)
    assert (told["path"], told["found"]) == ("attributes.subject", MASK)
    assert "Geheim" not in repr(told)


def test_a_quoted_header_where_another_property_quotes_it() -> None:
    whole = line({"metadata": {"headers": {"x-key": '"hunter2\\" Geheim"'}}})
    problem = Problem(path="/y", rule="r", message="m", found='{"a":"hunter2\\" Geheim"}')
    assert masked(["x-key"], whole, problem)["found"] == MASK


def test_a_value_that_a_protocol_writes_in_another_way() -> None:
    wanted, given = (f"6f1c9a0e-4a52-4c3a-9d55-0e9d1f0e7a1{n}" for n in "ab")
    known = {"message-id": {"value": wanted, "type": "uuid"}}
    one = {"protocol": "AMQP/1.0", "protocoloptions": {"properties": known}}
    properties = {"message-id": {"uuid": given.upper()}}
    whole = {"protocol": "AMQP/1.0", "metadata": {"properties": properties}}
    told = reasons_of(one, ["/metadata/properties/message-id"], whole)
    assert (told["path"], told["found"]) == ("metadata.properties.message-id", MASK)
    assert given not in repr(told).lower()


@pytest.mark.parametrize(
    ("rules", "path", "after", "found"),
    [
        pytest.param(
            ["/metadata/headers"], "metadata.headers.a@b", "metadata.headers", MASK, id="headers"
        ),
        pytest.param(["/metadata"], "metadata.a@b", "metadata", MASK, id="metadata"),
        pytest.param(["a@b"], "metadata.headers.A@B", "metadata.headers.A@B", MASK, id="header"),
        pytest.param(["x"], "metadata.list.x", "metadata.list.x", MASK, id="header in a list"),
        pytest.param(["/metadata/headers"], "metadata.topic", "metadata.topic", "?", id="another"),
        pytest.param(["/protocol"], "protocol", "protocol", MASK, id="protocol"),
        pytest.param(["flag"], "attributes.flag", "attributes.flag", MASK, id="attribute"),
        pytest.param(["ce_flag"], "attributes.flag", "attributes.flag", MASK, id="its header"),
        pytest.param(["/payload"], "attributes.flag", "attributes.flag", MASK, id="of an event"),
        pytest.param(["/payload"], "attributes.A@b", "attributes", MASK, id="no attribute's name"),
        pytest.param(["/payload"], "metadata.topic", "metadata.topic", "?", id="beside an event"),
    ],
)
def test_places_that_are_no_pointers(rules: list[str], path: str, after: str, found: str) -> None:
    headers = {"a@b": "s1", "ce_flag": "s2"}
    inner = {"specversion": "1.0", "flag": "s3", "A@b": "s4"}
    metadata = {
        "topic": "t",
        "a@b": "s5",
        "headers": headers,
        "list": [{"name": "x", "value": "s6"}],
    }
    whole = line({"protocol": "KAFKA", "metadata": metadata, "payload": inner})
    told = masked(rules, whole, Problem(path=path, rule="r", message="m", found="?"))
    assert (told["path"], told["found"]) == (after, found)


def test_the_attributes_of_an_event_that_was_withheld() -> None:
    whole = line({"protocol": "KAFKA", "metadata": STRUCTURED, "payload_text": "{"})
    paths = ("attributes.type", "attributes.A@b", "protocol")
    told = masked(["/subject"], whole, *(Problem(path=p, rule="r", message="m") for p in paths))
    shown = [one["path"] for one in json.loads(told["problems"])]
    assert shown == ["attributes.type", "attributes", "protocol"]
