"""The circuit breaker: it opens for a jump of dead letters, and only then."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from heraldry.errors import PipelineError
from heraldry.pipeline.lake.layout import DEAD_LETTERS, NAME_KEY
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.landing.batches import report_of
from heraldry.pipeline.landing.breaker import Breaker

NEXT = 50
"""The batch that is judged."""
TABLES = {"a": {NAME_KEY: json.dumps(["a"])}, DEAD_LETTERS: {}}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(str(tmp_path))


def manifest(dead: int, read: int = 1000, batch: int = NEXT) -> Manifest:
    counts = {"a": read - dead, DEAD_LETTERS: dead}
    files = [ManifestFile(table=table, name="n", rows=n, size=1) for table, n in counts.items()]
    reasons = {"type": dead - 1, "required": 1}
    return Manifest(batch=batch, files=tuple(files), tables=TABLES, reasons=reasons)


def committed(ledger: Ledger, *batches: tuple[int, int]) -> None:
    """The batches right before the next one: dead letters, and messages read."""
    for batch, (dead, read) in enumerate(batches, NEXT - len(batches)):
        ledger.commit(manifest(dead, read, batch))


def check(ledger: Ledger, dead: int, read: int = 1000, limit: float | None = 0.5) -> None:
    """What a job asks that has just begun: nothing but the ledger is known."""
    Breaker(limit, ledger).check(report_of(manifest(dead, read)))


def test_a_jump_stops_the_job(ledger: Ledger) -> None:
    committed(ledger, (20, 1000))
    with pytest.raises(PipelineError) as caught:
        check(ledger, 900)
    told = str(caught.value)
    assert f"90% of batch {NEXT} would be dead letters (limit 50%, 2% before)" in told
    assert "type (899), required (1)" in told
    assert "--breaker off" in told


def test_the_first_batch_has_nothing_to_jump_from(ledger: Ledger) -> None:
    with pytest.raises(PipelineError, match=f"90% of batch {NEXT}"):
        check(ledger, 900)


@pytest.mark.parametrize(
    ("limit", "dead", "read"),
    [(None, 1000, 1000), (0.5, 500, 1000), (0.5, 99, 99), (1.0, 1000, 1000)],
    ids=["off", "at the limit", "a handful", "everything may be dead"],
)
def test_it_stays_closed(ledger: Ledger, limit: float | None, dead: int, read: int) -> None:
    check(ledger, dead, read, limit)


def test_a_stream_that_always_has_many_goes_on(ledger: Ledger) -> None:
    committed(ledger, (600, 1000))
    check(ledger, 900)


def test_what_is_usual_is_of_the_last_batches(ledger: Ledger) -> None:
    committed(ledger, (900, 1000), *[(10, 1000)] * 20, (0, 0))
    with pytest.raises(PipelineError, match="1% before"):
        check(ledger, 900)


def test_batches_without_messages_do_not_count(ledger: Ledger) -> None:
    committed(ledger, (600, 1000), *[(0, 0)] * 20)
    check(ledger, 900)


def apart(dead: int, unselected: int, read: int = 1000, batch: int = NEXT) -> Manifest:
    """A batch of which so many letters are of messages that are not selected."""
    reasons = {"type": dead, "not-selected": unselected}
    return msgspec.structs.replace(manifest(dead + unselected, read, batch), reasons=reasons)


def test_what_is_not_selected_opens_nothing(ledger: Ledger) -> None:
    """A job that lands one definition of many has nothing but those letters."""
    for dead, unselected in ((0, 900), (0, 1000), (50, 900)):
        Breaker(0.5, ledger).check(report_of(apart(dead, unselected)))


def test_what_is_not_selected_hides_nothing(ledger: Ledger) -> None:
    """800 of 1000 are not selected: the rest has its own share, now and before."""
    ledger.commit(apart(20, 800, batch=NEXT - 1))
    with pytest.raises(PipelineError) as caught:
        Breaker(0.5, ledger).check(report_of(apart(180, 800)))
    told = str(caught.value)
    assert "90% of batch 50 would be dead letters (limit 50%, 10% before): type (180)." in told


def test_batches_of_nothing_selected_are_not_usual(ledger: Ledger) -> None:
    committed(ledger, (600, 1000), (600, 1000))
    for batch in range(NEXT, NEXT + 20):
        ledger.commit(apart(0, 1000, batch=batch))
    Breaker(0.5, ledger).check(report_of(apart(900, 0, batch=NEXT + 20)))
