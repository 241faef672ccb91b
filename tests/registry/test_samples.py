"""The official samples through a registry: in, out in document view, in again, on every store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask
from tests.registry.test_messaging_model import SAMPLES
from tests.stores import KINDS, address_of

TIMES = ("createdat", "modifiedat")
DOCUMENT = {"doc": True, "inline": ("*", "capabilities", "modelsource")}


@contextmanager
def opened(address: str, id_: str, model: str) -> Iterator[Registry]:
    """A new registry, closed at the end."""
    made = Registry.open(address, registry_id=id_, model=model)
    try:
        yield made
    finally:
        made.close()


def comparable(value: Any) -> Any:
    """An export without times; the id of the registry is compared apart."""
    if isinstance(value, dict):
        return {name: comparable(one) for name, one in value.items() if name not in TIMES}
    return [comparable(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2]])
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.covers("VW-02", "VW-03")
def test_an_export_of_a_sample_makes_the_same_registry(
    name: str, kind: str, reference: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    file = reference / "catalogs/xregistry-samples" / f"{name}.xreg.json"
    sample = json.loads(file.read_text("utf-8"))
    with opened(address_of(kind, request, tmp_path), "first", "messaging") as first:
        ask(first, "post", "/", sample)
        exported = ask(first, "get", "/export")
        assert exported == ask(first, "get", "/", **DOCUMENT)
    (tmp_path / "second").mkdir()
    with opened(address_of(kind, request, tmp_path / "second"), "second", "none") as second:
        ask(second, "put", "/", exported, ignore=("epoch", "id"))
        again = ask(second, "get", "/export")
    assert (exported.pop("registryid"), again.pop("registryid")) == ("first", "second")
    assert comparable(again) == comparable(exported)
