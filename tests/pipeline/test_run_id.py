from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from heraldry.pipeline.run_id import new_run_id


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_a_run_id_is_a_uuid_of_version_7_with_its_time_in_front(moment: int, noise: bytes) -> None:
    found = uuid.UUID(new_run_id(moment, noise))
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == moment


def test_later_runs_sort_after_earlier_ones() -> None:
    assert new_run_id(1) < new_run_id(2)
    assert new_run_id() != new_run_id()
