"""Which tables letters land in: those of the job that wrote them, but for what is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from heraldry.errors import UsageError
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.plans import kept_plans
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import databases
from heraldry.pipeline.letters.letter import writers

_UNKNOWN = ""


class LetterPlans:
    """The plan of every letter of a warehouse.

    ``given`` are members of the plan that count for all letters. Messages inside ``foreign``
    letters were meant for another job than the one that wrote the letter, so that is not asked.
    """

    def __init__(self, storage: Storage, given: Mapping[str, Any], *, foreign: bool) -> None:
        self._storage, self._given, self._foreign = storage, given, foreign

    def check(self, letters: Iterable[pa.RecordBatch]) -> None:
        """Refuse letters of which one has no plan; they are read only where that can be."""
        kept = kept_plans(self._storage)
        if "database" in self._given or len(self._databases(kept)) < 2:
            return
        for batch in letters:
            self._by_letter(kept, pa.Table.from_batches([batch]))

    def split(self, letters: pa.Table) -> list[tuple[TablePlan, pa.Table]]:
        """The letters by their plans; UsageError where a letter's cannot be known."""
        # Asked every time: a job may begin, or change its plan, while letters are replayed.
        found, plans = self._by_letter(kept_plans(self._storage), letters)
        rows: dict[TablePlan, list[int]] = {}
        for row, job in enumerate(found):
            rows.setdefault(plans[job], []).append(row)
        if len(rows) == 1:
            return [(plan, letters) for plan in rows]
        return [(plan, letters.take(some).combine_chunks()) for plan, some in rows.items()]

    def _by_letter(
        self, kept: Mapping[str, TablePlan], letters: pa.Table
    ) -> tuple[list[str], dict[str, TablePlan]]:
        """The job of every letter, and the plan of every job."""
        found = writers(letters, () if self._foreign else kept)
        return found, {job: self._plan(kept, job) for job in dict.fromkeys(found)}

    def _plan(self, kept: Mapping[str, TablePlan], job: str) -> TablePlan:
        return replace(self._usual(kept) if job == _UNKNOWN else kept[job], **self._given)

    def _usual(self, kept: Mapping[str, TablePlan]) -> TablePlan:
        """The plan of letters whose job is not known: there must be one database for them."""
        found = self._databases(kept)
        if len(found) > 1 and "database" not in self._given:
            names = ", ".join(sorted(found))
            reason = f"some letters do not tell which database they are of: {names}"
            raise UsageError(reason, "give --database, and select those letters with --where")
        return TablePlan(database=next(iter(found), TablePlan().database))

    def _databases(self, kept: Mapping[str, TablePlan]) -> set[str]:
        return databases(self._storage) | {plan.database for plan in kept.values()}
