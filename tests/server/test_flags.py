from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.errors import RegistryError
from heraldry.registry.capabilities import EVERYTHING
from heraldry.registry.request import Flags
from heraldry.server.flags import Query, choose_wire, read_flags


def flags(query: str) -> Flags:
    return read_flags(Query(query.encode(), "/d"))


@pytest.mark.parametrize(
    ("query", "given"),
    [
        pytest.param("", {}, id="none"),
        pytest.param("foo=1&Doc&x", {}, id="unknown", marks=pytest.mark.covers("HT-06")),
        pytest.param(
            "doc&binary&collections",
            {"doc": True, "binary": True, "collections": True},
            id="boolean",
            marks=pytest.mark.covers("FL-01", "FL-02"),
        ),
        pytest.param("doc=false", {}, id="boolean-off"),
        pytest.param("epoch=3", {"epoch": "3"}, id="epoch", marks=pytest.mark.covers("FL-04")),
        pytest.param("inline", {"inline": ()}, id="inline-all", marks=pytest.mark.covers("FL-50")),
        pytest.param("inline=", {"inline": ()}, id="inline-empty"),
        pytest.param(
            "inline=a,b.c&inline=d",
            {"inline": ("a", "b.c", "d")},
            id="inline",
            marks=pytest.mark.covers("FL-50"),
        ),
        pytest.param("inline=model&inline", {"inline": ("model", "*")}, id="inline-both"),
        pytest.param(
            "filter=a=1,b=2&filter=c",
            {"filter": (("a=1", "b=2"), ("c",))},
            id="filter",
            marks=pytest.mark.covers("FL-30"),
        ),
        pytest.param(
            "filter=a=x%2Cy,b=%3D+1",
            {"filter": (("a=x,y", "b== 1"),)},
            id="filter-is-split-before-decoding",
            marks=pytest.mark.covers("FL-30"),
        ),
        pytest.param("filter=&filter=,", {}, id="filter-empty"),
        pytest.param("ignore", {"ignore": ()}, id="ignore", marks=pytest.mark.covers("FL-40")),
        pytest.param(
            "ignore=epoch,id&ignore=readonly",
            {"ignore": ("epoch", "id", "readonly")},
            id="ignore-some",
            marks=pytest.mark.covers("FL-40"),
        ),
        pytest.param(
            "noepoch&ignorereadonly",
            {"ignore": ("epoch", "readonly")},
            id="ignore-older",
            marks=pytest.mark.covers("FL-44"),
        ),
        pytest.param("ignore&noepoch", {"ignore": ("*", "epoch")}, id="ignore-all-and-older"),
        pytest.param("sort=a.b%3Ddesc", {"sort": "a.b=desc"}, id="sort"),
        pytest.param("setdefaultversionid=", {"setdefaultversionid": ""}, id="default-empty"),
        pytest.param("limit=10&after=x", {"limit": 10, "after": "x"}, id="page"),
        pytest.param(f"limit={2**64 - 1}", {"limit": 2**64 - 1}, id="limit-largest"),
    ],
)
def test_read_flags(query: str, given: dict[str, Any]) -> None:
    assert flags(query) == Flags(**given)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        pytest.param("epoch=1&epoch=2", "bad_flag", id="twice", marks=pytest.mark.covers("FL-01")),
        pytest.param("limit=0", "bad_flag", id="limit-0", marks=pytest.mark.covers("PG-01")),
        pytest.param("limit=-1", "bad_flag", id="limit-negative"),
        pytest.param("limit=", "bad_flag", id="limit-empty"),
        pytest.param("limit=%C2%B2", "bad_flag", id="limit-other-digits"),
        pytest.param(
            f"limit={2**64}", "bad_flag", id="limit-large", marks=pytest.mark.covers("PG-01")
        ),
        pytest.param("inline=%FF", "bad_request", id="no-utf-8"),
    ],
)
def test_read_flags_refuses(query: str, error: str) -> None:
    with pytest.raises(RegistryError) as raised:
        flags(query)
    assert (raised.value.name, raised.value.subject) == (error, "/d")


@pytest.mark.covers("FL-05", "KD-12")
@pytest.mark.parametrize(
    ("query", "wire"),
    [
        pytest.param("", RC2, id="default"),
        pytest.param("specversion=1.0-rc4", RC4, id="rc4"),
        pytest.param("specversion=1.0-RC4", RC4, id="any-case"),
        pytest.param("specversion=1.0.7-rc4", RC4, id="patch"),
        pytest.param("specversion=1.0-rc2", RC2, id="rc2"),
        pytest.param("specversion=", RC2, id="empty"),
    ],
)
def test_choose_wire(query: str, wire: Wire) -> None:
    assert choose_wire(Query(query.encode(), "/"), "/", EVERYTHING, RC2) is wire


@pytest.mark.covers("FL-05")
@pytest.mark.parametrize("version", ["2.0", "1.0", "1.0-rc3", "rc4", "1.0-rc4x"])
def test_choose_wire_refuses(version: str) -> None:
    query = Query(f"specversion={version}".encode(), "/d")
    with pytest.raises(RegistryError) as raised:
        choose_wire(query, "/d", EVERYTHING, RC2)
    assert raised.value.name == "unsupported_specversion"
    assert raised.value.arguments == {"specversion": version, "list": "1.0-rc2,1.0-rc4"}


@pytest.mark.covers("FL-05")
def test_choose_wire_ignores_the_patch_that_the_capabilities_name() -> None:
    patched = replace(EVERYTHING, specversions=("1.0.5-rc4",))
    for version in ("1.0-rc4", "1.0.5-rc4", "1.0.6-RC4"):
        query = Query(f"specversion={version}".encode(), "/")
        assert choose_wire(query, "/", patched, RC2) is RC4


def test_choose_wire_follows_the_capabilities() -> None:
    query = Query(b"specversion=1.0-rc2", "/")
    off = replace(EVERYTHING, flags=())
    assert choose_wire(query, "/", off, RC4) is RC4
    only = replace(EVERYTHING, specversions=("1.0-rc4",))
    with pytest.raises(RegistryError, match="unsupported specversion"):
        choose_wire(query, "/", only, RC4)
