"""What is deprecated and still referenced is told, with what replaces it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.messages import lint
from heraldry.model.problem import Finding
from tests.messages.airport import CHECKED_IN

MESSAGE = "/messagegroups/old/messages/bag"
MOMENT = datetime(2026, 11, 16, tzinfo=UTC)


def told(
    messages: dict[str, Any],
    *,
    old: Any = None,
    group: Any = None,
    schema: Any = None,
    endpoint: dict[str, Any] | None = None,
) -> list[Finding]:
    """The findings about messages of a new group beside an old one, its schema and an endpoint."""
    bag = {**CHECKED_IN, **({} if old is None else {"deprecated": old})}
    above = {} if group is None else {"deprecated": group}
    versions = {"1": {"format": "JSONSchema/draft-07", "schema": {}, **(schema or {})}}
    document = {
        "messagegroups": {
            "old": {**above, "messages": {"bag": bag}},
            "new": {"messages": messages},
        },
        "schemagroups": {"s": {"schemas": {"bag": {"versions": versions}}}},
        "endpoints": {"belt": {"usage": ["consumer"], **(endpoint or {})}},
    }
    catalog = load_bytes(json.dumps(document).encode(), "c.json")
    return [one for one in lint.check(catalog, clock=lambda: MOMENT) if one.rule == "deprecated"]


DERIVED = {"bag": {"basemessage": MESSAGE}}
BORROWED = {"bag": {"meta": {"xref": MESSAGE}}}
PLACE = "/messagegroups/new/messages/bag"


@pytest.mark.parametrize(
    ("notice", "severity", "message", "advice"),
    [
        pytest.param({}, "warning", "is deprecated", "what replaces it", id="an empty notice"),
        pytest.param(True, "warning", "is deprecated", "what replaces it", id="true"),
        pytest.param(
            {"alternative": "/messagegroups/new/messages/crate", "docs": "https://example.com"},
            "warning",
            "is deprecated",
            "refer to /messagegroups/new/messages/crate instead",
            id="an alternative",
        ),
        pytest.param(
            {"docs": "https://example.com/why"},
            "warning",
            "is deprecated",
            "see https://example.com/why",
            id="docs",
        ),
        pytest.param(
            {"effective": "2026-01-01T00:00:00Z", "removal": "2027-01-01T00:00:00Z"},
            "warning",
            "is deprecated, and removed from 2027-01-01T00:00:00Z",
            "what replaces it",
            id="since a while",
        ),
        pytest.param(
            {"effective": "2027-01-01T00:00:00Z"},
            "info",
            "will be deprecated from 2027-01-01T00:00:00Z",
            "what replaces it",
            id="in the future",
        ),
    ],
)
def test_what_a_notice_says(notice: Any, severity: str, message: str, advice: str) -> None:
    (found,) = told(DERIVED, old=notice)
    assert (found.location, found.severity) == (f"{PLACE}/basemessage", severity)
    assert found.message == f"{MESSAGE} {message}"
    assert found.advice.endswith(advice)


@pytest.mark.parametrize("notice", [None, False], ids=["absent", "false"])
def test_no_notice(notice: Any) -> None:
    assert told(DERIVED, old=notice) == []


@pytest.mark.parametrize(
    ("messages", "more", "place"),
    [
        pytest.param(DERIVED, {"old": {}}, f"{PLACE}/basemessage", id="base"),
        pytest.param(BORROWED, {"old": {}}, PLACE, id="borrowed"),
        pytest.param(DERIVED, {"group": {}}, f"{PLACE}/basemessage", id="base in an old group"),
        pytest.param(
            {},
            {"group": {}, "endpoint": {"messagegroups": ["/messagegroups/old"]}},
            "/endpoints/belt/messagegroups/0",
            id="endpoint",
        ),
        pytest.param(
            {
                "bag": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"type": {"value": "bag"}},
                    "dataschemaformat": "JSONSchema/draft-07",
                    "dataschemauri": "/schemagroups/s/schemas/bag/versions/1",
                }
            },
            {"schema": {"deprecated": {}}},
            f"{PLACE}/dataschemauri",
            id="schema version",
        ),
    ],
)
def test_every_kind_of_reference(messages: Any, more: dict[str, Any], place: str) -> None:
    (found,) = told(messages, **more)
    assert found.location == place


def test_what_is_deprecated_itself_may_refer_to_it() -> None:
    own = {"bag": {**DERIVED["bag"], "deprecated": {}}}
    assert told(own, old={}) == []
    listed = {"messagegroups": ["/messagegroups/old"], "deprecated": {}}
    assert told({}, group={}, endpoint=listed) == []
