"""How documents are shown inside JSON, by their content type."""

from __future__ import annotations

import pytest

from heraldry.model.typemap import kind_of

pytestmark = pytest.mark.covers("MD-48", "DO-04")

GIVEN = {
    "text/*": "string",
    "text/mine": "json",
    "application/json": "BINARY",
    "Application/X-Mine": "string",
    "*/same": "json",
    "a/same": "json",
    "a*a": "string",
}


@pytest.mark.parametrize(
    ("typemap", "contenttype", "kind"),
    [
        pytest.param({}, "application/json", "json", id="implicit-json"),
        pytest.param({}, "application/cloudevents+json", "json", id="implicit-suffix"),
        pytest.param({}, "text/plain", "string", id="implicit-text"),
        pytest.param({}, "application/xml", "binary", id="no-match"),
        pytest.param({}, None, "binary", id="none"),
        pytest.param({}, " ", "binary", id="blank"),
        pytest.param({}, "TEXT/Plain; charset=utf-8", "string", id="parameters"),
        pytest.param(GIVEN, "text/xml", "string", id="wildcard"),
        pytest.param(GIVEN, "text/mine", "binary", id="disagreement"),
        pytest.param(GIVEN, "application/json", "binary", id="override"),
        pytest.param(GIVEN, "application/x-mine;q=1", "string", id="case"),
        pytest.param(GIVEN, "a/same", "json", id="agreement"),
        pytest.param(GIVEN, "a", "binary", id="no-overlap-around-the-star"),
        pytest.param(GIVEN, "a/b+json", "json", id="implicit-beside-given"),
        pytest.param({"*": "string"}, "application/json", "string", id="all"),
    ],
)
def test_kinds(typemap, contenttype, kind):
    assert kind_of(typemap, contenttype) == kind
