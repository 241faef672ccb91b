"""A notice of deprecation counts from its time on: one's own, the group's, or the target's."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.messages.deprecation import Deprecation, deprecation
from heraldry.model.xid import Xid
from tests.messages.airport import CHECKED_IN

MOMENT = datetime(2026, 11, 16, tzinfo=UTC)
BAG = "/messagegroups/belt/messages/bag"


def found(message: Any = None, *, group: Any = None, meta: Any = None) -> Deprecation | None:
    """What is said of a message with some notices."""
    bag = CHECKED_IN if message is None else {**CHECKED_IN, "deprecated": message}
    bag = bag if meta is None else {**bag, "meta": {"deprecated": meta}}
    above = {} if group is None else {"deprecated": group}
    document = {"messagegroups": {"belt": {**above, "messages": {"bag": bag}}}}
    catalog = load_bytes(json.dumps(document).encode(), "c.json")
    return deprecation(catalog, Xid.parse(BAG), MOMENT)


@pytest.mark.parametrize(
    ("notice", "said"),
    [
        pytest.param(None, None, id="none"),
        pytest.param(False, None, id="false"),
        pytest.param({}, Deprecation(), id="an empty notice"),
        pytest.param(True, Deprecation(), id="true"),
        pytest.param({"effective": "2026-11-16T00:00:01Z"}, None, id="not yet"),
        pytest.param({"effective": "2026-11-16T01:00:00+01:00"}, Deprecation(), id="from now on"),
        pytest.param({"effective": "soon"}, Deprecation(), id="no time"),
        pytest.param(
            {"removal": "2027-01-01T00:00:00Z", "alternative": "/a", "documentation": "https://d"},
            Deprecation(
                removal="2027-01-01T00:00:00Z", alternative="/a", documentation="https://d"
            ),
            id="a whole notice",
        ),
        pytest.param({"docs": "https://d"}, Deprecation(documentation="https://d"), id="docs"),
        pytest.param({"removal": 7, "alternative": [""]}, Deprecation(), id="no texts"),
    ],
)
def test_what_a_notice_says(notice: Any, said: Deprecation | None) -> None:
    assert found(notice) == said
    assert found(meta=notice) == said
    assert found(group=notice) == said


def test_ones_own_notice_wins_over_the_groups() -> None:
    assert found({"alternative": "/own"}, group={"alternative": "/group"}) == Deprecation(
        alternative="/own"
    )


def test_a_borrowed_message_is_deprecated_with_the_one_it_stands_for() -> None:
    bag = {**CHECKED_IN, "deprecated": {"alternative": "/a"}}
    new = {"lent": {"meta": {"xref": BAG}}, "derived": {"basemessage": BAG}}
    groups = {"belt": {"messages": {"bag": bag}}, "new": {"messages": new}}
    catalog = load_bytes(json.dumps({"messagegroups": groups}).encode(), "c.json")
    lent, derived = (Xid.parse(f"/messagegroups/new/messages/{name}") for name in new)
    assert deprecation(catalog, lent, MOMENT) == Deprecation(alternative="/a")
    # its base may go, but nobody says that of the message itself
    assert deprecation(catalog, derived, MOMENT) is None
