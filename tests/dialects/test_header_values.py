from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.xreg_1_0.header_values import decode_value, encode_value, plain_value


@pytest.mark.covers("HB-10")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("Euro € 😀", "Euro%20%E2%82%AC%20%F0%9F%98%80", id="example"),
        pytest.param('a"b', "a%22b", id="quote"),
        pytest.param("50%", "50%25", id="percent"),
        pytest.param("a\r\nb: c", "a%0D%0Ab:%20c", id="line-end"),
        pytest.param("!#$&'~", "!#$&'~", id="plain"),
        pytest.param("\x7f", "%7F", id="delete"),
        pytest.param("", "", id="empty"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "false", id="false"),
        pytest.param(12, "12", id="integer"),
        pytest.param(1.5, "1.5", id="decimal"),
    ],
)
def test_encode(value: Any, text: str) -> None:
    assert encode_value(value) == text


@pytest.mark.covers("HB-11")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("Euro%20%e2%82%ac", "Euro €", id="lower-case"),
        pytest.param("%41bc", "Abc", id="needless"),
        pytest.param('"a b"', "a b", id="quoted"),
        pytest.param('"a \\"b\\" \\\\"', 'a "b" \\', id="escapes"),
        pytest.param('"50%25"', "50%", id="quotes-first-then-percent"),
        pytest.param("%2541", "%41", id="one-round"),
        pytest.param("ü".encode().decode("latin-1"), "ü", id="raw-utf-8"),
    ],
)
def test_decode(text: str, value: str) -> None:
    assert decode_value(text) == value


@pytest.mark.covers("HB-11")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("%C0%A0", id="overlong"),
        pytest.param("%ff", id="no-utf-8"),
        pytest.param("\xff", id="raw-no-utf-8"),
        pytest.param("%ED%A0%80", id="surrogate"),
        pytest.param("100%", id="percent-alone"),
        pytest.param("%zz", id="no-digits"),
    ],
)
def test_decode_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"UTF-8|hexadecimal"):
        decode_value(text)


@pytest.mark.covers("HB-10", "HB-11")
@given(st.text())
def test_decode_undoes_encode(text: str) -> None:
    encoded = encode_value(text)
    assert encoded.isascii()
    assert encoded.isprintable() or not encoded
    assert decode_value(encoded) == text


@given(st.text())
def test_plain_value_fits_into_a_header(text: str) -> None:
    assert all(" " <= char <= "~" for char in plain_value(text))
