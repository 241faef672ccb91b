"""Random message types of Protobuf with random values of them."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

FORMAT = "Protobuf"

_IMPORTS = "".join(
    f'import "google/protobuf/{name}.proto";\n'
    for name in ("timestamp", "duration", "wrappers", "struct", "any", "field_mask", "empty")
)
_STARTS = ('syntax = "proto3";', 'syntax = "proto2";', 'edition = "2023";')
_ENUM = "enum Color { COLOR_NONE = 0; COLOR_RED = 1; COLOR_BLUE = 7; COLOR_LOW = -3; }\n"
_COLORS = st.sampled_from(["COLOR_NONE", "COLOR_RED", "COLOR_BLUE", "COLOR_LOW"])


def _ints(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high) | st.sampled_from([low, high, 0])


_I32, _I64 = _ints(-(1 << 31), (1 << 31) - 1), _ints(-(1 << 63), (1 << 63) - 1)
_U32, _U64 = _ints(0, (1 << 32) - 1), _ints(0, (1 << 64) - 1)
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int32": _I32,
    "sint32": _I32,
    "sfixed32": _I32,
    "int64": _I64,
    "sint64": _I64,
    "sfixed64": _I64,
    "uint32": _U32,
    "fixed32": _U32,
    "uint64": _U64,
    "fixed64": _U64,
    "double": st.floats(allow_nan=False),
    "float": st.floats(allow_nan=False, width=32),
    "bool": st.booleans(),
    "string": st.text(max_size=5),
    "bytes": st.binary(max_size=5),
    "Color": _COLORS,
}
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(-1e9, 1e9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
_INSTANTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))
_DURATIONS = st.integers(-(10**12), 10**12).map(
    lambda tenths: f"{'-' * (tenths < 0)}{abs(tenths) // 10}.{abs(tenths) % 10}s".replace(
        ".0s", "s"
    )
)
_SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "google.protobuf.Timestamp": _INSTANTS | st.just("2024-02-29T23:59:59.000000001Z"),
    "google.protobuf.Duration": _DURATIONS,
    "google.protobuf.StringValue": st.text(max_size=3),
    "google.protobuf.UInt64Value": _U64,
    "google.protobuf.BytesValue": st.binary(max_size=3),
    "google.protobuf.Struct": st.dictionaries(st.text(max_size=3), _JSON, max_size=2),
    "google.protobuf.Value": _JSON,
    "google.protobuf.ListValue": st.lists(_JSON, max_size=2),
    "google.protobuf.FieldMask": st.sampled_from(["", "a", "a.b_c,d"]),
    "google.protobuf.Empty": st.just({}),
    "google.protobuf.Any": st.builds(
        lambda held: {"@type": "type.googleapis.com/a.B", "value": b64encode(held).decode()},
        st.binary(max_size=4),
    ),
}
_KEYS: dict[str, st.SearchStrategy[str]] = {
    "string": st.text(max_size=3),
    "bool": st.sampled_from(["false", "true"]),
    "int32": _I32.map(str),
    "fixed64": _U64.map(str),
}


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[str, Any]:
    """A document with one top-level message, and a decoded value of it."""
    start = draw(st.sampled_from(_STARTS))
    text, value = _message(draw, start, "Top", 0)
    # The enum is inside, so that only one name is at the top.
    return f"{start}\n{_IMPORTS}{text}", value


def _message(draw: st.DrawFn, start: str, name: str, depth: int) -> tuple[str, dict[str, Any]]:
    parts = [f"message {name} {{", _ENUM if depth == 0 else ""]
    value: dict[str, Any] = {}
    for number in range(1, draw(st.integers(0 if depth else 1, 5)) + 1):
        member = draw(st.sampled_from(["Field", "field", "f", "HasField", "from"])) + str(number)
        label = draw(st.sampled_from(["", "optional", "repeated", "map", "oneof", "required"]))
        kind, made = _type(draw, start, parts, number, depth)
        _field(draw, start, parts, value, (label, kind, member, number), made)
    return "\n".join([*parts, "}"]), value


def _type(
    draw: st.DrawFn, start: str, parts: list[str], number: int, depth: int
) -> tuple[str, st.SearchStrategy[Any]]:
    choice = draw(st.integers(0, 9))
    if choice == 0 and depth < 3:
        text, inner = _message(draw, start, f"Inner{number}", depth + 1)
        parts.append(text)
        return f"Inner{number}", st.just(inner)
    kinds = _SPECIAL if choice < 3 else _SCALARS
    kind = draw(st.sampled_from(sorted(kinds)))
    return kind, kinds[kind]


def _field(
    draw: st.DrawFn,
    start: str,
    parts: list[str],
    value: dict[str, Any],
    given: tuple[str, str, str, int],
    made: st.SearchStrategy[Any],
) -> None:
    label, kind, member, number = given
    plain = f"{kind} {member} = {number};"
    if label == "repeated":
        parts.append(f"repeated {plain}")
        value[member] = draw(st.lists(made, max_size=3))
    elif label == "map":
        key = draw(st.sampled_from(sorted(_KEYS)))
        parts.append(f"map<{key}, {kind}> {member} = {number};")
        value[member] = draw(st.dictionaries(_KEYS[key], made, max_size=2))
    elif label == "oneof":
        parts.append(f"oneof one{number} {{ {plain} bool other{number} = {number + 100}; }}")
        chosen = draw(st.integers(0, 2))
        if chosen:
            name, held = (member, made) if chosen == 1 else (f"other{number}", st.booleans())
            value[name] = draw(held)
    elif label == "required" and "proto2" in start:
        parts.append(f"required {plain}")
        value[member] = draw(made)
    else:
        bare = "edition" in start or ("proto3" in start and label != "optional")
        parts.append(plain if bare else f"optional {plain}")
        implicit = bare and "proto3" in start and kind in _SCALARS
        if implicit or draw(st.booleans()):
            value[member] = draw(made)
