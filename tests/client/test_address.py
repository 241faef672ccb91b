"""Addresses: what is compared is what would be asked for, and what is in doubt is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.client.address import Address, AllowList, Refused, parse
from heraldry.errors import UsageError

ALLOWED = AllowList.of(("https://catalog.example.com/registry/", "http://localhost:8080"))


def permitted(text: str) -> bool:
    address = parse(text)
    return isinstance(address, Address) and ALLOWED.permits(address)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://catalog.example.com/registry/messagegroups/g/messages/m", id="below"),
        pytest.param("https://catalog.example.com/registry/", id="at"),
        pytest.param("https://catalog.example.com/registry", id="at, without slash"),
        pytest.param("https://catalog.example.com:443/registry/x", id="the scheme's own port"),
        pytest.param("HTTPS://Catalog.Example.COM/registry/x", id="upper case"),
        pytest.param("https://catalog.example.com/registry/a/../x", id="dots inside"),
        pytest.param("https://catalog.example.com/r%65gistry/x", id="escaped letter"),
        pytest.param("https://catalog.example.com/registry/x?y=../..", id="query"),
        pytest.param("https://catalog.example.com/registry/c.json#/messagegroups", id="fragment"),
        pytest.param("http://localhost:8080/anything", id="whole server"),
    ],
)
def test_permitted(text: str) -> None:
    assert permitted(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("http://catalog.example.com/registry/x", id="scheme"),
        pytest.param("https://catalog.example.com:8443/registry/x", id="port"),
        pytest.param("https://example.com/registry/x", id="parent domain"),
        pytest.param("https://a.catalog.example.com/registry/x", id="subdomain"),
        pytest.param("https://catalog.example.com.evil/registry/x", id="longer host"),
        pytest.param("https://catalog.example.com./registry/x", id="final dot"),
        pytest.param("https://catalog.example.com@evil.example/registry/x", id="user"),
        pytest.param("https://a:b@catalog.example.com/registry/x", id="password"),
        pytest.param("https://evil.example#@catalog.example.com/registry/x", id="fragment first"),
        pytest.param("https://evil.example\\@catalog.example.com/registry/x", id="backslash"),
        pytest.param("https://evil.example\\.catalog.example.com/registry/", id="backslash host"),
        pytest.param("https:///catalog.example.com/registry/x", id="no host"),
        pytest.param("//catalog.example.com/registry/x", id="no scheme"),
        pytest.param("https://catalog.example.com/registry2/x", id="not a segment"),
        pytest.param("https://catalog.example.com/registry/../x", id="dots"),
        pytest.param("https://catalog.example.com/registry/%2e%2e/x", id="escaped dots"),
        pytest.param("https://catalog.example.com/registry/.%2E/x", id="half escaped dots"),
        pytest.param("https://catalog.example.com/registry/..%2fx", id="escaped slash"),
        pytest.param("https://catalog.example.com/registry/..%5cx", id="escaped backslash"),
        pytest.param("https://catalog.example.com/registry/%252e%252e/x", id="escaped twice"),
        pytest.param("https://catalog.example.com/registry/..;/x", id="dots with parameters"),
        pytest.param("https://catalog.example.com/registry/..%3b/x", id="escaped parameters"),
        pytest.param("https://catalog.example.com/registry/%c0%ae%c0%ae/x", id="overlong dots"),
        pytest.param("https://catalog.example.com/registry/..%c0%afx", id="overlong slash"),
        pytest.param("https://catalog.example.com/registry/%00", id="null"),
        pytest.param("https://catalog.example.com/registry/%zz", id="broken escape"),
        pytest.param("https://catalog.example.com/regis\ttry/x", id="tab"),
        pytest.param("https://catalog.example.com/registry/\nx", id="line break"),
        pytest.param("https://catalog.example.com/registry/é", id="not ASCII"),
        pytest.param("https://ᶜatalog.example.com/registry/x", id="look-alike host"),
        pytest.param("https://catalog.example.com:port/registry/x", id="no port"),
        pytest.param("https://[::1/registry/x", id="no address"),
        pytest.param("file:///registry/x", id="file"),
        pytest.param("ftp://catalog.example.com/registry/x", id="other scheme"),
        pytest.param("", id="empty"),
    ],
)
def test_not_permitted(text: str) -> None:
    assert not permitted(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        pytest.param("HTTP://H:80/%7ea/./b/../c%2a", "http://h/~a/c%2A", id="everything"),
        pytest.param("https://h", "https://h/", id="no path"),
        pytest.param("https://h/a/..", "https://h/", id="ends with dots"),
        pytest.param("https://h/../../a", "https://h/a", id="above the root"),
        pytest.param("https://[::1]:8/a?b=%2F#/c", "https://[::1]:8/a?b=%2F#/c", id="IPv6"),
        pytest.param("file://localhost/a/b.json", "file:///a/b.json", id="file"),
    ],
)
def test_normalised(text: str, normal: str) -> None:
    found = parse(text)
    assert str(found) == normal
    assert parse(normal) == found


@given(st.text(alphabet="hH./:@%2eE5cfF?#;[]\\ a-", max_size=30).map("https://h/r/".__add__))
def test_an_address_stays_what_it_is(text: str) -> None:
    found = parse(text)
    if isinstance(found, Address):
        assert parse(str(found)) == found
        segments = found.path.split("/")
        assert not {".", ".."} & set(segments)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("catalog.example.com", id="no scheme"),
        pytest.param("https://", id="no host"),
        pytest.param("https://h/?a", id="query"),
        pytest.param("https://h/#a", id="fragment"),
        pytest.param("ftp://h/", id="other scheme"),
    ],
)
def test_what_cannot_be_allowed(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be allowed"):
        AllowList.of((text,))


def test_a_password_in_the_list_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as error:
        AllowList.of(("https://me:hunter2@h/",))
    assert "hunter2" not in repr(error.value)
    assert isinstance(parse("https://me:hunter2@h/"), Refused)
