from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.calls import Calls


@pytest.fixture
def calls() -> Iterator[Calls]:
    """A registry with groups `dirs` of documents `files` and of `notes`, which have none."""
    opened = Calls()
    yield opened
    opened.close()
