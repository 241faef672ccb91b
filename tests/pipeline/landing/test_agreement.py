"""One message at a time or by the million: the same verdict, the same reasons, the same row."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.messages.verdict import Accepted
from heraldry.pipeline.landing import lander
from tests.effort import effort, thorough
from tests.pipeline.kernel.event_lines import DEFINITIONS, bound_events
from tests.pipeline.kernel.native_lines import DEFINITIONS as NATIVES
from tests.pipeline.kernel.native_lines import natives
from tests.pipeline.kernel.strange_events import STRANGE
from tests.pipeline.landing.without_spark import (
    Setting,
    assert_agreement,
    judge_of,
    lander_of,
)
from tests.suites.flawed_lines import (
    DAYS,
    DEEP,
    DEEPER,
    INSTANTS,
    NUMBERS,
    SOURCES,
    SUBJECTS,
    TEXTS,
    as_text,
    events,
    native_lines,
)
from tests.suites.streams import (
    EVENT_KINDS,
    OPEN,
    OPEN_KINDS,
    WIDE,
    document,
    event,
    line,
    xid,
)

BOUND = document({**NATIVES, **DEFINITIONS}, "g")
"""Definitions of all protocols, of events and others."""
SETTINGS = {
    "all": (Setting(catalog=WIDE), events(EVENT_KINDS) | native_lines()),
    "not-compiled": (Setting(catalog=WIDE, compiled=False), events(EVENT_KINDS)),
    "payload-kept": (Setting(catalog=WIDE, keep_payload=True), events(EVENT_KINDS)),
    "selected": (
        Setting(catalog=WIDE, only=(xid("order"), xid("raw"), xid("keyed"))),
        events(EVENT_KINDS),
    ),
    "on-protocols": (Setting(catalog=BOUND), bound_events() | natives()),
    "on-protocols, not-compiled": (Setting(catalog=BOUND, compiled=False), bound_events()),
    "open-types": (Setting(catalog=OPEN), events(OPEN_KINDS) | events({"o": EVENT_KINDS["order"]})),
}
ids = list(SETTINGS)
VARIED = {"all", "on-protocols", "open-types"}
"""Those that differ in what comes; the others in what is done with it."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.mark.slow
@thorough
@pytest.mark.parametrize("name", ids, ids=ids)
def test_pipeline_agrees_with_the_judge(name: str, warehouse: Path) -> None:
    setting, lines = SETTINGS[name]
    examples = effort(120 if name in VARIED else 40, soak=4_000)

    @settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(lines, min_size=1, max_size=12))
    def agree(stream: list[bytes]) -> None:
        assert_agreement(setting, warehouse, stream)

    agree()


def good(name: str) -> str:
    """The text of an event without its data, open at its end."""
    return json.dumps(event(name))[:-1]


def with_data(name: str, data: str) -> bytes:
    return f'{good(name)}, "data": {data}}}'.encode("utf-8", "surrogatepass")


ORDER = '{"id": "1", "total": 1'


def with_member(name: str, member: str, text: str) -> bytes:
    return with_data(name, f'{ORDER}, "{member}": {as_text(text)}}}')


def two_data(first: str, name: str = "data") -> bytes:
    return f'{good("order")}, "{name}": {first}, "data": {ORDER}}}}}'.encode()


ADVERSARIAL: dict[str, bytes] = {
    "good": with_data("order", ORDER + "}"),
    "empty": b"",
    "blank": b" \t\r",
    "null": b"null",
    "number": b"5",
    "list": b"[]",
    "no members": b"{}",
    "two documents": with_data("order", ORDER + "}") * 2,
    "bom": b"\xef\xbb\xbf" + with_data("order", ORDER + "}"),
    "minus zero in a text": with_data("order", ORDER + ', "note": "-0 "}'),
    "minus zero and -0.0": with_data("order", ORDER + ', "ratios": [-0.0, 0, -0]}'),
    "-0.0 and minus zero in a text": with_data(
        "order", ORDER + ', "ratios": [-0.0], "note": "-0,"}'
    ),
    "carriage return": with_data("order", ORDER + "}") + b"\r",
    "carriage return inside data": with_data("order", ORDER + ',\r"count":\r1\r}'),
    "form feed": with_data("order", ORDER + "}") + b"\x0c",
    "truncated": with_data("order", ORDER + "}")[:-3],
    "nul": b"\x00",
    "nul at the end": with_data("order", ORDER + "}") + b"\x00",
    "not utf-8 in data": with_data("order", ORDER + ', "note": "@"}').replace(b"@", b"\xff"),
    "not utf-8 in data without a schema": with_data("raw", '"@"').replace(b"@", b"\xff"),
    "not utf-8 in a name of data": with_data("raw", '{"@": 1}').replace(b"@", b"\xc0\x80"),
    "surrogate as utf-8 in data": with_data("raw", '"\ud800"'),
    "not utf-8 in an attribute": line(event("raw", 1, subject="@")).replace(b"@", b"\xff"),
    "lone surrogate in data without a schema": with_data("raw", r'"\ud800"'),
    "bad escape in data without a schema": with_data("raw", r'"\x41"'),
    "control character in data without a schema": with_data("raw", '"\t"'),
    "bad number in data without a schema": with_data("raw", "01"),
    "overflow in data without a schema": with_data("raw", "1e999"),
    "deep data without a schema": with_data("raw", DEEP),
    "too deep data without a schema": with_data("raw", DEEPER),
    "deep data": with_data("anything", DEEP),
    "too deep data": with_data("anything", DEEPER),
    "deep extra member": with_data("order", f'{ORDER}, "more": {DEEP}}}'),
    "too deep extra member": with_data("order", f'{ORDER}, "more": {DEEPER}}}'),
    "attribute of many levels": f'{good("order")}, "ext": {DEEPER}, "data": {ORDER}}}}}'.encode(),
    "data missing": line(event("order")),
    "data missing without a schema": line(event("raw")),
    "data and its type missing": line(event("typed")),
    "its type given, data missing": line(event("typed", datacontenttype="application/json")),
    "data null": with_data("order", "null"),
    "data null without a schema": with_data("raw", "null"),
    "data null where it may be": with_data("perhaps", "null"),
    "data null where members have no type": with_data("loose", "null"),
    "data a number where members have no type": with_data("loose", "5"),
    "inner null where members have no type": with_data("loose", '{"inner": null}'),
    "inner a text where members have no type": with_data("loose", '{"inner": "x"}'),
    "data a list": with_data("order", "[]"),
    "data twice": f'{good("order")}, "data": 5, "data": {ORDER}}}}}'.encode(),
    "data twice, the last one wrong": f'{good("order")}, "data": {ORDER}}}, "data": 5}}'.encode(),
    "data and base64": line(event("order", {"id": "1", "total": 1}, data_base64="e30=")),
    "base64": line(event("order", data_base64="eyJpZCI6IjEiLCJ0b3RhbCI6MX0=")),
    "base64 without a schema": line(event("raw", data_base64="/w==")),
    "base64 null": line(event("order", {"id": "1", "total": 1}, data_base64=None)),
    "data twice, the first one no number": two_data("1e999"),
    "data twice, the first one no text": two_data(r'"\ud800"'),
    "data twice, the first one not utf-8": two_data('"@"').replace(b'@"', b'\xff"'),
    "data twice, the first one deep": two_data("[" * 300 + "]" * 300),
    "data twice, the first one under an escaped name": two_data("1e999", r"d\u0061ta"),
    "data twice, the last one under an escaped name": two_data("1e999").replace(
        b'"data": {', rb'"d\u0061ta": {'
    ),
    "data as an attribute's value": line(event("order", {"id": "1", "total": 1}, subject="data")),
    "data in data": with_data("order", ORDER + ', "data": "data"}'),
    **{
        f"data of {n} levels": with_data("raw", "[" * n + "]" * n)
        for n in (198, 199, 200, 201, 300, 900, 1000, 1100)
    },
    **{
        f"member of {n} levels": with_data("order", ORDER + ', "more": ' + "[" * n + "]" * n + "}")
        for n in (197, 198, 199, 200, 300)
    },
    "member twice": with_data("order", ORDER + ', "total": 2}'),
    "member twice of two types": with_data("order", ORDER + ', "total": "2"}'),
    "member twice, the first one wrong": with_data("order", '{"total": "1", ' + ORDER[1:] + "}"),
    "member twice, once escaped": with_data("order", ORDER + r', "t\u006ftal": 2}'),
    "inner member twice": with_data("order", ORDER + ', "customer": {"name": "a", "name": "b"}}'),
    "member in a list twice": with_data("order", ORDER + ', "lines": [{"sku": "a", "sku": "b"}]}'),
    "object twice": with_data(
        "order", ORDER + ', "customer": {"name": "a"}, "customer": {"name": "b", "score": 1}}'
    ),
    "unknown member twice": with_data("order", ORDER + ', "more": 1, "more": 2}'),
    "attribute twice": good("order").encode() + b', "id": "2", "data": {"id": "1", "total": 1}}',
    "attribute twice of two types": good("raw").encode() + b', "id": 5}',
    "attribute and null": good("raw").encode() + b', "subject": "a", "subject": null}',
    "type twice": good("order").encode() + b', "type": "shop.raw", "data": 1}',
    "escaped attribute name": with_data("raw", "1").replace(b'"type"', rb'"\u0074ype"'),
    "escaped value": with_data("raw", "1").replace(b"shop.raw", rb"shop.\u0072aw"),
    "pair of surrogates": line(event("raw", 1, subject="𝄞")),
    "lone surrogate": line(event("raw", 1, subject="\ud834")),
    "surrogates the wrong way round": line(event("raw", 1, subject="\udd1e\ud834")),
    "null attribute": line(event("raw", 1, subject=None)),
    "null type": line(event("raw", 1, type=None)),
    "number as id": line(event("raw", 1, id=5)),
    "empty id": line(event("raw", 1, id="")),
    "empty subject": line(event("raw", 1, subject="")),
    "specversion as number": line(event("raw", 1, specversion=1.0)),
    "specversion 0.3": line(event("raw", 1, specversion="0.3")),
    "protocol beside specversion": line(event("scan", {}, protocol="MQTT/5.0")),
    "protocol null": line(event("scan", {}, protocol=None)),
    "metadata beside specversion": line(event("scan", {}, metadata={})),
    "name with capitals": line(event("raw", 1, Upper="a")),
    "name with an underscore": line(event("raw", 1, a_b="a")),
    "long name": line(event("raw", 1, **{"x" * 40: "a"})),
    "undeclared attribute": line(event("raw", 1, other="a")),
    "undeclared attribute, no text": line(event("raw", 1, other=True)),
    "undeclared attributes of many kinds": line(event("raw", 1, b=1, a="x", c={"d": [1.5]}, d="ü")),
    "undeclared attribute with escapes": with_data("raw", "1")[:-1] + rb', "other": "\u0041\"/"}',
    "declared attribute": line(event("extended", {}, trace="t")),
    "declared attribute, empty": line(event("extended", {}, tenant="")),
    "declared attribute missing": line(event("extended", {}, without="tenant")),
    "declared attribute, no uuid": line(event("extended", {}, key="x")),
    "declared attribute, no uri": line(event("extended", {}, link="a b")),
    "declared attribute, a number": line(event("extended", {}, trace=5)),
    "placeholder of two values": line(event("extended", {}, region="hamburg-7")),
    "integer attribute": line(event("counted", {}, level=5)),
    "integer attribute as text": line(event("counted", {}, level="5")),
    "integer attribute too large": line(event("counted", {}, level=2**40)),
    "boolean attribute": line(event("counted", {}, hot="true")),
    "event of a Kafka definition": line(event("keyed", {"name": "a"})),
    "event of base and derived": line(event("scan", {"tag": "a", "weight": 1})),
    "event of shared type": line(event("shared", {"name": "a"})),
    "event of shared type, the other": line(event("shared", {"name": "a"}, source="/markets/x")),
    "event of shared type, none": line(event("shared", {"name": "a"}, source="/none")),
    "content type with parameter": line(event("raw", 1, datacontenttype="application/json; a=b")),
    "content type of text": line(event("plain", "a", datacontenttype="text/plain")),
    "content type wrong": line(event("order", {"id": "1", "total": 1}, datacontenttype="text/xml")),
    "too large": with_data("order", f'{ORDER}, "note": "{"x" * (17 * 1024 * 1024)}"}}'),
    "too large without a schema": with_data("raw", f'"{"x" * (17 * 1024 * 1024)}"'),
    "illegal names": with_data("odd", '{"a b": 1, "a.b": "x", "A_B": 2, "": 3, "ce_id": "y"}'),
    "names with case": with_data("odd", '{"value": "x", "VALUE": 2, "Value": 3}'),
    "empty record": with_data("odd", "{}"),
}
SERIES: list[tuple[str, Sequence[str], Callable[[str], bytes]]] = [
    ("number", NUMBERS, lambda text: with_data("order", f'{{"id": "1", "total": {text}}}')),
    ("integer", NUMBERS, lambda text: with_data("order", f'{ORDER}, "count": {text}}}')),
    ("ratio", NUMBERS, lambda text: with_data("order", f'{ORDER}, "ratios": [{text}]}}')),
    ("scalar", NUMBERS, lambda text: with_data("scalar", text)),
    ("level", NUMBERS, lambda text: with_data("choice", f'{{"level": {text}, "both": {text}}}')),
    ("text", TEXTS, lambda text: with_data("order", f'{ORDER}, "note": {text}}}')),
    ("id", TEXTS, lambda text: f'{good("raw")}, "id": {text}}}'.encode("utf-8", "surrogatepass")),
    ("time", INSTANTS, lambda text: line(event("order", {"id": "1", "total": 1}, time=text))),
    ("instant", INSTANTS, lambda text: with_member("order", "placed", text)),
    ("instant 2020", INSTANTS, lambda text: with_member("order2020", "placed", text)),
    ("nested", INSTANTS, lambda text: with_data("nested", f'{{"box": {{"at": {as_text(text)}}}}}')),
    ("day", DAYS, lambda text: with_member("order", "day", text)),
    ("day 2020", DAYS, lambda text: with_member("order2020", "day", text)),
    ("source", SOURCES, lambda text: line(event("raw", 1, source=text))),
    ("subject", SUBJECTS, lambda text: line(event("order", {"id": "1", "total": 1}, subject=text))),
]
ADVERSARIAL |= {f"{name} {text[:30]}": make(text) for name, texts, make in SERIES for text in texts}


@pytest.mark.parametrize("name", list(ADVERSARIAL), ids=[ascii(name) for name in ADVERSARIAL])
def test_one_line_alone(name: str, warehouse: Path) -> None:
    assert_agreement(Setting(catalog=WIDE, compiled=False), warehouse, [ADVERSARIAL[name]])


@pytest.mark.parametrize(
    ("compiled", "keep"),
    [
        pytest.param(False, True, id="not-compiled, payload-kept"),
        pytest.param(True, False, id="compiled"),
        pytest.param(False, False, marks=pytest.mark.soak, id="not-compiled"),
        pytest.param(True, True, marks=pytest.mark.soak, id="compiled, payload-kept"),
    ],
)
def test_all_lines_together(compiled: bool, keep: bool, tmp_path: Path) -> None:
    """One strange payload must not change what becomes of those beside it."""
    setting = Setting(catalog=WIDE, keep_payload=keep, compiled=compiled)
    assert_agreement(setting, tmp_path, [*ADVERSARIAL.values()] * 2)


def test_lines_that_are_too_much_to_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are written before the end are told like the others."""
    monkeypatch.setattr(lander, "_HOLD_BYTES", 1)
    stream = [line(event("scan", {})), b"nonsense"]
    assert_agreement(Setting(catalog=WIDE), tmp_path, stream)


@pytest.mark.parametrize("name", list(STRANGE))
def test_one_event_on_a_protocol(name: str, warehouse: Path) -> None:
    assert_agreement(Setting(catalog=BOUND), warehouse, [STRANGE[name]])


@pytest.mark.parametrize("compiled", [False, True], ids=["not-compiled", "compiled"])
def test_an_attribute_that_appears_later(compiled: bool, tmp_path: Path) -> None:
    """Events are alike whether or not an extension was known when they were read."""
    stream = [
        line(event(name, {}, **more))
        for more in ({}, {"trace": "t"}, {}, {"other": "o", "more": "m"}, {"trace": "u"})
        for name in ("extended", "scan")
    ]
    assert_agreement(Setting(catalog=WIDE, compiled=compiled), tmp_path, stream)


def test_many_attributes(tmp_path: Path) -> None:
    """More extensions than the fast path learns."""
    stream = [line(event("raw", n, **{f"x{n}": "a"})) for n in range(50)]
    assert_agreement(Setting(catalog=WIDE), tmp_path, stream)


@pytest.mark.parametrize("compiled", [False, True], ids=["not-compiled", "compiled"])
def test_events_of_several_types_of_one_definition(compiled: bool, tmp_path: Path) -> None:
    stream = [
        line({**event("raw", {"name": "a"}), "type": f"shop.{action}", "source": "x"})
        for action in ("open", "close", "open", "narrow", "close")
    ]
    assert_agreement(Setting(catalog=OPEN, compiled=compiled), tmp_path, stream)


GOOD_DATA: dict[str, Any] = {
    "order": {"id": "1", "total": 1.5, "placed": "2026-11-16T08:30:00Z", "lines": [{"sku": "a"}]},
    "order2020": {"id": "1", "total": 1.5, "day": "2026-11-16"},
    "loose": {"inner": {"name": "a"}},
    "perhaps": {"id": "1", "total": 0},
    "list": [1, 2.5],
    "scalar": 5,
    "plain": "text",
}
MORE = {"plain": {"datacontenttype": "text/plain"}}
GOOD = {n: line(event(n, GOOD_DATA.get(n, {}), **MORE.get(n, {}))) for n in EVENT_KINDS}
SLOW = {"counted", "shared", "plain"}
"""Attributes that are no text, rivals without a protocol, payloads that are no JSON."""


@pytest.mark.parametrize("name", list(EVENT_KINDS))
def test_fast_path_is_taken(name: str, tmp_path: Path) -> None:
    """Else the tests above would set the judge beside itself."""
    setting = Setting(catalog=WIDE)
    stream = [GOOD[name]] * 3
    assert all(isinstance(judge_of(setting).judge(one), Accepted) for one in stream)
    taken, rest = lander_of(setting, tmp_path)._crew.fast.take(stream)
    rows = sum(len(group.rows) for group in taken)
    assert (rows, len(rest)) == ((0, 3) if name in SLOW else (3, 0))


def test_fast_path_takes_most_of_what_is_good(tmp_path: Path) -> None:
    """Of generated events that the judge accepts, nearly all that are not left to it by design."""
    setting = Setting(catalog=WIDE)
    kinds = {name: one for name, one in EVENT_KINDS.items() if name not in SLOW}
    seen = {"accepted": 0, "taken": 0}

    @settings(max_examples=25, deadline=None, database=None)
    @given(st.lists(events(kinds, flaws=0), min_size=20, max_size=20))
    def count(stream: list[bytes]) -> None:
        accepted = [s for s in stream if isinstance(judge_of(setting).judge(s), Accepted)]
        taken, _ = lander_of(setting, tmp_path)._crew.fast.take(accepted)
        seen["accepted"] += len(accepted)
        seen["taken"] += sum(len(group.rows) for group in taken)

    count()
    assert seen["accepted"] > 50
    assert seen["taken"] >= 0.5 * seen["accepted"]
