"""What there is where no letter fits, and which definition a bare id means."""

from __future__ import annotations

from pathlib import Path

import pytest

from heraldry.errors import UnknownDefinitionError
from heraldry.pipeline.letters.alternatives import alternatives, definition_meant
from tests.pipeline.watching.warehouses import Warehouse

PLACED, OTHER = (f"/messagegroups/{group}/messages/placed" for group in "ab")
PAID = "/messagegroups/a/messages/paid"


@pytest.fixture
def lake(tmp_path: Path) -> str:
    lake = Warehouse(tmp_path)
    lake.letters(["json", "type", "type", "type"], ["", PLACED, PAID, OTHER])
    return lake.path


def test_values_are_the_most_frequent_first(lake: str) -> None:
    found = alternatives(lake, ["rule", "stage"])
    assert found.letters == 4
    assert found.values == {"rule": ("type", "json"), "stage": ("validate",)}


@pytest.mark.parametrize(
    ("text", "meant"),
    [("paid", PAID), (OTHER, OTHER), ("pai", "pai"), ("b/messages/placed", "b/messages/placed")],
    ids=["bare id", "xid", "no letter's", "part of an xid"],
)
def test_a_bare_id_means_the_only_definition_of_it(lake: str, text: str, meant: str) -> None:
    assert definition_meant(lake, text) == meant


def test_a_bare_id_of_several_definitions_means_none(lake: str) -> None:
    with pytest.raises(UnknownDefinitionError) as caught:
        definition_meant(lake, "placed")
    assert caught.value.near == (PLACED, OTHER)
