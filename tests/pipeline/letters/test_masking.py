"""Masking: a letter never shows what a rule names, and otherwise stays as it is."""

from __future__ import annotations

import base64
import json
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heraldry.errors import UsageError
from heraldry.messages.protocols import http
from heraldry.messages.raw_line import raw_line
from heraldry.messages.verdict import Near, Rejected
from heraldry.model.problem import Problem
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import MASK, Masker
from heraldry.pipeline.sources import file_reading
from tests.pipeline.landing.without_spark import Setting, judge_of
from tests.suites.streams import WIDE, event, line

SECRET = "hunter2-Geheim"
SETTING = Setting(catalog=WIDE)
STRUCTURED = {"headers": {"content-type": "application/cloudevents+json"}}


def masked(rules: list[str], whole: bytes, *problems: Problem) -> dict[str, Any]:
    """A letter of a line, refused for some reasons, after masking."""
    given_problems = problems or (Problem(path="/", rule="type", message="is wrong"),)
    near = (Near(definition="/d", score=0.5, problems=given_problems),)
    verdict = Rejected(stage="match", problems=given_problems, near=near)
    return Masker.of(rules).letter(letter(whole, verdict))


@pytest.mark.parametrize(
    ("rules", "before", "after"),
    [
        pytest.param(
            ["/data/customer/email"],
            b'{"data" : {"customer":{ "email" :"a@b", "name":"x"}} }',
            b'{"data" : {"customer":{ "email" :"***", "name":"x"}} }',
            id="pointer",
        ),
        pytest.param(
            ["/data/*/card"], b'{"data":[{"card":1}]}', b'{"data":[{"card":"***"}]}', id="*"
        ),
        pytest.param(["/data/1"], b'{"data":[1,2]}', b'{"data":[1,"***"]}', id="index"),
        pytest.param(
            ["/DATA/Email"], b'{"data":{"eMail":1}}', b'{"data":{"eMail":"***"}}', id="case"
        ),
        pytest.param(["/data/a~1b"], b'{"data":{"a/b":1}}', b'{"data":{"a/b":"***"}}', id="escape"),
        pytest.param(
            ["/data/email"],
            b'{"protocol":"KAFKA","payload":{"email":1}}',
            b'{"protocol":"KAFKA","payload":{"email":"***"}}',
            id="data is the payload",
        ),
        pytest.param(
            ["/data/email", "/subject"],
            b'{"payload":{"specversion":"1.0","subject":"s","data":{"email":1}}}',
            b'{"payload":{"specversion":"1.0","subject":"***","data":{"email":"***"}}}',
            id="event in a payload",
        ),
        pytest.param(
            ["/payload/email"],
            b'{"payload":{"specversion":"1.0","data":{"email":1}}}',
            b'{"payload":{"specversion":"1.0","data":{"email":"***"}}}',
            id="payload of an event in a payload",
        ),
        pytest.param(
            ["/payload/email"],
            b'{"payload":{"specversion":"1.0","data_base64":"cw=="}}',
            b'{"payload":{"specversion":"1.0","data_base64":"***"}}',
            id="base64 of an event in a payload",
        ),
        pytest.param(
            ["email"],
            b'{"payload":{"specversion":"1.0","data_base64":"cw=="}}',
            b'{"payload":{"specversion":"1.0","data_base64":"***"}}',
            id="name in base64 of an event in a payload",
        ),
        pytest.param(
            ["email"],
            b'{"payload":{"specversion":"1.0","data":"email=x"}}',
            b'{"payload":{"specversion":"1.0","data":"***"}}',
            id="name in a text of an event in a payload",
        ),
        pytest.param(
            ["/data/email", "/subject"],
            b'{"payload":[{"specversion":"1.0","subject":"s","data":{"email":1}},{"data":"x"}]}',
            b'{"payload":[{"specversion":"1.0","subject":"***","data":{"email":"***"}},{"data":"x"}]}',
            id="events in a payload",
        ),
        pytest.param(
            ["email"],
            b'[{"specversion":"1.0","data_base64":"cw=="},{"payload_text":"x"}]',
            b'[{"specversion":"1.0","data_base64":"***"},{"payload_text":"***"}]',
            id="name in messages of a list",
        ),
        pytest.param(
            ["/payload/email"],
            b'{"metadata":{"t":"application/cloudevents+json"},"payload":{"data":{"email":1}}}',
            b'{"metadata":{"t":"application/cloudevents+json"},"payload":{"data":{"email":"***"}}}',
            id="event by its content type",
        ),
        pytest.param(
            ["email", "/payload/email"],
            b'{"protocol":"KAFKA","payload":{"data":"a text","inner":{"data_base64":"cw=="}}}',
            b'{"protocol":"KAFKA","payload":{"data":"a text","inner":{"data_base64":"cw=="}}}',
            id="data of a payload that is no event",
        ),
        pytest.param(
            ["/subject"],
            b'{"payload_text":"{\\"specversion\\": 1}"}',
            b'{"payload_text":"***"}',
            id="event in a text payload",
        ),
        pytest.param(
            ["/subject"],
            b'{"payload_base64":"eyJzcGVjdmVyc2lvbiI6MX0="}',
            b'{"payload_base64":"***"}',
            id="event in base64",
        ),
        pytest.param(
            ["/subject"],
            b'{"metadata":{"headers":{"a":{"base64":"YXBwbGljYXRpb24vY2xvdWRldmVudHMrYXZybw=="}}},'
            b'"payload_base64":"cw=="}',
            b'{"metadata":{"headers":{"a":{"base64":"YXBwbGljYXRpb24vY2xvdWRldmVudHMrYXZybw=="}}},'
            b'"payload_base64":"***"}',
            id="event in another format",
        ),
        pytest.param(
            ["/subject"], b'{"payload_text":"x"}', b'{"payload_text":"x"}', id="a text is no event"
        ),
        pytest.param(
            ["/metadata/key", "/protocol/x"],
            b'{"payload_text":"{\\"specversion\\": 1}"}',
            b'{"payload_text":"{\\"specversion\\": 1}"}',
            id="what no event has",
        ),
        pytest.param(
            ["email"],
            b'{"payload_base64":{"base64":"cw=="},"data_text":["email=x"]}',
            b'{"payload_base64":"***","data_text":"***"}',
            id="name in a payload encoded wrongly",
        ),
        pytest.param(
            ["/metadata/headers/authorization"],
            b'{"metadata":{"headers":[{"name":"Authorization","value":"s"},{"name":"a","value":1}]}}',
            b'{"metadata":{"headers":[{"name":"Authorization","value":"***"},{"name":"a","value":1}]}}',
            id="header in a list",
        ),
        pytest.param(
            ["/metadata/headers/authorization"],
            b'{"metadata":{"headers":{"authorization":{"base64":"cw=="}}}}',
            b'{"metadata":{"headers":{"authorization":"***"}}}',
            id="header in base64",
        ),
        pytest.param(
            ["/metadata/key"],
            b'{"metadata":{"key_base64":"cw=="}}',
            b'{"metadata":{"key_base64":"***"}}',
            id="key in base64",
        ),
        pytest.param(
            ["*password*"],
            b'{"data":{"userPassword":[1,{"a":2}],"n":{"Passwords":null}}}',
            b'{"data":{"userPassword":"***","n":{"Passwords":"***"}}}',
            id="name",
        ),
        pytest.param(
            ["email"], b'{"email":1,"email":2}', b'{"email":"***","email":"***"}', id="twice"
        ),
        pytest.param(
            ["email"], b'{"data":"email=x"}', b'{"data":"***"}', id="name in a text payload"
        ),
        pytest.param(
            ["email"], b'{"data_base64":"cw=="}', b'{"data_base64":"***"}', id="name in base64"
        ),
        pytest.param(
            ["/data/email"], b'{"payload_text":"x"}', b'{"payload_text":"***"}', id="text payload"
        ),
        pytest.param(
            ["/metadata/key"], b'{"data_base64":"cw=="}', b'{"data_base64":"cw=="}', id="elsewhere"
        ),
        pytest.param(
            ["/data/customer/email"],
            b'{"data":{"customer":"a@b"}}',
            b'{"data":{"customer":"***"}}',
            id="a text where an object was to be",
        ),
        pytest.param(
            ["/data/customer/email"],
            b'{"data":{"customer":[{"email":"a"},{"email":"b"}]}}',
            b'{"data":{"customer":[{"email":"***"},{"email":"***"}]}}',
            id="a list where an object was to be",
        ),
        pytest.param(
            ["/data/customer/email"],
            b'{"data":{"customer":[{"name":"Ines","value":1,"email":"x"}]}}',
            b'{"data":{"customer":[{"name":"Ines","value":1,"email":"***"}]}}',
            id="a list of objects that have a name and a value as well",
        ),
        pytest.param(
            ["email", "*token*"],
            b'{"data":[{"name":"token","value":"t","email":"x"}]}',
            b'{"data":[{"name":"token","value":"***","email":"***"}]}',
            id="names in and of a named value",
        ),
        pytest.param(
            ["email"],
            b'{"data":[{"name":"email","value":{"email":1},"n":{"email":2}}]}',
            b'{"data":[{"name":"email","value":"***","n":{"email":"***"}}]}',
            id="a name in a named value with that name",
        ),
        pytest.param(
            ["/metadata/headers/authorization"],
            b'{"metadata":{"headers":[{"name":"authorization","value":"s","value":"x"}]}}',
            b'{"metadata":{"headers":[{"name":"authorization","value":"***","value":"***"}]}}',
            id="header with two values",
        ),
        pytest.param(
            ["/metadata/headers/authorization"],
            b'{"metadata":{"headers":[{"name":"authorization","name":"x","value":"s"}]}}',
            b'{"metadata":{"headers":[{"name":"authorization","name":"x","value":"***"}]}}',
            id="header with two names",
        ),
        pytest.param(
            ["authorization"],
            b'{"metadata":{"headers":[{"name":"authorization","name":"x","value":"s"}]}}',
            b'{"metadata":{"headers":[{"name":"authorization","name":"x","value":"***"}]}}',
            id="name of a header with two names",
        ),
        pytest.param(
            ["/metadata/headers/7"],
            b'{"metadata":{"headers":[{"name":"7","value":"s"},{"name":"8","value":1}]}}',
            b'{"metadata":{"headers":[{"name":"7","value":"***"},{"name":"8","value":1}]}}',
            id="header whose name is a number",
        ),
        pytest.param(["email"], b'"a text"', b'"***"', id="a line that is a text"),
        pytest.param(
            ["other"], b'{"data":{"email":"\\u00e9"}}', b'{"data":{"email":"\\u00e9"}}', id="none"
        ),
    ],
)
def test_lines(rules: list[str], before: bytes, after: bytes) -> None:
    found = masked(rules, before)
    assert found["line"] == after
    assert found["masked"] is (before != after)


def test_without_rules_nothing_changes() -> None:
    before = letter(
        b"{", Rejected(stage="decode", problems=(Problem(path="/", rule="r", message="m"),))
    )
    assert Masker.of([]).letter(before) == before


@pytest.mark.parametrize("whole", [b"", b"{", b"\xff", b'{"a":' + b"[" * 300], ids=repr)
def test_what_is_no_json_is_withheld(whole: bytes) -> None:
    found = masked(["email"], whole, Problem(path="/", rule="json", message="m", found="byte 1"))
    told = json.loads(found["line"])["withheld"]
    assert (told["bytes"], len(told["sha256"])) == (len(whole), 64)
    assert (found["masked"], found["found"]) == (True, MASK)


@pytest.mark.parametrize("rule", ["email", "/payload/email", "/metadata/key", "reason"])
def test_a_record_that_is_told_as_a_text_is_withheld(rule: str) -> None:
    whole = file_reading.unreadable(f"{{'email': '{SECRET}', 'total': nan}}", ValueError(SECRET))
    verdict = judge_of(SETTING).judge(whole)
    assert isinstance(verdict, Rejected)
    assert SECRET in verdict.problems[0].path
    found = Masker.of([rule]).letter(letter(whole, verdict))
    assert json.loads(found["line"])["withheld"]["bytes"] == len(whole)
    assert (found["masked"], found["path"], found["found"]) == (True, MASK, MASK)
    assert SECRET not in repr(found)


@pytest.mark.parametrize("protocol", [{"specversion": "1.0"}, {"protocol": "KAFKA"}], ids=str)
def test_a_message_with_a_member_unreadable_is_no_such_record(protocol: dict[str, str]) -> None:
    found = masked(["email"], line(protocol | {"unreadable": "x", "email": 1}))
    assert json.loads(found["line"]) == protocol | {"unreadable": "x", "email": MASK}


@pytest.mark.parametrize(
    ("rule", "hides"),
    [
        ("authorization", True),
        ("*token*", True),
        ("/metadata/headers/authorization", True),
        ("/metadata/path", True),
        ("/*/headers/authorization", True),
        ("/payload/email", False),
        ("/subject", False),
    ],
    ids=str,
)
def test_metadata_that_are_told_as_a_text(rule: str, hides: bool) -> None:
    headers = (("authorization", SECRET), ("x", "\udcff"))
    whole = raw_line(http.HttpMessage(method="POST", path="/x", headers=headers, body=b"{}"))
    verdict = judge_of(SETTING).judge(whole)
    assert isinstance(verdict, Rejected)
    found = Masker.of([rule]).letter(letter(whole, verdict))
    assert (found["masked"], SECRET in repr(found)) == (hides, not hides)
    shown = json.loads(found["line"])
    assert (shown["metadata"]["unreadable"] == MASK, shown["payload"]) == (hides, {})


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
    problem = Problem(path="/x", rule="r", message=f"is {SECRET}", expected=found, found=found)
    told = masked(["/data/x"], line({"data": {"x": SECRET}}), problem)
    assert (told["found"], told["expected"], told["message"]) == (after, after, f"is {MASK}")
    inner = json.loads(told["problems"])[0]
    assert (inner["found"], inner["expected"], inner["rule"]) == (after, after, "r")
    assert json.loads(told["near"])[0]["problems"] == [inner]


def test_reasons_about_a_payload_that_was_withheld() -> None:
    whole = line(event("raw") | {"data_base64": base64.b64encode(b'{"email":"x@y"}').decode()})
    about = Problem(path="/email", rule="r", message="m", found="y")
    kind = Problem(path="attributes.type", rule="r", message="m", found="shop.raw")
    told = masked(["/data/email"], whole, about, kind)
    assert [one["found"] for one in json.loads(told["problems"])] == [MASK, "shop.raw"]


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


@pytest.mark.parametrize("rule", ["", "  ", "/", "/a//b", "/a/", "/a~2"])
def test_rules_that_fit_nothing_are_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        Masker.of([rule])


def test_travels_to_workers() -> None:
    masker = Masker.of(["/data/*", "*name*"])
    assert pickle.loads(pickle.dumps(masker)) == masker
    assert masker
    assert not Masker.of([])


# --- no letter shows a secret, whatever it is and wherever a rule finds it

RULES = [
    "/data/note",
    "/data/customer/name",
    "*token*",
    "/metadata/headers/authorization",
    "/metadata/key",
]
secrets = st.text(min_size=8, max_size=120).filter(lambda text: len(set(text)) > 5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def lines_with(secret: str, other: Any) -> list[Any]:
    """Messages that hold a secret wherever the rules name it, refused for all kinds of reasons."""
    encoded = base64.b64encode(secret.encode("utf-8", "replace")).decode()
    headers = {"authorization": secret, "ce_token": secret, "o": other if other is True else "1"}
    return [
        event("order", {"id": 1, "total": 1, "note": secret, "customer": {"name": secret}}),
        event("order", {"id": "1", "total": 1, "note": {"a": secret}, "customer": secret}),
        event("order", {"id": "1", "total": 1, "note": [other, secret], "customer": [secret]}),
        event("raw", 1, type="shop.none", mytoken=secret, subject="x"),
        event("extended", {"name": other}, tokens=secret, tenant="", key="k"),
        event("plain", secret, source="/plain"),
        event("scan", {"tag": other, "weight": {"tokenA": {"x": [secret]}, "y": other}}),
        {"protocol": "KAFKA", "metadata": {"topic": "t", "key": secret, "headers": headers}},
        {
            "protocol": "KAFKA",
            "metadata": {"topic": "t", "key_base64": encoded},
            "payload_text": secret,
        },
        {
            "protocol": "KAFKA",
            "metadata": {"topic": 5, "headers": headers},
            "payload_base64": encoded,
        },
        {"protocol": "HTTP", "metadata": {"headers": [{"name": "Authorization", "value": secret}]}},
        {
            "protocol": "MQTT/5.0",
            "metadata": {"topic_name": "belts/1/sensors/2"},
            "payload": {"value": {"token": secret}},
        },
        {"token": secret, "data": {"note": secret}},
        secret,
        *events_on_protocols(secret),
    ]


def events_on_protocols(secret: str) -> list[Any]:
    """Messages whose payload is an event that holds a secret in ``note``, or may hold it there."""
    text = json.dumps({"id": 1, "note": secret})
    encoded = base64.b64encode(text.encode()).decode()
    good = event("order", {"id": 1, "total": 1, "note": secret})
    bare = event("order", datacontenttype="application/json")
    payloads: list[dict[str, Any]] = [
        {"payload": good},
        {"payload": bare | {"data_base64": encoded}},
        {"payload": bare | {"data": text}},
        {"payload": bare | {"datacontenttype": "text/plain", "data": text}},
        {"payload": bare | {"data": {"note": {"token": secret}}}},
        {"payload": [good, bare | {"data_base64": encoded}]},
        {"payload_text": json.dumps(good, indent=1)},
        {"payload_base64": base64.b64encode(json.dumps(good).encode()).decode()},
    ]
    mqtt = {"protocol": "MQTT/5.0", "metadata": {"content_type": "application/cloudevents"}}
    return [
        *({"protocol": "KAFKA", "metadata": STRUCTURED} | payload for payload in payloads),
        {"protocol": "KAFKA"} | payloads[0],
        mqtt | payloads[1],
    ]


def shown_of(lines: list[Any], rules: list[str]) -> Iterator[tuple[bytes, str]]:
    """Each refused line that holds the secret, with all that its masked letter shows."""
    judge = judge_of(SETTING)
    masker = Masker.of(rules)
    for whole in lines:
        for text in (line(whole), json.dumps(whole, ensure_ascii=False).encode("utf-8", "replace")):
            for raw in (text, text[:-1] + b"!"):
                verdict = judge.judge(raw)
                if not isinstance(verdict, Rejected):
                    continue
                found = masker.letter(letter(raw, verdict))
                assert found["masked"], raw
                yield raw, found.pop("line").decode() + json.dumps(found) + repr(found)


@given(secrets, values)
@example('"\\"quoted" \\ \u0007 ü', 1)
@example("x" * 3 + "abcdefgh" * 20, {"a": 1})
@example("J%C3%BCrgen Geheim", None)
@example("validate", None)
def test_a_masked_letter_never_shows_the_secret(secret: str, other: Any) -> None:
    check_that_nothing_shows(secret, RULES, lambda text: lines_with(text, other))


@pytest.mark.parametrize("rule", ["/data/note", "/payload/note", "*NOTE"])
@settings(max_examples=20)
@given(secrets)
@example("validate")
def test_each_rule_reaches_an_event_on_a_protocol(rule: str, secret: str) -> None:
    check_that_nothing_shows(secret, [rule], events_on_protocols)


def check_that_nothing_shows(
    secret: str, rules: list[str], lines: Callable[[str], list[Any]]
) -> None:
    # A secret may be a word that letters of other secrets say too, such as the name of a stage.
    words = "".join(shown for _, shown in shown_of(lines("another-secret"), rules))
    told = [secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    told.append(base64.b64encode(secret.encode("utf-8", "replace")).decode())
    told = [form for form in told if form not in words]
    for raw, shown in shown_of(lines(secret), rules):
        encoded = re.findall(r'_base64": ?"([^"]+)"', raw.decode(errors="replace"))
        assert not [form for form in (*told, *encoded) if form in shown], raw


def test_a_pointer_without_its_slash_is_not_taken_for_a_name() -> None:
    with pytest.raises(UsageError, match="write /data/email"):
        Masker.of(["data/email"])
