"""The benchmark's stream: nearly all of what is good is accepted without the judge."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from types import ModuleType

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.pipeline.kernel import path as kernel
from tests.pipeline.kernel.agreement import assert_agreement

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernel.available(), reason="numba is not installed"),
]
EVENTS = 20_000


def corpus() -> ModuleType:
    place = Path(__file__).parents[3] / "benchmarks" / "corpus.py"
    spec = importlib.util.spec_from_file_location("corpus", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_corpus_is_accepted() -> None:
    made, rng = corpus(), random.Random(11)
    lines = []
    for number in range(EVENTS):
        found = made.event(rng, 50, number)
        flawed = rng.random() < made.FLAWED
        text = made.spoil(rng, found) if flawed else json.dumps(found, separators=(",", ":"))
        lines.append(text.encode())
    judge = Judge(load_bytes(json.dumps(made.catalog(50)).encode(), "catalog"))
    kernel.warm()
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(taken) > 0.94 * EVENTS
