"""Masking: a letter never shows what a rule names, and otherwise stays as it is."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heraldry.errors import UsageError
from heraldry.messages.verdict import Near, Rejected
from heraldry.model.problem import Problem
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import MASK, Masker
from tests.pipeline.landing.without_spark import Setting, judge_of
from tests.suites.streams import WIDE, event, line

SECRET = "hunter2-Geheim"


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

SETTING = Setting(catalog=WIDE)
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
    ]


def shown_of(secret: str, other: Any) -> Iterator[tuple[bytes, str]]:
    """Each refused line that holds the secret, with all that its masked letter shows."""
    judge = judge_of(SETTING)
    masker = Masker.of(RULES)
    for whole in lines_with(secret, other):
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
    # A secret may be a word that letters of other secrets say too, such as the name of a stage.
    words = "".join(shown for _, shown in shown_of("another-secret", other))
    told = [secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    told.append(base64.b64encode(secret.encode("utf-8", "replace")).decode())
    told = [form for form in told if form not in words]
    for raw, shown in shown_of(secret, other):
        assert not [form for form in told if form in shown], raw


def test_a_pointer_without_its_slash_is_not_taken_for_a_name() -> None:
    with pytest.raises(UsageError, match="write /data/email"):
        Masker.of(["data/email"])
