"""The compiled path accepts nothing that the judge would not accept, and with the same row."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.messages.envelopes.cloudevents import ATTRIBUTES as ATTRIBUTES_OF_EVENTS
from heraldry.messages.judge import Judge
from heraldry.pipeline.kernel import jit
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.kernel.envelope import MEMBERS
from heraldry.pipeline.kernel.parse import parse_rows
from tests.effort import effort, thorough
from tests.pipeline.kernel.adversarial import ADVERSARIAL, ATTRIBUTES, ITEM, ORDER, full, put
from tests.pipeline.kernel.agreement import assert_agreement, judge_of, message
from tests.suites.flawed_lines import (
    DAYS,
    INSTANTS,
    SOURCES,
    SUBJECTS,
    as_text,
    events,
    native_lines,
)
from tests.suites.streams import EVENT_KINDS, OPEN, OPEN_KINDS, WIDE, event
from tests.suites.streams import line as line_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernel.available(), reason="numba is not installed"),
]
EXAMPLES = effort(100, soak=20_000)
MUTATIONS = effort(20_000, soak=1_000_000)


@pytest.fixture(scope="module")
def judge() -> Judge:
    messages = {"order": message("order", ORDER, **ATTRIBUTES)}
    messages["modern"] = message("modern", ORDER, draft="2020-12")
    return judge_of(messages)


@pytest.fixture(scope="module")
def shared_path(judge: Judge) -> kernel.KernelPath:
    return kernel.KernelPath(judge)


@pytest.mark.parametrize("name", list(ADVERSARIAL), ids=[ascii(name)[:60] for name in ADVERSARIAL])
def test_a_line_between_good_ones(name: str, judge: Judge, shared_path: kernel.KernelPath) -> None:
    taken = assert_agreement(judge, shared_path, [full(), ADVERSARIAL[name], full()])
    assert {0, 2} <= set(taken)


@pytest.mark.parametrize("kind", ["order", "modern"])
def test_all_lines_together(kind: str, judge: Judge) -> None:
    lines = [one.replace(b'"order"', f'"{kind}"'.encode()) for one in ADVERSARIAL.values()] * 2
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(taken) > 100


def test_lines_that_only_make_sense_together(judge: Judge, shared_path: kernel.KernelPath) -> None:
    """Lines lie one behind the other in memory: none may be read beyond its end."""
    for cut in range(1, len(full())):
        parts = [full()[:cut], full()[cut:]]
        assert assert_agreement(judge, shared_path, parts) == []


def mutated(rng: random.Random, good: bytes) -> bytes:
    letters = b'{}[]",:0123456789.eE+-\\ntrufals \x00\xc3\xa9%Z'
    text = bytearray(good)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        p, what = rng.randrange(len(text) or 1), rng.random()
        if what < 0.4:
            text[p : p + 1] = bytes([rng.choice(letters)])
        elif what < 0.6:
            del text[p : p + 1]
        elif what < 0.8:
            text.insert(p, rng.choice(letters))
        else:
            p, q = sorted((p, rng.randrange(len(text) or 1)))
            text[p:q] = text[p:q] * rng.choice((0, 2))
    return bytes(text)


@thorough
@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int, judge: Judge, shared_path: kernel.KernelPath) -> None:
    rng = random.Random(seed)
    left = MUTATIONS // 4
    while left > 0:
        lines = [mutated(rng, full()) for _ in range(min(left, 10_000))]
        taken = assert_agreement(judge, shared_path, lines)
        assert len(taken) > len(lines) // 50
        left -= len(lines)


SETTINGS = {
    "wide": (WIDE, events(EVENT_KINDS) | native_lines()),
    "open": (OPEN, events(OPEN_KINDS) | events({"o": EVENT_KINDS["order"]})),
}


@thorough
@pytest.mark.parametrize("name", list(SETTINGS), ids=list(SETTINGS))
def test_every_kind_of_definition(name: str) -> None:
    catalog, lines = SETTINGS[name]
    judge = Judge(load_bytes(catalog, "catalog"))

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(lines, min_size=1, max_size=12))
    def agree(stream: list[bytes]) -> None:
        assert_agreement(judge, kernel.KernelPath(judge), stream)

    agree()


def test_single_values_of_every_kind_of_definition() -> None:
    judge = Judge(load_bytes(WIDE, "catalog"))
    lines = [
        line_of(event(name, {"id": "1", "total": 1, "name": "a"}, source=text))
        for name in EVENT_KINDS
        for text in SOURCES
    ]
    lines += [line_of(event("order", {"id": "1", "total": 1}, subject=text)) for text in SUBJECTS]
    lines += [
        line_of(event("nested", {})).replace(
            b"}", f', "data": {{"at": {as_text(text)}}}}}'.encode()
        )
        for text in (*DAYS, *INSTANTS)
    ]
    assert assert_agreement(judge, kernel.KernelPath(judge), lines)


def test_no_lines(shared_path: kernel.KernelPath) -> None:
    found = shared_path.take(pa.array([], pa.binary()))
    assert (found.groups, len(found.rest)) == ([], 0)


def test_slices_nulls_and_large_arrays(judge: Judge, shared_path: kernel.KernelPath) -> None:
    lines = [b"x", full(), None, full(), b"", full()]
    for kind in (pa.binary(), pa.large_binary()):
        found = shared_path.take(pa.array(lines, kind)[1:])
        assert [group.rows.tolist() for group in found.groups] == [[0, 2, 4]]
        assert found.rest.tolist() == [1, 3]


def test_only_wanted_definitions(judge: Judge) -> None:
    wanted = Judge(judge.matcher, only=["/messagegroups/g/messages/modern"])
    found = kernel.KernelPath(wanted).take(pa.array([full()], pa.binary()))
    assert (found.groups, found.rest.tolist()) == ([], [0])


def test_long_lists(judge: Judge) -> None:
    """More items than there is room for at first."""
    items = ",".join(json.dumps({"sku": str(n), "qty": n}) for n in range(700))
    lines = [put(f"[{ITEM}]", f"[{items}]")] * 20
    assert len(assert_agreement(judge, kernel.KernelPath(judge), lines)) == 20


def test_all_attributes_are_known() -> None:
    assert set(MEMBERS) == {*ATTRIBUTES_OF_EVENTS, "data"}


def test_machine_code_is_of_all_sources() -> None:
    """A kernel must be compiled again when a function of another module changes."""
    assert parse_rows._cache._cache_file._source_stamp == jit._sources()
