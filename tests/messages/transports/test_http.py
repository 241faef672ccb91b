"""HTTP endpoints without a network: targets, credentials, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import TransportError
from heraldry.messages.transports.address import Address, addresses
from heraldry.messages.transports.http import connect
from heraldry.messages.transports.http_access import access
from heraldry.messages.transports.http_target import climbs, join, split, split_address
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid


def connection(address: str = "http://a", **options: Any) -> Connection:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/orders"),
        protocol="HTTP",
        addresses=(address,),
        options=options,
    )
    return Connection(endpoint=endpoint, usage="producer", secrets=lambda _: Credentials())


PAIRS = st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=3).map(tuple)
SEGMENTS = st.lists(st.text("aß% ?#{.+", max_size=4), min_size=1, max_size=3)
STARTS = st.sampled_from(["", "/events", "/a/b%2Fc"])


@given(STARTS, SEGMENTS, PAIRS)
def test_a_target_is_taken_apart_as_it_was_joined(start: str, segments: Any, query: Any) -> None:
    path = "/" + "/".join(segments)
    target = join(start, path, query)
    assert target.isascii()
    found = split(start, target)
    assert found is not None
    assert found[1] == query
    assert join(start, found[0], found[1]) == target


@pytest.mark.parametrize(
    ("start", "path", "target"),
    [
        pytest.param("", None, "/", id="nothing"),
        pytest.param("/events", None, "/events", id="the address alone"),
        pytest.param("/events", "orders/1", "/events/orders/1", id="without a slash"),
        pytest.param("/events", "/a%2Fb%", "/events/a%2Fb%25", id="escapes stay"),
        pytest.param("", "//a//", "//a//", id="empty segments"),
    ],
)
def test_targets(start: str, path: str | None, target: str) -> None:
    assert join(start, path, ()) == target


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/a/..", True, id="at the end"),
        pytest.param("../a", True, id="at the start"),
        pytest.param("/a/./b", True, id="one dot"),
        pytest.param("/%2e./b", True, id="escaped"),
        pytest.param("/a../...", False, id="dots in names"),
    ],
)
def test_paths_that_climb(path: str, expected: bool) -> None:
    assert climbs(path) is expected


def test_the_path_of_an_address_keeps_its_escapes() -> None:
    (address,) = addresses(connection("https://h/a%2Fb/?x=1&y="), {"https": 443})
    assert address == Address(scheme="https", host="h", port=443, path="a%2Fb/?x=1&y=")
    assert split_address(address) == ("/a%2Fb", (("x", "1"), ("y", "")))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        pytest.param({"headers": {"a": "b"}}, "headers is not a list", id="headers"),
        pytest.param({"headers": [{"name": "a"}]}, "headers is not a list", id="header"),
        pytest.param({"headers": ["a"]}, "headers is not a list", id="text"),
        pytest.param({"query": ["a"]}, "query is not a map", id="query"),
        pytest.param({"query": {"a": 1}}, "query is not a map", id="parameter"),
        pytest.param({"method": 1}, "method is 1", id="method"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(TransportError, match=reason):
        connect(connection(**options))


@pytest.mark.parametrize(
    ("options", "secrets", "reason"),
    [
        pytest.param(
            {"plainscheme": "form"},
            Credentials(username="ada", password="open sesame"),
            "it must be basic or query",
            id="form",
        ),
        pytest.param(
            {"plainscheme": "query"},
            Credentials(username="ada", password="open sesame"),
            "plainusernamefield",
            id="fields without names",
        ),
        pytest.param(
            {"apikeyname": "key", "apikeyin": "cookie"},
            Credentials(token="open sesame"),
            "header or query",
            id="place",
        ),
        pytest.param({}, Credentials(token="open\nsesame"), "does not allow", id="token"),
    ],
)
def test_credentials_that_have_no_place(
    options: dict[str, Any], secrets: Credentials, reason: str
) -> None:
    with pytest.raises(TransportError, match=reason) as caught:
        access(connection(**options), secrets)
    assert "sesame" not in str(caught.value)


def test_without_credentials_everybody_may_come() -> None:
    granted = access(connection(), Credentials())
    assert granted.grants((), ())
    assert granted.without((("Authorization", "x"), ("a", "b")), ()) == ((("a", "b"),), ())


def test_credentials_do_not_show() -> None:
    assert "sesame" not in repr(access(connection(), Credentials(token="sesame")))
