"""Topics with placeholders are found by their segments, however many there are."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.routes import FEW, Routes, Segments

PARTS = st.sampled_from(["a", "b", "", None])
TEMPLATES = st.lists(st.lists(PARTS, min_size=1, max_size=4).map(tuple), max_size=40)
TOPICS = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=4).map("/".join)


def routes(templates: list[Segments]) -> Routes:
    return Routes("/", [(one, place) for place, one in enumerate(templates)])


@given(templates=TEMPLATES, topic=TOPICS)
def test_exactly_the_fitting_ones_are_found(templates: list[Segments], topic: str) -> None:
    parts = topic.split("/")
    fitting = [
        place
        for place, one in enumerate(templates)
        if len(one) == len(parts) and all(a in (None, b) for a, b in zip(one, parts, strict=True))
    ]
    assert sorted(routes(templates).find(topic)) == fitting


@pytest.mark.parametrize("many", [1, FEW, FEW + 1, 500])
def test_a_segment_that_many_share_leads_on(many: int) -> None:
    templates: list[Segments] = [(None, "line", f"sensor{n}") for n in range(many)]
    templates += [(None, "motor", f"sensor{n}") for n in range(many)]
    assert routes(templates).find("7/motor/sensor0") == [many]


def test_leading_wildcards_in_every_combination_do_not_multiply() -> None:
    shapes = product(("x", None), repeat=10)
    templates: list[Segments] = [(*shape, f"end{n}") for n, shape in enumerate(shapes)]
    found = routes(templates)
    topic = "/".join("x" * 10)
    assert found.find(f"{topic}/end5") == [5]
    # each has a segment of its own: no tree is made that could have to be walked
    assert not found.trees
