"""A write that is too large to be gathered goes to the database in parts, to the same end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, changes, refused

FORMAT = "JsonSchema/draft-07"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
BODY: dict[str, Any] = {
    "schemagroups": {
        f"s{group}": {
            "schemas": {
                f"x{number}": {
                    "meta": {"compatibility": "full"},
                    "versions": {str(v): {"format": FORMAT, "schema": SCHEMA} for v in range(3)},
                }
                for number in range(4)
            }
        }
        for group in range(3)
    },
    "messagegroups": {
        "m": {
            "messages": {
                "base": {"description": "of all"},
                "one": {"basemessage": "/messagegroups/m/messages/base"},
                "other": {"meta": {"xref": "/messagegroups/m/messages/one"}},
            }
        }
    },
}
TIMES = ("createdat", "modifiedat")


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, address: str) -> Iterator[Registry]:
    """A registry whose store gathers three rows."""
    monkeypatch.setattr("heraldry.store.writing._GATHERED", 3)
    with closing(Registry.open(address, registry_id="reg", model="messaging")) as made:
        yield made


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if name not in TIMES}
    return value


def test_a_write_in_parts_has_the_same_result(parts: Registry) -> None:
    whole = Registry.open("sqlite::memory:", registry_id="reg", model="messaging")
    with closing(whole):
        for made in (parts, whole):
            for _ in range(2):
                ask(made, "post", "/", BODY)
        expected, found = (without_times(ask(made, "get", "/export")) for made in (whole, parts))
        assert found == expected
        assert changes(parts) == changes(whole)


def test_a_write_in_parts_is_undone_as_a_whole(parts: Registry) -> None:
    broken = {"messagegroups": {"m": {"messages": {"bad": {"basemessage": 5}}}}}
    refused(parts, "post", "/", {**BODY, **broken})
    assert changes(parts) == []
    assert ask(parts, "get", "/")["schemagroupscount"] == 0
