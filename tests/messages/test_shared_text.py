"""A shared text of templates is found where there is one, and only there."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.messages.shared_text import Pattern, shared_text
from heraldry.messages.template import Template

PIECES = ("a", "b", "/", "{x}", "{y}")
TEXTS = ["".join(letters) for size in range(6) for letters in product("ab/", repeat=size)]


def shared(*texts: str, separator: str | None = None, fill: str = "1") -> str | None:
    return shared_text([Pattern.of(Template.parse(one, separator), {}) for one in texts], fill)


@pytest.mark.parametrize(
    ("texts", "separator", "expected"),
    [
        pytest.param(("a/b", "a/b"), None, "a/b", id="the same"),
        pytest.param(("a/b", "a/c"), None, None, id="another literal"),
        pytest.param(("a/{x}", "{y}/b"), "/", "a/b", id="crossed in segments"),
        pytest.param(("a/{x}/c", "a/{y}"), "/", None, id="more segments"),
        pytest.param(("a/{x}/c", "a/{y}"), None, "a/1/c", id="an open one spans segments"),
        pytest.param(("k-{x}-l", "{y}-m-{z}"), None, "k-m-1-l", id="open on both sides"),
        pytest.param(("{x}{y}", "a"), None, None, id="every placeholder has a character"),
        pytest.param(("{x}{y}", "ab"), None, "ab", id="adjacent placeholders"),
        pytest.param(("{x}-a", "{y}-b"), None, None, id="other ends"),
        pytest.param(("a{x}", "{y}b", "{z}c{w}"), None, "a1cb", id="three of them"),
    ],
)
def test_the_shortest_shared_text(
    texts: tuple[str, ...], separator: str | None, expected: str | None
) -> None:
    found = shared(*texts, separator=separator)
    if found is not None and expected is not None:
        assert len(found) <= len(expected)
        assert all(Template.parse(one, separator).match(found) is not None for one in texts)
    else:
        assert found == expected


def test_what_is_bound_is_a_literal() -> None:
    template = Template.parse("/belts/{belt}/{side}", "/")
    pattern = Pattern.of(template, {"belt": "7", "side": "a/b"})
    assert shared_text([pattern], "1") == "/belts/7/a%2Fb"


names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)


@settings(max_examples=300)
@given(st.lists(names, min_size=1, max_size=3), st.sampled_from((None, "/")))
def test_a_shared_text_is_found_exactly_where_there_is_one(
    texts: list[str], separator: str | None
) -> None:
    """Against trying all short texts; each occurrence of a name has a value of its own here."""
    templates = []
    for number, text in enumerate(texts):
        for place in range(text.count("{")):
            before, _, rest = text.partition("{")
            text = f"{before}<{number}{place}>{rest.partition('}')[2]}"
        templates.append(Template.parse(text.replace("<", "{p").replace(">", "}"), separator))
    found = shared_text([Pattern.of(one, {}) for one in templates], "b")
    if found is None:
        fitting = (t for t in TEXTS if all(one.match(t) is not None for one in templates))
        assert next(fitting, None) is None
    else:
        assert all(one.match(found) is not None for one in templates)


def test_a_search_among_long_templates_is_given_up() -> None:
    assert shared(f"{{x}}{'ab' * 200}{{y}}", f"{{z}}{'ba' * 200}{{w}}") is None
