"""The transcripts, on every store and in both generations."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import WIRES, Wire
from heraldry.registry.registry import Registry
from heraldry.server.app import create_app
from heraldry.server.settings import ServerSettings
from tests.conformance.transcript import HERE, Case, DifferenceError, Expectation, Step, cases
from tests.server.asgi import call

BASE = "http://transcripts.example"
_names = itertools.count()


def playable() -> list[Any]:
    """Each case in each generation it is meant for."""
    return [
        pytest.param(case, wire, id=f"{case.name} [{wire.specversion}]", marks=marks)
        for case in cases()
        for wire in WIRES
        if case.only in ("", wire.specversion.removeprefix("1.0-"))
        for marks in [pytest.mark.covers(*case.ids)]
    ]


@pytest.mark.parametrize(("case", "wire"), playable())
def test_transcript(case: Case, wire: Wire, durable_address: str) -> None:
    model = json.loads((HERE / "models" / f"{case.model}.json").read_text())
    registry = Registry.open(durable_address, registry_id="transcript", model=model)
    try:
        app = create_app(registry, ServerSettings(base_url=BASE, wire=wire))
        words = {"base": BASE, "ancestor": wire.ancestor, "specversion": wire.specversion}
        expectation = Expectation(words, map_before_count=wire.map_before_count)
        for number, step in enumerate(case.steps, 1):
            try:
                _play(app, step, expectation)
            except DifferenceError as difference:
                pytest.fail(f"step {number}, {step.method} {step.path}: {difference}")
    finally:
        registry.close()


def _play(app: Any, step: Step, expectation: Expectation) -> None:
    reply = call(
        app,
        step.method,
        expectation.fill(step.path).removeprefix(BASE),
        headers=[(name, expectation.fill(value)) for name, value in step.headers],
        body=expectation.fill(step.body).encode(),
    )
    if reply.status != step.status:
        raise DifferenceError(
            f"expected {step.status}, found {reply.status}: {reply.body.decode()}"
        )
    for name, value in step.expected:
        if name.startswith("!"):
            if name[1:].lower() in reply.headers:
                raise DifferenceError(
                    f"header {name[1:]} is there: {reply.headers[name[1:].lower()]}"
                )
        else:
            wanted = expectation.fill(name).lower()
            if wanted not in reply.headers:
                raise DifferenceError(f"header {name} is missing: {reply.headers}")
            expectation.value(name, expectation.fill(value), reply.headers[wanted])
    if step.reply.strip():
        expectation.body(step.reply, reply.body)
