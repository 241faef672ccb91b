"""Random bodies and flags for requests to a registry of files, valid ones and others."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.registry.expected_files import Kind
from tests.registry.files import year

Strategy = st.SearchStrategy[Any]

# What is named more than once is met more often; ids that differ by case only are never both there.
GROUPS = st.sampled_from(("d1", "d1", "d1", "d1", "d2", "D1"))
FILES = st.sampled_from(("f1", "f1", "f1", "f2", "f2", "F1"))
EPOCHS = st.sampled_from((1, 1, 2, 2, 3, 4, None))
SEMANTIC = ("0.9.0", "0.10.0", "0.10.0-a.1", "0.10.0-a.b", "0.10.0-A.b", "1", "2", "10")
PLAIN = ("v1", "V2", "v3", "b", "1", "2", "v2")
NAMES = st.sampled_from(("x", "y", None))
CREATED = st.sampled_from((year(2001), year(2002), year(3000), None))
MODIFIED = st.sampled_from((year(2001), year(2001), year(3000), None))
COMMON = {"epoch": (1, EPOCHS), "createdat": (2, CREATED), "modifiedat": (2, MODIFIED)}
XREFS = st.sampled_from(("/dirs/d1/files/f1", "/dirs/d1/files/f2", "/dirs/d2/files/f1", None))


@st.composite
def members(draw: Any, **chances: tuple[int, Strategy]) -> dict[str, Any]:
    """An object that has each member with a chance of so many in ten."""
    return {
        name: draw(values)
        for name, (chance, values) in chances.items()
        if draw(st.integers(0, 9)) > 9 - chance
    }


@st.composite
def kinds(draw: Any) -> Kind:
    """The aspects of the type of files."""
    mode = draw(st.sampled_from(("manual", "manual", "createdat", "modifiedat", "semver")))
    return Kind(
        mode=mode,
        maxversions=draw(st.sampled_from((0, 0, 1, 2, 3))),
        single=mode != "manual" or draw(st.integers(0, 3)) == 3,
        setversionid=draw(st.integers(0, 9)) < 9,
    )


def version_ids(mode: str, there: list[str]) -> Strategy:
    """Ids of versions, those that are there more often."""
    anything = st.sampled_from(SEMANTIC if mode == "semver" else PLAIN)
    return st.one_of(st.sampled_from(there), anything) if there else anything


def versions(ids: Strategy) -> Strategy:
    ancestors = st.one_of(ids, ids, ids, st.sampled_from((None, "request")))
    return members(name=(4, NAMES), ancestorid=(2, ancestors), **COMMON)


def metas(ids: Strategy) -> Strategy:
    own = members(
        labels=(2, st.sampled_from(({"a": "b"}, {}, None))),
        defaultversionid=(4, st.one_of(ids, ids, st.none())),
        defaultversionsticky=(5, st.sampled_from((True, True, False, None))),
        **COMMON,
    )
    return st.one_of(own, own, own, members(xref=(9, XREFS), epoch=(1, EPOCHS)))


def files(ids: Strategy) -> Strategy:
    return members(
        name=(4, NAMES),
        versionid=(1, ids),
        ancestorid=(1, ids),
        versions=(4, st.dictionaries(ids, versions(ids), max_size=3)),
        meta=(4, st.one_of(metas(ids), metas(ids), st.none())),
        **COMMON,
    )


def groups(ids: Strategy) -> Strategy:
    nested = st.dictionaries(FILES, files(ids), max_size=2)
    return members(name=(4, NAMES), files=(3, nested), **COMMON)


def flags(ids: Strategy, *words: str) -> Strategy:
    """The flag that chooses the default version, or nothing."""
    return members(setdefaultversionid=(1, st.one_of(ids, st.sampled_from(("null", *words)))))


def epochs() -> Strategy:
    """The flag of a DELETE, or nothing."""
    return members(epoch=(3, st.sampled_from("123")))
