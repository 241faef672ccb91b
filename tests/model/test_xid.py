"""Xids: the forms there are, and what is wrong with the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import XidError
from heraldry.model.xid import Xid

IDS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._~:@-]{0,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/", Xid(), id="registry"),
        pytest.param("/g/a", Xid("g", "a"), id="group"),
        pytest.param("/g/a/r/b", Xid("g", "a", "r", "b"), id="resource"),
        pytest.param("/g/a/r/b/versions/1", Xid("g", "a", "r", "b", "1"), id="version"),
        pytest.param("/g/a/r/b/meta", Xid("g", "a", "r", "b", meta=True), id="meta"),
    ],
)
def test_reads_and_writes_every_form(text: str, expected: Xid) -> None:
    assert Xid.parse(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("g/a", "must start with '/'", id="relative"),
        pytest.param("/g//r/b", "empty part", id="empty-part"),
        pytest.param("/g", "expected /GROUPS/GID", id="collection"),
        pytest.param("/g/a/r/b/version/1", "expected /GROUPS/GID", id="wrong-word"),
    ],
)
def test_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(XidError, match=reason):
        Xid.parse(text)


@given(IDS, IDS, IDS)
def test_text_and_xid_are_inverse(group: str, resource: str, version: str) -> None:
    xid = Xid("messagegroups", group, "messages", resource, version)
    assert Xid.parse(str(xid)) == xid
    assert str(xid.entity) == f"/messagegroups/{group}/messages/{resource}"
