"""The data types of attributes: what is a value of which, and its normal form."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import RegistryError
from heraldry.model.datatypes import (
    CHECKS,
    SCALARS,
    TYPES,
    check_id,
    check_length,
    comparable,
    is_key,
    is_name,
    normal_timestamp,
    target_check,
    value_text,
)
from heraldry.model.metamodel import GroupType, Model, ResourceType

covers = pytest.mark.covers

FILES = ResourceType(plural="files", singular="file")
DIRS = GroupType(plural="dirs", singular="dir", resources={"files": FILES})
BOXES = GroupType(plural="boxes", singular="box", resources={"files": FILES})
MODEL = Model(groups={"dirs": DIRS, "boxes": BOXES})


def is_value(kind, value):
    try:
        CHECKS[kind](value, MODEL)
    except ValueError:
        return False
    return True


@covers("T-01")
def test_the_names_of_the_types():
    names = (
        "any array boolean decimal integer map object string timestamp uinteger uri uriabsolute "
        "urirelative uritemplate url urlabsolute urlrelative xid xidtype"
    )
    assert not TYPES ^ set(names.split())


@covers("T-02")
def test_what_is_a_scalar():
    assert sorted(TYPES - SCALARS) == ["any", "array", "map", "object"]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        pytest.param(
            *("boolean", [True, False], ["TRUE", "true", 1, 0, None, []]),
            marks=covers("T-04"),
            id="boolean",
        ),
        pytest.param(
            *("decimal", [0, -1, 1.5, 10**30], ["1", True, None, float("nan"), float("inf")]),
            marks=covers("T-05"),
            id="decimal",
        ),
        pytest.param(
            *("integer", [0, -7, 7, 5.0], ["7", 7.5, True, None, {}, 10**5000]),
            marks=covers("T-05"),
            id="integer",
        ),
        pytest.param(
            *("uinteger", [0, 7], [-1, -1.0, "7", 0.5, False, None]),
            marks=covers("T-05"),
            id="uinteger",
        ),
        pytest.param("string", ["", "é", "a\nb"], [1, True, None, ["a"]], id="string"),
        pytest.param(
            "any", [1, "a", None, [None], {"A b": {}}], [], marks=covers("T-12"), id="any"
        ),
    ],
)
def test_plain_values(kind, good, bad):
    assert [value for value in good if not is_value(kind, value)] == []
    assert [value for value in bad if is_value(kind, value)] == []


def test_a_whole_number_written_with_a_fraction_is_an_integer():
    found = CHECKS["integer"](5.0, MODEL)
    assert found == 5
    assert isinstance(found, int)


@covers("T-08")
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        pytest.param("2024-01-31T12:00:00Z", "2024-01-31T12:00:00Z", id="normal"),
        pytest.param("2024-01-31T12:00:00.25Z", "2024-01-31T12:00:00.25Z", id="fraction"),
        pytest.param("2024-01-31T12:00:00.2500Z", "2024-01-31T12:00:00.25Z", id="zeros"),
        pytest.param("2024-01-31T12:00:00.000Z", "2024-01-31T12:00:00Z", id="only-zeros"),
        pytest.param(
            "2024-01-31T12:00:00.1234567891Z", "2024-01-31T12:00:00.123456789Z", id="nano"
        ),
        pytest.param("2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00Z", id="east"),
        pytest.param("2023-12-31T20:00:00.5-05:00", "2024-01-01T01:00:00.5Z", id="west"),
        pytest.param("2024-01-31T12:00:00-00:00", "2024-01-31T12:00:00Z", id="unknown-offset"),
        pytest.param("2024-01-31t12:00:00z", "2024-01-31T12:00:00Z", id="lower-case"),
        pytest.param("2024-01-31T12:00:00", "2024-01-31T12:00:00Z", id="no-zone"),
        pytest.param("1990-12-31T15:59:60-08:00", "1990-12-31T23:59:60Z", id="leap-second"),
    ],
)
def test_timestamps_are_normalised(text, normal):
    assert normal_timestamp(text) == normal
    assert normal_timestamp(normal) == normal
    assert CHECKS["timestamp"](text, MODEL) == normal


@covers("T-08")
@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2024-01-31", "2024-01-31 12:00:00Z", "2024-02-30T12:00:00Z"),
        *("2024-01-31T24:00:00Z", "2024-01-31T12:60:00Z", "2024-01-31T12:00:00.Z"),
        *(
            "2024-01-31T12:00Z",
            "2024-01-31T12:00:60Z",
            "2024-01-31T12:00:00+0100",
            "24-01-31T1:0:0Z",
        ),
        *("0001-01-01T00:00:00+01:00", "２024-01-31T12:00:00Z", "2024-01-31T12:00:00Z\n"),
    ],
)
def test_what_is_no_timestamp(text):
    with pytest.raises(ValueError, match="must be a timestamp"):
        normal_timestamp(text)


zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=zones)


@covers("T-08")
@given(first=moments, second=moments)
def test_the_order_of_timestamps_is_the_order_of_time(first, second):
    texts = [normal_timestamp(moment.isoformat()) for moment in (first, second)]
    assert (texts[0][:-1] < texts[1][:-1]) == (first < second)
    assert datetime.fromisoformat(texts[0]) == first.astimezone(UTC)


@covers("T-09")
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param("https://example.com/a?b=c", "uri uriabsolute url urlabsolute", id="absolute"),
        pytest.param("https://example.com/a#part", "uri url", id="fragment"),
        pytest.param("urn:example:a", "uri uriabsolute url", id="urn"),
        pytest.param("/a/b?c", "uri urirelative url urlrelative", id="relative"),
        pytest.param("#/definitions/x", "uri urirelative url urlrelative", id="pointer"),
        pytest.param("", "uri urirelative url urlrelative", id="empty"),
        pytest.param("a/b:c", "uri urirelative url urlrelative", id="late-colon"),
        pytest.param("1:a", "uri urirelative url urlrelative", id="no-scheme"),
        pytest.param("a b", "uri urirelative url urlrelative", id="space"),
        pytest.param("http://example.com/%zz", "uri url", id="bad-escape"),
        pytest.param("http://example.com/<x>", "uri url", id="bad-character"),
        pytest.param("/a#b#c", "uri urirelative url urlrelative", id="two-fragments"),
        pytest.param("http://[::1]:80/", "uri uriabsolute url urlabsolute", id="address"),
        pytest.param("mqtt://{host}/x", "uri uriabsolute url urlabsolute", id="placeholder"),
        pytest.param("http://example.com/straße", "uri uriabsolute url urlabsolute", id="iri"),
        pytest.param("a\nb", "", id="control"),
        pytest.param(5, "", id="number"),
    ],
)
def test_uris(text, kinds):
    names = ("uri", "uriabsolute", "urirelative", "url", "urlabsolute", "urlrelative")
    assert [name for name in names if is_value(name, text)] == kinds.split()


@covers("T-09")
@pytest.mark.parametrize(
    "text", ["", "/a/{b}", "{+path}/x{?q,r*}", "{x:3}", "a%20b", "{a.b}", "..."]
)
def test_uri_templates(text):
    assert is_value("uritemplate", text)


@covers("T-09")
@pytest.mark.parametrize(
    "text", ["{", "}", "{}", "{a b}", "a b", "%z", "{x:0}", "{a,}", "{a..b}", 5]
)
def test_what_is_no_uri_template(text):
    assert not is_value("uritemplate", text)


@covers("T-10")
@pytest.mark.parametrize(
    "text",
    [
        *("/", "/dirs/d1", "/dirs/d1/files/f1", "/dirs/d1/files/f1/meta"),
        "/dirs/nowhere/files/f1/versions/v:1",
    ],
)
def test_xids(text):
    assert is_value("xid", text)


@covers("T-10")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "dirs/d1",
            "//",
            "/dirs",
            "/dirs/d1/",
            "/DIRS/d1",
            "/dirs/d1/files",
            "/dirs/d1/nos/f1",
        ),
        *("/dirs/d1/files/f1/versions", "/dirs/d1/files/f1/other/x", "/dirs/d1/files/f1/meta/x"),
        *("/dirs/d*", "/dirs/d1/files/f1$details", "/dirs/d1/files/f1/versions/v1/x", 7),
    ],
)
def test_what_is_no_xid(text):
    assert not is_value("xid", text)


@covers("T-11")
@pytest.mark.parametrize("text", ["/", "/dirs", "/dirs/files", "/dirs/files/versions"])
def test_xidtypes(text):
    assert is_value("xidtype", text)


@covers("T-11")
@pytest.mark.parametrize(
    "text",
    ["", "dirs", "/dir", "/dirs/", "/dirs/file", "/dirs/files/meta", "/dirs/files/versions/v"],
)
def test_what_is_no_xidtype(text):
    assert not is_value("xidtype", text)


@covers("MD-12")
@pytest.mark.parametrize(
    ("target", "matching"),
    [
        pytest.param("/dirs", "/dirs/d", id="group"),
        pytest.param("/dirs/files", "/dirs/d/files/f", id="resource"),
        pytest.param("/dirs/files/versions", "/dirs/d/files/f/versions/v", id="version"),
        pytest.param(
            "/dirs/files[/versions]", "/dirs/d/files/f /dirs/d/files/f/versions/v", id="either"
        ),
    ],
)
def test_targets_of_xids(target, matching):
    check = target_check(CHECKS["xid"], target, xid=True)
    texts = ["/", "/dirs/d", "/dirs/d/files/f", "/dirs/d/files/f/meta", "/boxes/d/files/f"]
    found = []
    for text in [*texts, "/dirs/d/files/f/versions/v"]:
        try:
            found.append(check(text, MODEL))
        except ValueError as error:
            assert str(error) == f"must match the target {target}"  # noqa: PT017
    assert found == matching.split()


@covers("MD-12")
def test_targets_of_uris_concern_only_those_that_start_with_a_slash():
    check = target_check(CHECKS["uri"], "/dirs/files", xid=False)
    for text in ("https://example.com/x", "#/dirs/d/files/f", "other", "/dirs/d/files/f#/a"):
        assert check(text, MODEL) == text
    for text in ("/boxes/d/files/f", "/dirs/d/files/f/versions/v", "/nowhere/x", "/dirs"):
        with pytest.raises(ValueError, match=r"must be an xid|must match|unknown"):
            check(text, MODEL)


def test_the_target_of_a_uri_admits_the_group_as_official_models_need():
    assert target_check(CHECKS["uri"], "/dirs/files", xid=False)("/dirs/d", MODEL) == "/dirs/d"


@covers("CA-02")
@pytest.mark.parametrize("text", ["a", "A-1._~:@", "_", "0", "x" * 128])
def test_ids(text):
    check_id(text, "/dirs")


@covers("CA-02")
@pytest.mark.parametrize("text", ["", "-a", ".a", "a b", "a*", "é", "a/b", "x" * 129, "a\n"])
def test_what_is_no_id(text):
    with pytest.raises(RegistryError) as caught:
        check_id(text, "/dirs")
    assert (caught.value.name, caught.value.subject) == ("malformed_id", "/dirs")
    assert caught.value.arguments["id"] == text
    assert caught.value.arguments["error_detail"]


@pytest.mark.parametrize(
    ("text", "name", "key"),
    [
        pytest.param("a", True, True, id="letter", marks=covers("A-01", "T-06")),
        pytest.param("x" * 63, True, True, id="longest", marks=covers("A-01", "T-06")),
        pytest.param("x" * 64, False, False, id="too-long", marks=covers("A-01", "T-06")),
        pytest.param("", False, False, id="empty", marks=covers("A-01", "T-06")),
        pytest.param("_a1", True, False, id="underscore", marks=covers("A-02", "T-06")),
        pytest.param("1a", False, True, id="digit", marks=covers("A-02", "T-06")),
        pytest.param("a-b:c.d", False, True, id="signs", marks=covers("A-02", "T-06")),
        pytest.param("aB", False, False, id="upper-case", marks=covers("A-02", "T-06")),
        pytest.param("a\n", False, False, id="line-end", marks=covers("A-02", "T-06")),
    ],
)
def test_names_and_keys(text, name, key):
    assert (is_name(text) is not None) == name
    assert (is_key(text) is not None) == key


@covers("A-04")
@pytest.mark.parametrize(
    ("text", "fits"),
    [
        pytest.param("x" * 4092, True, id="longest"),
        pytest.param("x" * 4093, False, id="too-long"),
        pytest.param("é" * 2046, True, id="longest-in-bytes"),
        pytest.param("é" * 2047, False, id="too-long-in-bytes"),
    ],
)
def test_the_length_of_a_scalar_with_its_name(text, fits):
    if fits:
        check_length("name", text)
        return
    with pytest.raises(ValueError, match="4096 bytes"):
        check_length("name", text)


def test_texts_of_values():
    values = [True, False, 5, 5.0, -0.5, "A", 1e300, 10**5000]
    assert [value_text(value) for value in values] == [
        *("true", "false", "5", "5", "-0.5", "A", "1e+300", "a huge number")
    ]


@covers("MD-15")
def test_texts_compare_ignoring_case_unless_told():
    assert comparable("Ab") == comparable("aB")
    assert comparable("Ab", matchcase=True) != comparable("aB", matchcase=True)


@pytest.mark.parametrize("kind", sorted(SCALARS))
@pytest.mark.parametrize("piece", ["a", "{", "{a", "%41", "a.", "/a", "[", "0", ":", "#", "-"])
def test_long_texts_take_no_more_than_linear_time(kind, piece):
    start = time.perf_counter()
    is_value(kind, piece * 200_000 + "\x00")
    assert time.perf_counter() - start < 2
