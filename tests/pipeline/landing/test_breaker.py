"""The circuit breaker: it opens for a jump of dead letters, and only then."""

from __future__ import annotations

import pytest

from heraldry.errors import PipelineError
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.report import BatchReport


def report(dead: int, read: int = 1000, batch: int = 7) -> BatchReport:
    return BatchReport(
        batch=batch,
        read=read,
        landed=read - dead,
        dead=dead,
        seconds=1.0,
        tables={},
        reasons={"type": dead - 1, "required": 1},
    )


def test_a_jump_stops_the_job() -> None:
    breaker = Breaker(0.5)
    breaker.note(report(20))
    with pytest.raises(PipelineError) as caught:
        breaker.check(report(900))
    told = str(caught.value)
    assert "90% of batch 7 would be dead letters (limit 50%, 2% before)" in told
    assert "type (899), required (1)" in told
    assert "--breaker off" in told


def test_the_first_batch_has_nothing_to_jump_from() -> None:
    with pytest.raises(PipelineError, match="90% of batch 7"):
        Breaker(0.5).check(report(900))


@pytest.mark.parametrize(
    ("limit", "dead", "read"),
    [(None, 1000, 1000), (0.5, 500, 1000), (0.5, 99, 99), (1.0, 1000, 1000)],
    ids=["off", "at the limit", "a handful", "everything may be dead"],
)
def test_it_stays_closed(limit: float | None, dead: int, read: int) -> None:
    Breaker(limit).check(report(dead, read))


def test_a_stream_that_always_has_many_goes_on() -> None:
    breaker = Breaker(0.5)
    breaker.note(report(600))
    breaker.check(report(900))


def test_what_is_usual_is_of_the_last_batches() -> None:
    breaker = Breaker(0.5)
    breaker.note(report(900))
    for _ in range(20):
        breaker.note(report(10))
    breaker.note(report(0, 0))
    with pytest.raises(PipelineError):
        breaker.check(report(900))
