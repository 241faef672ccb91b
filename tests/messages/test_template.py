"""Templates: the same text fills in values and recognises them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from statistics import median
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import PlaceholderError, TemplateError
from heraldry.messages.template import Template
from tests.effort import effort, thorough

# Few characters, so that values, literals and separators meet often.
ALPHABET = "ab/.-%4"
# Of literals RFC 6570 asks that every percent sign begins an escape.
LITERALS = st.lists(st.sampled_from(["a", "b", "/", ".", "-", "4", "F", "%2F"]), max_size=2).map(
    "".join
)
VALUES = st.text(alphabet=ALPHABET + "é {F", min_size=1, max_size=3)


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


@pytest.mark.parametrize(
    ("template", "separator", "values", "ambiguous"),
    [
        pytest.param("{x}-{y}", None, {"x": "1", "y": "2"}, False, id="one dash"),
        pytest.param("{x}-{y}", None, {"x": "1", "y": "2-3"}, True, id="two, read as meant"),
        pytest.param("{x}-{y}", None, {"x": "1-2", "y": "3"}, True, id="two, read otherwise"),
        pytest.param("{x}/{y}", None, {"x": "1/2", "y": "3/4"}, False, id="reserved is escaped"),
        pytest.param("{x}{y}", None, {"x": "1", "y": "2"}, False, id="adjacent, short"),
        pytest.param("{x}{y}", None, {"x": "1", "y": "23"}, True, id="adjacent"),
        pytest.param("{x}{y}", None, {"x": "/", "y": "é"}, False, id="escapes are not cut"),
        pytest.param("{x}2{y}", None, {"x": "/", "y": "1"}, False, id="nor is one a literal"),
        pytest.param("{x}-{x}", None, {"x": "a-b"}, False, id="repeated"),
        pytest.param("{x}{y}{x}", None, {"x": "ab", "y": "c"}, False, id="repeated, around"),
        pytest.param("{x}{y}{x}", None, {"x": "aa", "y": "a"}, True, id="repeated, in two ways"),
        pytest.param("{x}-{y}/{x}", "/", {"x": "a-b", "y": "c-d"}, False, id="told by another"),
        pytest.param("{x}.{y}", ".", {"x": "1.2", "y": "3"}, True, id="separator in a value"),
        pytest.param("a/{x}", "/", {"x": "1/2"}, False, id="separator is escaped"),
    ],
)
def test_ambiguous(
    template: str, separator: str | None, values: dict[str, str], ambiguous: bool
) -> None:
    parsed = Template.parse(template, separator)
    assert parsed.ambiguous(values) == ambiguous
    if not ambiguous:
        assert parsed.match(parsed.expand(values)) == values


def test_raw_values_that_look_escaped_are_ambiguous() -> None:
    template = Template.parse("a/{x}", "/")
    assert template.ambiguous({"x": "1/2"}, raw=True)
    assert template.ambiguous({"x": "%41"}, raw=True)
    assert not template.ambiguous({"x": "100%"}, raw=True)


def inverses(template: Template, text: str, raw: bool) -> list[dict[str, str]]:
    """Every way to have a text by filling in the template, found by trying all of them."""
    names, literals = template.placeholders, template.literals
    found: list[dict[str, str]] = []

    def take(index: int, rest: str, values: dict[str, str]) -> None:
        if not rest.startswith(literals[index]):
            return
        rest = rest[len(literals[index]) :]
        if index == len(names):
            if not rest and values not in found:
                found.append(values)
            return
        for end in range(1, len(rest) + 1):
            piece = rest[:end]
            if template.separator is not None and template.separator in piece:
                return
            value = piece if raw else unquote(piece)
            fits = raw or quote(value, safe="") == piece
            if fits and values.get(names[index], value) == value:
                take(index + 1, rest[end:], {**values, names[index]: value})

    take(0, text, {})
    return found


@thorough
@given(templates(), st.fixed_dictionaries({"x": VALUES, "y": VALUES, "z": VALUES}), st.booleans())
@settings(max_examples=effort(1000, soak=10_000))
def test_match_inverts_expand_where_the_inverse_is_unique_and_else_it_is_ambiguous(
    template: Template, values: dict[str, str], raw: bool
) -> None:
    if raw:  # a receiver decodes, so that escapes among raw values mean something else
        values = {name: value.replace("%", "p") for name, value in values.items()}
    sent = {name: values[name] for name in template.placeholders}
    text = template.expand(values, raw)
    is_unique = inverses(template, text, raw) == [sent]
    assert template.ambiguous(values, raw) == (not is_unique)
    if is_unique:
        assert template.match(text) == sent


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
    if pattern is None or "%" in text:
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


def grows_linearly(work: Callable[[int], object], smallest: int, doublings: int = 3) -> bool:
    """Whether doubling the input costs at most three times as much; quadratic would be four."""

    def spent(size: int) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            work(size)
            times.append(time.process_time() - start)
        return median(times)

    work(smallest)
    first, last = spent(smallest), spent(smallest << doublings)
    return last <= max(first, 2e-4) * 3**doublings


def fits(text: str, separator: str | None, unit: str, end: str) -> Callable[[int], object]:
    template = Template.parse(text, separator)
    return lambda size: template.match(unit * size + end)


def fits_regex(text: str, separator: str | None, unit: str, end: str) -> Callable[[int], object]:
    pattern = re.compile(Template.parse(text, separator).regex() or "")
    return lambda size: pattern.fullmatch(unit * size + end)


def told(text: str, value: str) -> Callable[[int], object]:
    template = Template.parse(text)
    return lambda size: template.ambiguous(dict.fromkeys(template.placeholders, value * size))


def refused(text: str, separator: str | None = None) -> bool:
    with pytest.raises(TemplateError):
        Template.parse(text, separator)
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "smallest"),
    [
        pytest.param(fits("{a}x{b}x{c}x{d}!", None, "x", ""), 50_000, id="match, open"),
        pytest.param(fits("{a}xy{b}xy{c}!", None, "xx", ""), 50_000, id="match, near misses"),
        pytest.param(fits("{a}" + "x" * 500 + "y{b}", None, "x", ""), 50_000, id="match, long"),
        pytest.param(fits("a/{b}/c/{d}!", "/", "a/", "!"), 50_000, id="match, segments"),
        pytest.param(fits("{a}{b}{c}!", None, "%41", "!"), 20_000, id="match, escapes"),
        pytest.param(fits("{a}4{b}4{c}!", None, "%41", ""), 20_000, id="match, escaped literals"),
        pytest.param(fits("{a}{b}", None, "%C3", ""), 20_000, id="match, half characters"),
        pytest.param(fits("{a}{b}{a}{b}{a}!", None, "x", "y!"), 10_000, id="match, repeated"),
        pytest.param(fits("{a}-{b}-{a}", None, "-x", ""), 10_000, id="match, repeated literals"),
        pytest.param(
            lambda size: Template.parse("{a}x" * size).match("ax" * size + "b"),
            2_000,
            id="match, many placeholders",
        ),
        pytest.param(
            lambda size: Template.parse("{a}" + "x" * size + "y{b}").match("x" * 2 * size),
            20_000,
            id="match, a literal as long as the text",
        ),
        pytest.param(
            lambda size: Template.parse("".join(f"{{n{i}}}x" for i in range(size))).match(
                "x" * size
            ),
            2_000,
            id="match, many names",
        ),
        pytest.param(told("{a}-{b}", "a-"), 20_000, id="ambiguous"),
        pytest.param(told("{a}-{b}-{a}", "a-"), 5_000, id="ambiguous, repeated"),
        pytest.param(
            lambda size: Template.parse("{a}/" * size).expand({"a": "é/"}), 2_000, id="expand, many"
        ),
        pytest.param(
            lambda size: Template.parse("{a}").expand({"a": "é/%" * size}),
            20_000,
            id="expand, long",
        ),
        pytest.param(lambda size: Template.parse("{a}/" * size, "/"), 2_000, id="parse, segments"),
        pytest.param(lambda size: Template.parse("a" * size + "{b}"), 100_000, id="parse, long"),
        pytest.param(lambda size: refused("{" * size), 20_000, id="parse, open braces"),
        pytest.param(lambda size: refused("{a}" * size + "{"), 5_000, id="parse, one open brace"),
        pytest.param(lambda size: refused("}" * size), 20_000, id="parse, closed braces"),
        pytest.param(
            lambda size: Template.parse("".join(f"{{n{i}}}x" for i in range(size))).regex(),
            2_000,
            id="regex",
        ),
        pytest.param(fits_regex("{a}x{b}x{c}!", None, "x", ""), 20_000, id="regex, open"),
        pytest.param(fits_regex("{a}{b}xy{c}xyz", None, "xy", ""), 20_000, id="regex, near misses"),
        pytest.param(
            fits_regex("{a}" + "x" * 199 + "y{b}", None, "x", ""), 2_000, id="regex, long"
        ),
        pytest.param(fits_regex("a/{b}/c/{d}!", "/", "a/", "!"), 20_000, id="regex, segments"),
    ],
)
def test_time_doubles_with_the_input(work: Callable[[int], object], smallest: int) -> None:
    # Another process may have been in the way: only what is slow again is slow.
    assert grows_linearly(work, smallest) or grows_linearly(work, smallest)


def test_quadratic_time_would_be_noticed() -> None:
    assert not grows_linearly(lambda size: [0 for _ in range(size) for _ in range(size)], 200)


def test_a_pattern_is_not_given_where_it_would_take_long() -> None:
    assert Template.parse("{a}" + "x" * 200 + "{b}").regex() is not None
    assert Template.parse("{a}" + "x" * 201 + "{b}").regex() is None
    assert Template.parse("x" * 201 + "{b}").regex() is not None
