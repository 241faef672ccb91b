"""Events as a sender makes them, as hypothesis draws them: for every event format.

Thousands are drawn, so their parts come from pools: the awkward ones by hand, the rest by chance,
always the same.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}

_random = Random(2026)


def _texts(count: int) -> list[str]:
    tops = (0x7F, 0x7FF, 0xD7FF)
    return [
        "".join(chr(_random.randint(0, _random.choice(tops))) for _ in range(_random.randint(1, 6)))
        for _ in range(count)
    ]


_WORDS = ["a", " ", "%41", "é€😀", "\x00", "\U0010ffff", "data", "null", "true", "5", *_texts(40)]
_TEXTS = ["", *_WORDS]
_BYTES = [b"", b"\xff", b"\x00", b"\x08\x01", *(_random.randbytes(n) for n in range(1, 20))]
_NUMBERS = [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31), *_random.choices(range(10**6), k=20)]
_TIMES = [
    *("2018-04-05T17:31:00Z", "2018-04-05T17:31:00.5+02:00", "1969-12-31T23:59:59.999999999Z"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"),
    *("2018-04-05T17:31:00.1234567891Z", "2016-12-31T23:59:60Z", "now", ""),
]
_SCHEMAS = ["https://example.com/s", "type.googleapis.com/x.Y", ""]
_KINDS = [
    *("application/json", "text/plain", "application/xml; charset=utf-8", "application/x+json"),
    *("application/protobuf", "application/octet-stream", "no media type", ""),
]
_JSON = [b'{"a": 1.0}', b"null", b'"x"', b" 5", b"1,2", b'{"a":\n1}', b"[]"]
_PAYLOADS = [None, *_JSON, *_BYTES, *(text.encode() for text in _TEXTS)]


def _event(
    ids: tuple[str, str, str],
    extensions: dict[str, Any],
    optional: tuple[str | None, ...],
    payload: bytes | None,
    content_type: str | None,
) -> Message:
    names = ("time", "subject", "dataschema", "datacontenttype")
    found = {"specversion": "1.0", **dict(zip(("id", "source", "type"), ids, strict=True))}
    stated = {n: v for n, v in zip(names, optional, strict=True) if v is not None}
    return Message(
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes={**found, **extensions, **stated},
        payload=payload,
        content_type=content_type,
    )


@cache
def events(*, binary: bool = False) -> st.SearchStrategy[Message]:
    """Events; with ``binary`` some attributes are bytes, which JSON can only say as texts."""
    word = st.sampled_from(_WORDS)
    values = st.sampled_from([*_TEXTS, True, False, *_NUMBERS, *(_BYTES if binary else ())])
    extensions = st.dictionaries(st.sampled_from(["gate", "x1", "traceparent"]), values, max_size=2)
    optional = [st.sampled_from([None, *pool]) for pool in (_TIMES, _TEXTS, _SCHEMAS, _KINDS)]
    return st.builds(
        _event,
        st.tuples(word, word, word),
        extensions,
        st.tuples(*optional),
        st.sampled_from(_PAYLOADS),
        st.sampled_from([None, *_KINDS]),
    )
