"""The payload obeys the schema; a schema that cannot be used refuses nothing."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.messages.message import Message
from heraldry.messages.validate import validate
from tests.messages.airport import CHECKED_IN, airport, catalog_of, xid


def problems(message: str, payload: bytes | None) -> list[tuple[str, str]]:
    compiled = airport()[xid(message)].compiled
    return [(p.path, p.rule) for p in validate(compiled, Message(payload=payload))[1]]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(b'{"weight": 1}', [], id="valid"),
        pytest.param(None, [("/", "payload")], id="missing"),
        pytest.param(b"{", [("/", "json")], id="not JSON"),
        pytest.param(b'{"weight": "1"}', [("/weight", "type")], id="wrong type"),
    ],
)
def test_payloads(payload: bytes | None, expected: list[tuple[str, str]]) -> None:
    assert problems("checkedin", payload) == expected


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        pytest.param({"dataschema": None, "dataschemaformat": None}, "none", id="none"),
        pytest.param(
            {"dataschema": None, "dataschemauri": "/schemagroups/g/schemas/s"},
            "dangling",
            id="dangling",
        ),
        pytest.param(
            {"dataschema": None, "dataschemauri": "https://example.com/s.json"},
            "external",
            id="external",
        ),
        pytest.param({"dataschemaformat": "Thrift/0.20"}, "unsupported", id="unsupported"),
        pytest.param({"dataschema": {"type": 5}}, "invalid", id="invalid"),
    ],
)
def test_a_schema_that_cannot_be_used_refuses_nothing(changes: dict[str, Any], state: str) -> None:
    declared = {name: value for name, value in {**CHECKED_IN, **changes}.items() if value}
    compiled = catalog_of(odd=declared)[xid("odd")].compiled
    assert compiled.schema_state == state
    assert validate(compiled, Message(payload=b"\xff")) == (None, ())
