"""An empty store of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from heraldry.store.opening import open_store
from heraldry.store.store import Store
from tests.store.registries import FIRST


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty registry."""
    with closing(open_store(address, FIRST)) as found:
        yield found
