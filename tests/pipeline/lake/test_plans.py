"""Plans that jobs keep: read as they were written, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.layout import TablePlan, part_of, path_part
from heraldry.pipeline.lake.plans import keep_plan, kept_plans
from heraldry.pipeline.lake.storage import Storage

NAMES = st.lists(st.text(min_size=1), max_size=3).map(tuple)
PLANS = st.builds(
    TablePlan,
    database=st.text(min_size=1),
    keep_payload=st.booleans(),
    with_base=st.booleans(),
    partition_by=NAMES,
    cluster_by=NAMES,
)


@given(plan=PLANS)
def test_a_plan_is_read_as_it_was_kept(
    tmp_path_factory: pytest.TempPathFactory, plan: TablePlan
) -> None:
    storage = Storage(str(tmp_path_factory.mktemp("lake")))
    assert kept_plans(storage) == {}
    keep_plan(storage, "one", TablePlan(database="before"))
    keep_plan(storage, "one", plan)
    keep_plan(storage, "two", TablePlan())
    assert kept_plans(storage) == {"one": plan, "two": TablePlan()}


def test_a_plan_that_is_half_written_is_none(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    keep_plan(storage, "one", TablePlan())
    (tmp_path / "_plans" / "two.json.draft").write_text("{")
    assert kept_plans(storage) == {"one": TablePlan()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "cannot be read"),
        (json.dumps({"version": 1, "plan": {"database": 7}}), "cannot be read"),
        (json.dumps({"version": 2, "tables": []}), "form 2 is not known"),
    ],
    ids=["no-json", "no-plan", "newer"],
)
def test_a_plan_that_cannot_be_read_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "_plans").mkdir()
    (tmp_path / "_plans" / "one.json").write_text(text)
    with pytest.raises(WarehouseError, match=told):
        kept_plans(Storage(str(tmp_path)))


@given(part=st.text(min_size=1))
def test_a_folder_tells_its_part_of_the_name(part: str) -> None:
    assert part_of(path_part(part)) == part
