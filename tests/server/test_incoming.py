"""The registry at the address that names it."""

from __future__ import annotations

import pytest

from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

NAMED = "http://localhost:8080/reg-xRegistry"


@pytest.mark.covers("HT-01", "HT-04")
@pytest.mark.parametrize("path", ["/reg-xRegistry", "/reg-xRegistry/", "/reg-xRegistry/dirs/no"])
def test_the_root_link_has_the_name(calls: Calls, path: str) -> None:
    assert calls.get(path).header("Link") == f"<{NAMED}>;rel=xregistry-root"


@pytest.mark.covers("HT-01")
def test_addresses_begin_as_the_request_does(calls: Calls) -> None:
    made = calls.put("/reg-xRegistry/dirs/d1", {})
    assert (made.status, made.header("Location")) == (201, f"{NAMED}/dirs/d1")
    for _ in range(2):  # the second time from the cache
        assert calls.get("/reg-xRegistry/dirs/d1").json["self"] == f"{NAMED}/dirs/d1"
        assert calls.get("/dirs/d1").json["self"] == "http://localhost:8080/dirs/d1"


@pytest.mark.covers("HT-01")
def test_below_a_base_url() -> None:
    calls = Calls(ServerSettings(base_url="https://example.com/catalog"), registry_id="one")
    assert calls.get("/reg-one").json["self"] == "https://example.com/catalog/reg-one/"


@pytest.mark.parametrize("path", ["/reg-other", "/reg-xRegistry2/dirs", "/dirs/reg-xRegistry"])
def test_another_name_is_not_found(calls: Calls, path: str) -> None:
    assert calls.get(path).error == "not_found"
