"""Random XML Schemas, each with a random value of its native domain."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from tests.schemas.xsd.documents import document

FORMAT = "XSD/1.1"

_TEXT = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFFFD, exclude_categories=("Cs", "Cc", "Cn")),
    max_size=12,
)
_MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)
_SCALARS: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("xs:string", _TEXT),
    ("xs:token", st.from_regex(r"[a-z]+( [a-z]+){0,2}", fullmatch=True)),
    ("xs:int", st.integers(-(2**31), 2**31 - 1)),
    ("xs:long", st.integers(-(2**63), 2**63 - 1)),
    ("xs:unsignedLong", st.integers(0, 2**64 - 1)),
    ("xs:integer", st.integers(-(2**63), 2**63 - 1)),
    ("xs:decimal", st.decimals(-(10**12), 10**12, places=4, allow_nan=False)),
    ("xs:double", st.floats(allow_nan=False)),
    ("xs:boolean", st.booleans()),
    ("xs:dateTime", _MOMENTS),
    ("xs:date", st.dates(min_value=date(1, 1, 1))),
    ("xs:time", st.sampled_from(["10:00:00", "23:59:59.5"])),
    ("xs:hexBinary", st.binary(max_size=8)),
    ("xs:base64Binary", st.binary(max_size=8)),
    ("xs:NMTOKENS", st.lists(st.from_regex(r"[a-z0-9]{1,5}", fullmatch=True), min_size=1,
                             max_size=3)),
]  # fmt: skip
_TARGET = 'targetNamespace="urn:t"'
_HEADS = ["", _TARGET, f'{_TARGET} elementFormDefault="qualified"']
_NAMES = ["a", "b", "c", "value", "kind", "Id", "x.y", "é"]

Made = tuple[str, Any]
_ABSENT = object()


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[str, Any]:
    """A schema document, and a valid value of it."""
    kind, value = draw(_complex(2))
    head = draw(st.sampled_from(_HEADS))
    return document(f'<xs:element name="root">{kind}</xs:element>', head), value


@st.composite
def _complex(draw: st.DrawFn, depth: int) -> Made:
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    group = draw(st.sampled_from(["sequence", "sequence", "all", "choice"]))
    value: dict[str, Any] = {}
    parts: list[str] = []
    chosen = draw(st.sampled_from(names))
    for name in names:
        part, found = draw(_element(name, depth, many=group != "all"))
        parts.append(part)
        if group == "choice" and (name != chosen or found is _ABSENT):
            continue
        if found is not _ABSENT:
            value[name] = found
    attributes = ""
    for name in draw(st.lists(st.sampled_from(["id", "lang", "a"]), max_size=2, unique=True)):
        kind, strategy = draw(st.sampled_from(_SCALARS))
        required = draw(st.booleans())
        attributes += f'<xs:attribute name="{name}" type="{kind}" '
        attributes += f'use="{"required" if required else "optional"}"/>'
        if required or draw(st.booleans()):
            value[f"@{name}" if name in names else name] = draw(strategy)
    inner = f"<xs:{group}>{''.join(parts)}</xs:{group}>"
    return f"<xs:complexType>{inner}{attributes}</xs:complexType>", value


@st.composite
def _element(draw: st.DrawFn, name: str, depth: int, *, many: bool) -> Made:
    low = draw(st.sampled_from([0, 1]))
    most = draw(st.sampled_from(["1", "3", "unbounded"])) if many else "1"
    nillable = draw(st.booleans())
    head = f'<xs:element name="{name}" minOccurs="{low}" maxOccurs="{most}"'
    head += ' nillable="true"' if nillable else ""
    if depth and draw(st.integers(0, 3)) == 0:
        inner, value = draw(_complex(depth - 1))
        written, one = f"{head}>{inner}</xs:element>", st.just(value)
    else:
        kind, one = draw(st.sampled_from(_SCALARS))
        written = f'{head} type="{kind}"/>'
    if nillable and "required" not in written:
        one = st.one_of(st.none(), one)
    if most != "1":
        found = draw(st.lists(one, min_size=low, max_size=3))
        return written, found or _ABSENT
    return written, _ABSENT if low == 0 and draw(st.booleans()) else draw(one)
