"""Why a text is not JSON: half a character is named as such, wherever it stands."""

from __future__ import annotations

import msgspec
import pytest

from heraldry.model.json_fault import json_fault

LONE = "{} is half of a character, a lone surrogate"
HIGH, LOW, FACE = rb"\ud83d", rb"\ude00", rb"\ud83d\ude00"


def fault(text: bytes) -> tuple[str, int | None]:
    with pytest.raises(msgspec.DecodeError) as caught:
        msgspec.json.decode(text)
    return json_fault(text, caught.value)


@pytest.mark.parametrize("tail", [b"", b"]", b"  ]", b', "more", 12345678901234567890]'])
@pytest.mark.parametrize("head", [b"", b'["a", ', b'[\n"' + FACE * 9 + b'", '])
@pytest.mark.parametrize(
    ("string", "at", "escape"),
    [
        pytest.param(HIGH, 0, HIGH, id="high"),
        pytest.param(LOW, 0, LOW, id="low"),
        pytest.param(rb"\uD83D", 0, rb"\uD83D", id="capitals"),
        pytest.param(HIGH + b"x", 0, HIGH, id="before text"),
        pytest.param(HIGH + rb"\u0041", 0, HIGH, id="before another escape"),
        pytest.param(HIGH + FACE, 0, HIGH, id="before a pair"),
        pytest.param(FACE + LOW, 12, LOW, id="behind a pair"),
        pytest.param(LOW + HIGH, 0, LOW, id="the wrong way round"),
        pytest.param(rb"\\" + HIGH, 2, HIGH, id="behind a backslash"),
        pytest.param(rb"\\ud83d" + LOW, 7, LOW, id="behind what looks like one"),
    ],
)
def test_half_a_character_is_named(
    head: bytes, string: bytes, tail: bytes, at: int, escape: bytes
) -> None:
    text = head + b'"' + string + b'"' + tail
    assert fault(text) == (LONE.format(escape.decode()), len(head) + 1 + at)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        pytest.param(b'{"a": ', "input data was truncated", None, id="cut off"),
        pytest.param(rb'"\\ud83d', "input data was truncated", None, id="an escaped backslash"),
        pytest.param(b'"' + FACE, "input data was truncated", None, id="behind a character"),
        pytest.param(b"[1,]", "trailing comma in array", 3, id="syntax"),
        pytest.param(b'"a" "' + HIGH + b'"', "trailing characters", 5, id="an earlier fault"),
    ],
)
def test_other_faults_are_as_the_parser_tells_them(
    text: bytes, reason: str, offset: int | None
) -> None:
    assert fault(text) == (reason, offset)


def test_the_place_of_a_fault() -> None:
    text = b'{\n "a": "' + HIGH + b'"}'
    with pytest.raises(msgspec.DecodeError) as caught:
        msgspec.json.decode(text)
    told = json_fault(text, caught.value).described(text)
    assert told == LONE.format(r"\ud83d") + " (byte 9, line 2)"
