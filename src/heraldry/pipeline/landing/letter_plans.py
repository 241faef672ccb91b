"""Which tables letters land in: those of the job that wrote them, but for what is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.plans import kept_plans
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import databases
from heraldry.pipeline.landing.landable import refuse_unknown_columns, refuse_unlandable
from heraldry.pipeline.letters.letter import writers

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog

_UNKNOWN = ""
_COLUMNS: Mapping[str, Any] = {"partition_by": (), "cluster_by": ()}


class LetterPlans:
    """The plan of every letter of a warehouse.

    ``given`` are members of the plan that count for all letters. Messages inside ``foreign``
    letters were meant for another job than the one that wrote the letter, so that is not asked.
    A plan that letters land by is one that a job could begin with.
    """

    def __init__(
        self, catalog: Catalog, storage: Storage, given: Mapping[str, Any], *, foreign: bool
    ) -> None:
        self._catalog, self._storage = catalog, storage
        self._given, self._foreign = given, foreign
        self._landable: set[TablePlan] = set()

    def check(self, letters: Iterable[pa.RecordBatch]) -> None:
        """Refuse what is given, or letters of which one has no plan or none that can be landed by.

        They are read only where that can be: a job whose letters are all done with may have any.
        """
        kept = kept_plans(self._storage)
        self._refuse_unknown_columns(kept)
        try:
            for job in (_UNKNOWN, *(() if self._foreign else kept)):
                self._refuse_unlandable(self._plan(kept, job))
        except (UsageError, WarehouseError):
            for batch in letters:
                self._by_letter(kept, pa.Table.from_batches([batch]))

    def split(self, letters: pa.Table) -> list[tuple[TablePlan, pa.Table]]:
        """The letters by their plans; an error where a letter's is not known or cannot be."""
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
        plans = {job: self._plan(kept, job) for job in dict.fromkeys(found)}
        for plan in plans.values():
            self._refuse_unlandable(plan)
        return found, plans

    def _refuse_unlandable(self, plan: TablePlan) -> None:
        if plan not in self._landable:
            refuse_unlandable(self._catalog, plan, self._storage)
            self._landable.add(plan)

    def _refuse_unknown_columns(self, kept: Mapping[str, TablePlan]) -> None:
        """Only of what is given: what a job names was asked as that began."""
        if not _COLUMNS.keys() & self._given.keys():
            return
        usual = [TablePlan(database=one) for one in sorted(self._databases(kept))]
        plans = [*kept.values(), *usual] or [TablePlan()]
        first, *others = dict.fromkeys(replace(one, **{**_COLUMNS, **self._given}) for one in plans)
        refuse_unknown_columns(self._catalog, first, self._storage, others=others)

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
