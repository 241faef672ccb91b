"""JSON documents: strict, bounded, and errors that say where."""

from __future__ import annotations

import pytest

from heraldry.dialects.json_text import read_json
from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.errors import DocumentError


@pytest.mark.parametrize(
    ("text", "location", "reason"),
    [
        pytest.param(b'{"a": 1,\n "b": }', "line 2", "not JSON", id="syntax"),
        pytest.param(b"", "", "not JSON", id="empty"),
        pytest.param(b'{"a":\n"\xff"}', "line 2", "not UTF-8", id="encoding"),
        pytest.param(b'{"a":\n"\\ud800"}', "line 2", r"\ud800 is half of a character", id="half"),
        pytest.param(b"[NaN]", "line 1", "not JSON", id="nan"),
        pytest.param(b'{"a": 1, "b": 2,\n "a": 3}', "/a", "twice (again in line 2)", id="twice"),
        pytest.param(b'{"x": [{}, {"a/b": {"c": 1, "c": 1}}]}', "/x/1/a~1b/c", "twice", id="deep"),
        pytest.param(b'{"a": {"b": "{,:\\"}"}, "\\u0061": 1}', "/a", "twice", id="escaped"),
        pytest.param(b"[" * 102 + b"]" * 102, "", "deeper than 100 levels", id="depth"),
        pytest.param(b"[" * 100_000, "", "deeper than 100 levels", id="stack"),
    ],
)
def test_says_what_is_wrong_and_where(text: bytes, location: str, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_json(text, "f.json", DEFAULT)
    assert caught.value.file == "f.json"
    assert caught.value.location == location
    assert reason in caught.value.reason


def test_reads_what_json_can_say() -> None:
    text = b'{"big": 123456789012345678901234567890, "list": [1, 2.5, null, true], "a": {"a": {}}}'
    assert read_json(text, "", DEFAULT) == {
        "big": 123456789012345678901234567890,
        "list": [1, 2.5, None, True],
        "a": {"a": {}},
    }


def test_the_depth_is_a_setting() -> None:
    assert read_json(b"[[[]]]", "", Limits(depth=3)) == [[[]]]
    with pytest.raises(DocumentError, match="deeper than 2 levels"):
        read_json(b"[[[]]]", "", Limits(depth=2))
