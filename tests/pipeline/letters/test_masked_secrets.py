"""No masked letter shows a secret, whatever it is and wherever a rule finds it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heraldry.messages.verdict import Rejected
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import Masker
from tests.pipeline.landing.without_spark import Setting, judge_of
from tests.pipeline.letters.masked_letters import STRUCTURED
from tests.suites.streams import WIDE, event, line

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
        event(
            "order", {"id": 1, "total": 1, "note": {secret: {}}, "customer": {"name": {secret: 1}}}
        ),
        event("plain", {"token": {secret: {"a": other}}}, source="/plain"),
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
