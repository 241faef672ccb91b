"""Two registries on loopback ports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.registries import Registry, running


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running() as one:
        yield one


@pytest.fixture
def other() -> Iterator[Registry]:
    with running() as one:
        yield one
