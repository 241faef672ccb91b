"""The circuit breaker: a batch of mostly dead letters stops the job before it is committed.

A catalog that was changed by mistake, or a producer gone wrong, would otherwise turn a whole
stream into letters. Nothing of such a batch is visible; the next run judges it again.
"""

from __future__ import annotations

from itertools import islice

from heraldry.errors import PipelineError
from heraldry.messages.judge import NOT_SELECTED
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.landing.batches import report_of
from heraldry.pipeline.landing.report import BatchReport

_LEAST = 100
_USUAL = 20
_JUMP = 2.0


class Breaker:
    """Opens where the share of dead letters is beyond the limit, and a jump from what is usual.

    Messages that are not selected are letters because that is wanted: they count neither as
    letters nor as messages. A handful of letters never opens it, and a stream that always has many
    does not stop at each batch: the share must be more than twice that of the last batches, of
    whichever run. The ledger knows them, and is asked only for a batch that is beyond the limit.
    """

    def __init__(self, limit: float | None, ledger: Ledger) -> None:
        self._limit = limit
        self._ledger = ledger

    def check(self, report: BatchReport) -> None:
        """Raise PipelineError for a batch that must not be committed."""
        dead, read = _counts(report)
        if self._limit is None or dead < _LEAST:
            return
        share = dead / read
        if share <= self._limit:
            return
        usual = self._usual(report.batch)
        if usual is not None and share <= _JUMP * usual:
            return
        rules = (item for item in report.reasons.items() if item[0] != NOT_SELECTED.rule)
        causes = sorted(rules, key=lambda item: -item[1])[:3]
        told = ", ".join(f"{rule} ({count:,})" for rule, count in causes)
        before = "" if usual is None else f", {usual:.0%} before"
        reason = (
            f"{share:.0%} of batch {report.batch} would be dead letters (limit {self._limit:.0%}"
            f"{before}): {told}. Nothing of it was committed: mend the catalog or the producer and"
            " run again, or give --breaker off"
        )
        raise PipelineError("judged a batch", reason)

    def _usual(self, batch: int) -> float | None:
        """The share of the last batches before one, or None where there are none."""
        past = (_counts(report_of(one)) for one in self._ledger.before(batch))
        recent = list(islice(((dead, read) for dead, read in past if read), _USUAL))
        if not recent:
            return None
        return sum(dead for dead, _ in recent) / sum(read for _, read in recent)


def _counts(report: BatchReport) -> tuple[int, int]:
    """The dead letters of a batch and its messages, but for those that are not selected."""
    apart = report.reasons.get(NOT_SELECTED.rule, 0)
    return report.dead - apart, report.read - apart
