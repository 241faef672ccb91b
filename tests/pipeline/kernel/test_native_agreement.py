"""Messages that are no events: the compiled path has the judge's rows, and takes what is good."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted
from heraldry.pipeline.kernel import path as kernel
from tests.effort import thorough
from tests.pipeline.kernel import native_lines
from tests.pipeline.kernel.agreement import assert_agreement, judge_of
from tests.pipeline.kernel.native_lines import DEFINITIONS, GOOD, TAKEN, definition, line, put
from tests.pipeline.kernel.test_kernel_agreement import EXAMPLES, MUTATIONS, mutated
from tests.pipeline.kernel.test_kernel_corpus import EVENTS, corpus
from tests.pipeline.landing import without_spark as landing
from tests.suites.flawed_lines import INSTANTS, NUMBERS, TEXTS, as_text
from tests.suites.streams import document

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernel.available(), reason="numba is not installed"),
]


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_of(DEFINITIONS)


@pytest.fixture(scope="module")
def shared_path(judge: Judge) -> kernel.KernelPath:
    return kernel.KernelPath(judge)


@pytest.mark.parametrize("name", list(GOOD))
def test_good_messages(name: str, judge: Judge, shared_path: kernel.KernelPath) -> None:
    taken = assert_agreement(judge, shared_path, [line(name)])
    assert bool(taken) == (name in TAKEN)
    if taken:
        assert isinstance(judge.judge(line(name)), Accepted)


def test_everything_together(judge: Judge) -> None:
    lines = list(native_lines.adversarial().values())
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(taken) > len(lines) // 30
    order = list(range(len(lines)))
    random.Random(3).shuffle(order)
    again = assert_agreement(judge, kernel.KernelPath(judge), [lines[one] for one in order])
    assert sorted(order[one] for one in again) == taken


def test_payloads(judge: Judge, shared_path: kernel.KernelPath) -> None:
    payloads = [f'{{"value": {text}}}' for text in NUMBERS]
    payloads += [f'{{"value": 1, "box": {{"name": {text}}}}}' for text in TEXTS]
    payloads += [f'{{"value": 1, "at": {as_text(text)}}}' for text in INSTANTS]
    payloads += ["[" * depth + "]" * depth for depth in (1, 190, 300)]
    lines = [
        f'{json.dumps(GOOD[name])[:-1]}, "payload": {payload}}}'.encode("utf-8", "surrogatepass")
        for name in ("desk", "scale", "asked")
        for payload in payloads
    ]
    assert assert_agreement(judge, shared_path, lines)


def test_lines_that_only_make_sense_together(judge: Judge, shared_path: kernel.KernelPath) -> None:
    for name in ("desk with all", "scale, listed", "posted"):
        good = line(name)
        for cut in range(1, len(good)):
            assert assert_agreement(judge, shared_path, [good[:cut], good[cut:]]) == []


@thorough
@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int, judge: Judge, shared_path: kernel.KernelPath) -> None:
    rng = random.Random(seed)
    names = sorted(TAKEN)
    lines = [mutated(rng, line(rng.choice(names))) for _ in range(MUTATIONS // 4)]
    assert len(assert_agreement(judge, shared_path, lines)) > len(lines) // 50


@thorough
def test_flawed_messages(judge: Judge) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(native_lines.natives(), min_size=1, max_size=12))
    def agree(stream: list[bytes]) -> None:
        assert_agreement(judge, kernel.KernelPath(judge), stream)

    agree()


def taken(definitions: dict[str, Any], *lines: bytes, only: tuple[str, ...] = ()) -> list[int]:
    judge = Judge(judge_of(definitions).matcher, only=only)
    return assert_agreement(judge, kernel.KernelPath(judge), lines)


ANY = {"protocol": "MQTT/5.0", "protocoloptions": {"qos": 1}}


def test_rivals_are_the_judges() -> None:
    desk, bare = DEFINITIONS["desk"], DEFINITIONS["both"]
    payload = {name: desk[name] for name in ("dataschemaformat", "dataschema")}
    assert taken({"desk": desk}, line("desk")) == [0]
    assert taken({"desk": desk, "payload": payload}, line("desk")) == []
    assert taken({"both": bare, "payload": payload}, line("both")) == [0]
    assert taken({"desk": desk, "desk2": desk}, line("desk")) == []
    assert taken({"desk": desk, "any": ANY}, line("desk")) == []
    assert taken({"both": bare, "any": desk | {"protocoloptions": {}}}, line("both")) == [0]
    assert taken({"both": bare, "other": DEFINITIONS["both-event"]}, line("both")) == [0]


def test_only_wanted_definitions() -> None:
    xid = "/messagegroups/g/messages/bare"
    assert taken(DEFINITIONS, line("desk"), line("bare"), only=(xid,)) == [1]


def test_many_names_are_not_looked_for() -> None:
    wide = {f"n{n}": {"value": "x"} for n in range(40)}
    found = {
        "wide": definition("KAFKA", {"topic": "wide", "headers": wide}),
        "orders": DEFINITIONS["orders"],
    }
    sent = dict.fromkeys(wide, "x")
    lines = [put("orders", topic="wide", headers=sent), put("orders", headers=sent)]
    assert taken(found, *lines) == [1]


def test_a_header_of_another_case_is_another_one() -> None:
    kind = {"headers": {"Content-Type": {"value": "application/json"}}}
    found = {"spelled": definition("KAFKA", {"topic": "orders", **kind})}
    texts = ({"Content-Type": "text/plain"}, {"Content-Type": "application/json"}, {})
    assert taken(found, *(put("orders", headers=one) for one in texts)) == []


def test_many_shapes_are_the_judges() -> None:
    topics = ["/".join("a" if n >> i & 1 else f"{{p{i}}}" for i in range(9)) for n in range(512)]
    found = {f"d{n}": definition("MQTT/5.0", {"topic_name": one}) for n, one in enumerate(topics)}
    assert taken(found, put("bare", topic_name="b/b/b/b/b/b/b/b/a")) == []


def test_many_definitions_of_one_shape() -> None:
    found = {
        f"d{n}": definition("MQTT/5.0", {"topic_name": f"s/{{store}}/d{n}/{{id}}"})
        for n in range(500)
    }
    lines = [put("bare", topic_name=f"s/{n}/d{n}/x{n}") for n in range(0, 500, 3)]
    assert len(taken(found, *lines)) == len(lines)


def test_the_corpus_is_accepted() -> None:
    made, rng = corpus(), random.Random(11)
    lines = []
    for number in range(EVENTS // 4):
        found = made.event(rng, 50, number)
        if rng.random() < made.FLAWED:
            made.spoil(rng, found)
        lines.append(json.dumps(made.native(found), separators=(",", ":")).encode())
    judge = Judge(load_bytes(json.dumps(made.catalog(50, "mqtt")).encode(), "catalog"))
    rows = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(rows) > 0.94 * len(lines)


@pytest.mark.parametrize("compiled", [False, True], ids=["not-compiled", "compiled"])
def test_they_land_with_their_places(compiled: bool, tmp_path: Path) -> None:
    setting = landing.Setting(catalog=document(DEFINITIONS), compiled=compiled)
    lines = [line(name) for name in GOOD] + [put("desk", qos=0), b"{}", put("bare", topic_name="")]
    landing.assert_agreement(setting, tmp_path, lines * 2)


def test_no_definition_of_a_protocol() -> None:
    judge = judge_of({"raw": {"envelope": "CloudEvents/1.0"}})
    found = kernel.KernelPath(judge).take(pa.array([line("desk")], pa.binary()))
    assert (found.groups, found.rest.tolist()) == ([], [0])
