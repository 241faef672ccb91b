"""Events on protocols: the compiled path has the judge's rows, and takes what is good."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.messages import line as message_lines
from heraldry.messages.judge import Judge
from heraldry.messages.protocols import kafka
from heraldry.messages.verdict import Accepted
from heraldry.pipeline.kernel import path as kernel
from tests.effort import thorough
from tests.pipeline.kernel import event_lines
from tests.pipeline.kernel.agreement import assert_agreement, judge_of
from tests.pipeline.kernel.event_lines import DEFINITIONS, GOOD, LEFT
from tests.pipeline.kernel.native_lines import DEFINITIONS as NATIVES
from tests.pipeline.kernel.native_lines import definition
from tests.pipeline.kernel.strange_events import STRANGE
from tests.pipeline.kernel.test_kernel_agreement import EXAMPLES, MUTATIONS, mutated
from tests.pipeline.kernel.test_kernel_corpus import EVENTS, corpus
from tests.pipeline.landing import without_spark as landing
from tests.pipeline.sources.test_kafka_lines import lines_of
from tests.suites.streams import document

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernel.available(), reason="numba is not installed"),
]
TAKEN = sorted(GOOD.keys() - LEFT)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_of(DEFINITIONS)


@pytest.fixture(scope="module")
def shared_path(judge: Judge) -> kernel.KernelPath:
    return kernel.KernelPath(judge)


@pytest.mark.parametrize("name", list(GOOD))
def test_good_events(name: str, judge: Judge, shared_path: kernel.KernelPath) -> None:
    line = GOOD[name].line()
    taken = assert_agreement(judge, shared_path, [line])
    assert bool(taken) == (name not in LEFT)
    if taken:
        assert isinstance(judge.judge(line), Accepted)


def test_everything_together(judge: Judge) -> None:
    lines = [*event_lines.adversarial(), *STRANGE.values()]
    random.Random(5).shuffle(lines)
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(taken) > len(lines) // 30


def test_beside_definitions_without_events() -> None:
    """Definitions of the protocol alone compete for events, too."""
    judge = judge_of({**NATIVES, **DEFINITIONS})
    lines = [GOOD[name].line() for name in GOOD]
    assert assert_agreement(judge, kernel.KernelPath(judge), lines)


def test_lines_that_only_make_sense_together(judge: Judge, shared_path: kernel.KernelPath) -> None:
    for name in ("kafka, listed", "kafka, structured", "http", "amqp"):
        good = GOOD[name].line()
        for cut in range(1, len(good)):
            assert assert_agreement(judge, shared_path, [good[:cut], good[cut:]]) == []


@thorough
@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int, judge: Judge, shared_path: kernel.KernelPath) -> None:
    rng = random.Random(seed)
    lines = [mutated(rng, GOOD[rng.choice(TAKEN)].line()) for _ in range(MUTATIONS // 4)]
    assert len(assert_agreement(judge, shared_path, lines)) > len(lines) // 50


@thorough
def test_flawed_events(judge: Judge) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(event_lines.bound_events(), min_size=1, max_size=12))
    def agree(stream: list[bytes]) -> None:
        assert_agreement(judge, kernel.KernelPath(judge), stream)

    agree()


def taken(definitions: dict[str, Any], *names: str, only: tuple[str, ...] = ()) -> list[int]:
    judge = Judge(judge_of(definitions).matcher, only=only)
    return assert_agreement(judge, kernel.KernelPath(judge), [GOOD[one].line() for one in names])


def test_only_wanted_definitions() -> None:
    xid = "/messagegroups/g/messages/kafka"
    assert taken(DEFINITIONS, "free on KAFKA", "kafka", only=(xid,)) == [1]


def test_many_rivals_are_told_apart_by_their_topics() -> None:
    rivals = {
        f"d{n}": event_lines.bound("KAFKA", {"topic": f"{n}-{{rest}}"}, "kafka") for n in range(80)
    }
    assert taken({"kafka": DEFINITIONS["kafka"], **rivals}, "kafka") == [0]


def test_many_rivals_are_the_judges() -> None:
    chain = {"d0": event_lines.bound("KAFKA", {"topic": "narrow"}, "narrow", subject="{a}")}
    for n in range(1, 12):
        chain[f"d{n}"] = {**chain["d0"], "basemessage": f"/messagegroups/g/messages/d{n - 1}"}
    assert taken(dict(list(chain.items())[:5]), "narrow") == [0]
    assert taken(chain, "narrow") == []


def test_many_topics_of_no_events() -> None:
    """A definition of the protocol alone counts on its own topic only."""
    bare = {f"t{n}": definition("KAFKA", {"topic": f"t{n}"}) for n in range(200)}
    assert taken({"kafka": DEFINITIONS["kafka"], **bare}, "kafka") == [0]


def test_many_extensions(judge: Judge) -> None:
    """Those that are learned first have places; events with others are the judge's."""
    lines = [event_lines.binary("KAFKA", **{f"x{n}": "a"}).line() for n in range(100)]
    path = kernel.KernelPath(judge)
    assert len(assert_agreement(judge, path, lines)) == 24
    assert len(assert_agreement(judge, path, [*lines, GOOD["kafka"].line()])) == 25


def test_extensions_that_appear_later(judge: Judge) -> None:
    path = kernel.KernelPath(judge)
    names = ("kafka", "extensions on KAFKA", "kafka", "an extension in a template", "declared type")
    for name in (*names, *reversed(names)):
        assert assert_agreement(judge, path, [GOOD[name].line(), GOOD["kafka"].line()]) == [0, 1]


def test_a_type_that_is_no_text_is_not_looked_up() -> None:
    """A number as a type fits however it is written."""
    odd = event_lines.free("5")
    odd["envelopemetadata"]["type"] = {"type": "integer", "value": "5"}
    found = {"odd": odd, "any": event_lines.free("{kind}")}
    judge = judge_of(found)
    lines = [event_lines.binary("KAFKA", type=one).line() for one in ("5", "05", "5.0", "x")]
    assert_agreement(judge, kernel.KernelPath(judge), lines)


def test_the_corpus_is_accepted() -> None:
    made, rng = corpus(), random.Random(11)
    lines = []
    for number in range(EVENTS // 4):
        found = made.event(rng, 50, number)
        if rng.random() < made.FLAWED:
            made.spoil(rng, found)
        lines.append(json.dumps(made.binary(found), separators=(",", ":")).encode())
    judge = Judge(load_bytes(json.dumps(made.catalog(50, "kafka")).encode(), "catalog"))
    rows = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(rows) > 0.94 * len(lines)


def test_what_the_source_writes_is_taken(judge: Judge, shared_path: kernel.KernelPath) -> None:
    """Records as clients send them, by the lines that landing makes of them."""
    events = [event_lines.binary("KAFKA", **event_lines.topic("any")), GOOD["kafka, structured"]]
    events += [GOOD["kafka"], GOOD["kafka-open"], GOOD["extensions on KAFKA"]]
    records = [kafka.encode(message_lines.read(sent.line())) for sent in events]
    records = [replace(one, partition=0, topic=one.topic or "any") for one in records]
    lines = lines_of(*records).values.to_pylist()
    assert assert_agreement(judge, shared_path, lines) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("compiled", [False, True], ids=["not-compiled", "compiled"])
def test_they_land(compiled: bool, tmp_path: Path) -> None:
    setting = landing.Setting(catalog=document({**NATIVES, **DEFINITIONS}, "g"), compiled=compiled)
    lines = [*(sent.line() for sent in GOOD.values()), *STRANGE.values()]
    lines += event_lines.adversarial(every=37)
    landing.assert_agreement(setting, tmp_path, lines)
