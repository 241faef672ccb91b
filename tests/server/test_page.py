"""JSON as a page for a browser."""

from __future__ import annotations

import html
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.server.page import page
from tests.server.calls import Calls

BASE = "http://localhost:8080"
_LINK = re.compile(r'<a href="([^"]*)">\1</a>')


def test_addresses_are_links(calls: Calls) -> None:
    calls.put("/dirs/d1", {"name": "<b>ü & co"})
    shown = calls.get("/dirs/d1?html")
    assert (shown.status, shown.header("content-type")) == (200, "text/html")
    text = shown.body.decode("ascii")
    assert text.startswith("<pre>\n{\n")
    assert f'"self": "<a href="{BASE}/dirs/d1?html">{BASE}/dirs/d1?html</a>",' in text
    assert '"name": "&lt;b&gt;&#252; &amp; co"' in text


def test_a_query_is_kept(calls: Calls) -> None:
    calls.put("/dirs/d1", {})
    shown = calls.get("/?filter=dirs.dirid=d1&html").body.decode("ascii")
    assert f'href="{BASE}/dirs?filter=dirid=d1&amp;html"' in shown


@pytest.mark.parametrize("target", ["/dirs/d1", "/dirs/d1?html=false"])
def test_only_where_asked(calls: Calls, target: str) -> None:
    calls.put("/dirs/d1", {})
    assert calls.get(target).header("content-type") == "application/json; charset=utf-8"


def test_documents_and_writes_stay_as_they_are(calls: Calls) -> None:
    calls("PUT", "/dirs/d1/files/f1", b"<b>", {"Content-Type": "text/x"})
    assert calls.get("/dirs/d1/files/f1?html").header("content-type") == "text/x"
    assert (
        calls.put("/dirs/d1?html", {}).header(
            "content-type",
        )
        == "application/json; charset=utf-8"
    )


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")))


@given(st.dictionaries(TEXTS, TEXTS | TEXTS.map(lambda text: BASE + text)))
def test_nothing_but_links_is_markup(value: dict[str, str]) -> None:
    text = msgspec.json.encode(value)
    shown = page(text, BASE).decode("ascii").removeprefix("<pre>\n").removesuffix("\n")
    plain = _LINK.sub(lambda found: re.sub("([?]|&amp;)html$", "", found[1]), shown)
    assert not re.search("[<>]", plain)
    assert html.unescape(plain) == text.decode()
