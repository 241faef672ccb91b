"""Masking: a letter never shows what a rule names, and otherwise stays as it is."""

from __future__ import annotations

import json
import pickle

import pytest

from heraldry.errors import UsageError
from heraldry.messages.protocols import http
from heraldry.messages.raw_line import raw_line
from heraldry.messages.verdict import Rejected
from heraldry.model.problem import Problem
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import Masker
from heraldry.pipeline.letters.places import MASK
from heraldry.pipeline.sources import file_reading
from tests.pipeline.landing.without_spark import Setting, judge_of
from tests.pipeline.letters.masked_letters import SECRET, masked
from tests.suites.streams import WIDE, line

SETTING = Setting(catalog=WIDE)


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
@pytest.mark.parametrize("path", [None, f"/data/{SECRET}"], ids=["a file", "a record"])
def test_a_record_that_is_told_as_a_text_is_withheld(rule: str, path: str | None) -> None:
    told = f"{{'email': '{SECRET}', 'total': nan}}"
    whole = file_reading.unreadable(told, ValueError(SECRET), path)
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


@pytest.mark.parametrize("rule", ["", "  ", "/", "/a//b", "/a/", "/a~2"])
def test_rules_that_fit_nothing_are_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        Masker.of([rule])


def test_travels_to_workers() -> None:
    masker = Masker.of(["/data/*", "*name*"])
    assert pickle.loads(pickle.dumps(masker)) == masker
    assert masker
    assert not Masker.of([])


def test_a_pointer_without_its_slash_is_not_taken_for_a_name() -> None:
    with pytest.raises(UsageError, match="write /data/email"):
        Masker.of(["data/email"])
