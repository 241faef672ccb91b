"""Templates: the same text fills in values and recognises them."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import PlaceholderError, TemplateError
from heraldry.messages.template import Template

# Few characters, so that values, literals and separators meet often.
ALPHABET = "ab/.-%4"
LITERALS = st.text(alphabet=ALPHABET, max_size=3)
VALUES = st.text(alphabet=ALPHABET + "é {", min_size=1, max_size=4)


@st.composite
def templates(draw: st.DrawFn) -> Template:
    names = draw(st.lists(st.sampled_from(["x", "y", "z"]), max_size=4))
    text = draw(LITERALS) + "".join("{" + name + "}" + draw(LITERALS) for name in names)
    return Template.parse(text, draw(st.sampled_from([None, "/", "."])))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a{b", "not closed", id="open"),
        pytest.param("a}b", "closes nothing", id="close"),
        pytest.param("{a}}", "closes nothing", id="close twice"),
        pytest.param("{{a}}", "letters", id="double"),
        pytest.param("a{}", "no name", id="no name"),
        pytest.param("{+a}", "operator", id="operator"),
        pytest.param("{?a,b}", "operator", id="form"),
        pytest.param("{a*}", "letters", id="explode"),
        pytest.param("{a:3}", "letters", id="prefix"),
        pytest.param("{a b}", "letters", id="space"),
        pytest.param("{é}", "letters", id="accent"),
        pytest.param("{a/b}", "letters", id="separator"),
    ],
)
def test_what_is_no_template(text: str, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason):
        Template.parse(text, "/")


@pytest.mark.parametrize(
    ("template", "separator", "text", "values"),
    [
        pytest.param("{foo}/bar", None, "abc/bar", {"foo": "abc"}, id="the specification's"),
        pytest.param("{feed_url}", None, "https://a/b?c", {"feed_url": "https://a/b?c"}, id="all"),
        pytest.param("{group-id}", None, "x", {"group_id": "x"}, id="dash is underscore"),
        pytest.param("a/{x}/b", "/", "a/1/b", {"x": "1"}, id="segment"),
        pytest.param("a/{x}/b", "/", "a/1/2/b", None, id="not beyond its segment"),
        pytest.param("a/{x}", "/", "a/", None, id="not empty"),
        pytest.param("a.{x}", ".", "a.b/c", {"x": "b/c"}, id="the other separator"),
        pytest.param("a/{x}-{y}", "/", "a/1-2-3", {"x": "1", "y": "2-3"}, id="two in a segment"),
        pytest.param("{x}-{y}", None, "1-2-3", {"x": "1", "y": "2-3"}, id="first stops early"),
        pytest.param("{x}-{y}", None, "--1", {"x": "-", "y": "1"}, id="one character at least"),
        pytest.param("{x}{y}", None, "123", {"x": "1", "y": "23"}, id="adjacent"),
        pytest.param("{x}{y}", None, "1", None, id="adjacent, too short"),
        pytest.param("{x}ab{y}b", None, "1ab2ab", {"x": "1", "y": "2a"}, id="suffix"),
        pytest.param("{x}ab{y}ab", None, "1ab", None, id="literals do not overlap"),
        pytest.param("{x}/{x}", None, "1/1", {"x": "1"}, id="one name, one value"),
        pytest.param("{x}/{x}", None, "1/2", None, id="one name, two values"),
        pytest.param("{x}/{x}", "/", "a%20b/a b", {"x": "a b"}, id="equal when decoded"),
        pytest.param("{x}", None, "%C3%A9%2F", {"x": "é/"}, id="decoded"),
        pytest.param("{x}", None, "%C3", {"x": "%C3"}, id="not UTF-8"),
        pytest.param("{x}", None, "%zz%41", {"x": "%zz%41"}, id="broken escape"),
        pytest.param("{x}", None, "a\nb", {"x": "a\nb"}, id="line end"),
        pytest.param("a%20b/{x}", None, "a b/1", None, id="literals verbatim"),
        pytest.param("plain", "/", "plain", {}, id="no placeholder"),
        pytest.param("plain", "/", "plain ", None, id="no placeholder, another text"),
    ],
)
def test_match(
    template: str, separator: str | None, text: str, values: dict[str, str] | None
) -> None:
    assert Template.parse(template, separator).match(text) == values


def test_expand() -> None:
    template = Template.parse("é/{x}?{y}")
    assert template.expand({"x": "a/b", "y": "é~", "z": "more"}) == "é/a%2Fb?%C3%A9~"
    assert template.expand({"x": "a/b", "y": "é"}, raw=True) == "é/a/b?é"
    assert (template.placeholders, template.literal) == (("x", "y"), False)
    assert Template.parse("plain").literal


@pytest.mark.parametrize(
    "values", [pytest.param({}, id="none"), pytest.param({"x": ""}, id="empty")]
)
def test_a_placeholder_without_value_is_named(values: dict[str, str]) -> None:
    with pytest.raises(PlaceholderError, match="cannot be filled") as error:
        Template.parse("a{x}").expand(values)
    assert error.value.placeholder == "x"


def test_ambiguous() -> None:
    template = Template.parse("{x}-{y}")
    assert not template.ambiguous({"x": "1", "y": "2-3"})
    assert template.ambiguous({"x": "1-2", "y": "3"})
    assert Template.parse("a/{x}", "/").ambiguous({"x": "1/2"}, raw=True)
    assert not Template.parse("a/{x}", "/").ambiguous({"x": "1/2"})


@given(templates(), st.fixed_dictionaries({"x": VALUES, "y": VALUES, "z": VALUES}), st.booleans())
@settings(max_examples=500)
def test_match_inverts_expand(template: Template, values: dict[str, str], raw: bool) -> None:
    if not template.ambiguous(values, raw):
        used = {name: values[name] for name in template.placeholders}
        assert template.match(template.expand(values, raw)) == used


@given(st.lists(VALUES, min_size=1, max_size=5), st.sampled_from(["/", "."]))
def test_one_placeholder_a_segment_is_never_ambiguous(values: list[str], separator: str) -> None:
    # RFC 6570 leaves '.' as it is, so a value with one would become two segments of a subject.
    names = [f"n{index}" for index in range(len(values))]
    template = Template.parse(separator.join("{" + name + "}" for name in names), separator)
    given_ = dict(zip(names, values, strict=True))
    split = separator in "".join(quote(value, safe="") for value in values)
    assert template.ambiguous(given_) == split


@given(templates(), st.text(alphabet=ALPHABET + "\n", max_size=12))
@settings(max_examples=1000)
def test_the_regex_agrees(template: Template, text: str) -> None:
    _same_answer(template, text)


@given(templates(), st.data())
@settings(max_examples=500)
def test_the_regex_agrees_on_texts_that_nearly_fit(template: Template, data: st.DataObject) -> None:
    values = {name: data.draw(VALUES) for name in "xyz"}
    _same_answer(
        template, template.expand(values, raw=True) + data.draw(st.sampled_from(["", "a"]))
    )


def _same_answer(template: Template, text: str) -> None:
    pattern = template.regex()
    if pattern is None:
        return
    found, expected = re.fullmatch(pattern, text), template.match(text)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        raw = dict(zip(template.placeholders, found.groups(), strict=True))
        assert {n: Template.parse("{v}").match(v) for n, v in raw.items()} == {
            n: {"v": v} for n, v in expected.items()
        }


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        pytest.param("{x}/{x}", "/", id="a name that repeats"),
        pytest.param("{x}-{y}/b", "/", id="two in a segment"),
    ],
)
def test_no_regex(text: str, separator: str) -> None:
    assert Template.parse(text, separator).regex() is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "separator", "unit"),
    [
        pytest.param("{a}x{b}x{c}x{d}!", None, "x", id="open"),
        pytest.param("{a}xy{b}xy{c}!", None, "xx", id="long literals"),
        pytest.param("a/{b}/c/{d}!", "/", "a/", id="segments"),
        pytest.param("{a}!", None, "%41", id="escapes"),
    ],
)
def test_time_grows_with_the_text_only(text: str, separator: str | None, unit: str) -> None:
    template = Template.parse(text, separator)

    def spent(count: int) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            template.match(unit * count)
            template.match(unit * count + "!")
            best = min(best, time.perf_counter() - start)
        return best

    spent(1000)
    # Ten times the text; quadratic time would be a hundred times as much.
    assert spent(400_000) < 40 * max(spent(40_000), 1e-4)
