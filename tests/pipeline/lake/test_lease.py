"""A lease over a folder: of many that want it, one has it. Object storage: tests/live."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from heraldry.pipeline.lake.lease import Lease
from heraldry.pipeline.lake.storage import Storage


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.open(str(tmp_path))


def lease(storage: Storage) -> Lease:
    return Lease(storage=storage, path="lock", lost=lambda: None)


def test_turns_follow_one_another(storage: Storage) -> None:
    for turn in range(3):
        with lease(storage).held() as free, lease(storage).held() as second:
            assert (free, second) == (True, False)
            assert [name for name in storage.names("lock") if name.startswith("turn")] == [
                f"turn-{turn:012d}"
            ]


def test_who_is_slow_to_take_a_turn_that_is_past_has_none(storage: Storage) -> None:
    """Others have had it, let it go, and taken the next: its log is gone, and can be made anew."""

    class Slow(Lease):
        def _is_first(self, turn: int) -> bool:
            with lease(storage).held() as taken:
                assert taken
            assert owner.enter_context(lease(storage).held())
            return Lease._is_first(self, turn)

    with lease(storage).held() as free:
        assert free
    with ExitStack() as owner:
        slow = Slow(storage=storage, path="lock", lost=lambda: None)
        with slow.held() as free:
            assert not free
        with lease(storage).held() as free:
            assert not free, "it is still the owner's"
    with lease(storage).held() as free:
        assert free
