"""Bodies: limits, packing, JSON."""

from __future__ import annotations

import gzip
import tracemalloc
from dataclasses import replace

import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.limits import Limits
from heraldry.server.content import read_json
from heraldry.server.incoming import Incoming
from heraldry.server.scheduling import is_small
from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

SMALL = ServerSettings(wire=RC4, limits=Limits(body=10_000, nesting=20, values=100))

INCOMING = Incoming("PUT", "/dirs/d1", b"/dirs/d1", b"", "http", b"localhost", b"", b"", ())


@pytest.fixture
def small() -> Calls:
    return Calls(SMALL)


def test_a_body_may_be_as_large_as_the_limit(small: Calls) -> None:
    assert small("PUT", "/dirs/d1/files/f1", b"x" * 10_000).status == 201


@pytest.mark.parametrize(
    "headers",
    [pytest.param({}, id="in-pieces"), pytest.param({"Content-Length": "10001"}, id="declared")],
)
def test_a_larger_body_is_refused(small: Calls, headers: dict[str, str]) -> None:
    refused = small("PUT", "/dirs/d1/files/f1", b"x" * 10_001, headers)
    assert refused.status == 413
    assert refused.json["type"] == "urn:heraldry:error:request_too_large"
    assert small.get("/dirs/d1").status == 404


def test_a_packed_body_is_unpacked(small: Calls) -> None:
    packed = gzip.compress(b'{"name": "x"}')
    done = small("PUT", "/dirs/d1", packed, {"Content-Encoding": "gzip"})
    assert done.json["name"] == "x"


@pytest.mark.parametrize(
    ("body", "encoding", "status", "error"),
    [
        pytest.param(
            gzip.compress(b" " * 10_001), "gzip", 413, "request_too_large", id="large-inside"
        ),
        pytest.param(b"{}", "gzip", 400, "parsing_data", id="no-gzip"),
        pytest.param(gzip.compress(b"{}")[:-4], "gzip", 400, "parsing_data", id="cut"),
        pytest.param(gzip.compress(b"{}") + b"x", "gzip", 400, "parsing_data", id="more"),
        pytest.param(b"{}", "br", 415, "unsupported_encoding", id="other"),
    ],
)
def test_a_packed_body_is_refused(
    small: Calls, body: bytes, encoding: str, status: int, error: str
) -> None:
    refused = small("PUT", "/dirs/d1", body, {"Content-Encoding": encoding})
    assert refused.status == status
    assert refused.json["type"].endswith(error)


@pytest.mark.covers("GN-04")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{", id="cut"),
        pytest.param(b'{"name": "\xff"}', id="no-utf-8"),
        pytest.param(b'{"name": NaN}', id="nan"),
        pytest.param(b'{"name": "a", "name": "b"}', id="member-twice"),
        pytest.param(b'{"labels": {"a": ":\\"", "\\u0061": "b"}}', id="member-twice-inside"),
        pytest.param(b'{"x":' * 21 + b"1" + b"}" * 21, id="deep"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="very-deep"),
        pytest.param(b"{}{}", id="two"),
        pytest.param(b" ", id="blank"),
        pytest.param(b'{"name": "\\ud800"}', id="surrogate"),
    ],
)
def test_what_is_not_json_is_a_parsing_error(body: bytes) -> None:
    big = Calls(ServerSettings(wire=RC4, limits=Limits(nesting=20)))
    refused = big("PUT", "/dirs/d1", body)
    assert (refused.status, refused.error) == (400, "parsing_data")


def test_half_a_character_is_named_with_its_place(calls: Calls) -> None:
    refused = calls("PUT", "/dirs/d1", b'{\n"name": "\\ud800"}')
    reason = r"\ud800 is half of a character, a lone surrogate (byte 11, line 2)"
    assert refused.json["args"] == {"error_detail": reason}


def test_members_of_different_objects_may_have_one_name(calls: Calls) -> None:
    body = b'{"labels": {"name": "\\": {"}, "name": "x"}'
    assert calls("PUT", "/dirs/d1", body).status == 201


@pytest.mark.covers("GN-06")
@pytest.mark.parametrize("target", ["/", "/dirs/d1", "/dirs/d1/notes/n1"])
def test_a_schema_member_is_ignored(calls: Calls, target: str) -> None:
    body = {"$schema": "https://example.com/x"}
    assert calls.put(target, body).status in (200, 201)
    assert "$schema" not in calls.get(target).json
    assert calls("DELETE", "/dirs", b'{"$schema": "https://example.com/x"}').status == 204


@pytest.mark.covers("GN-06", "RG-06")
def test_a_model_keeps_its_schema_member(calls: Calls) -> None:
    body = {"$schema": "https://example.com/x", "groups": {}}
    assert calls.put("/modelsource", body).json == body
    assert calls.get("/modelsource").json == body
    assert "$schema" not in calls.get("/model").json


@pytest.mark.covers("HT-07", "FL-31")
def test_a_filter_that_cannot_be_read_is_told_before_a_missing_body(calls: Calls) -> None:
    said = calls("PUT", "/?filter=dirs..dirid=d2", b"")
    assert (said.status, said.error) == (400, "bad_filter")
    assert said.json["subject"] == "/?filter=dirs..dirid=d2"
    assert said.json["args"]["value"] == "dirs..dirid"


@pytest.mark.covers("HT-07")
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("PUT", "/"),
        ("PATCH", "/"),
        ("POST", "/"),
        ("PUT", "/capabilities"),
        ("PUT", "/modelsource"),
        ("POST", "/dirs"),
        ("PATCH", "/dirs/d1"),
        ("PUT", "/dirs/d1/files/f1$details"),
        ("PUT", "/dirs/d1/files/f1/versions/v1$details"),
        ("PUT", "/dirs/d1/notes/n1"),
        ("POST", "/dirs/d1/files/f1/versions"),
        ("PUT", "/dirs/d1/files/f1/meta"),
    ],
)
def test_metadata_needs_a_body(calls: Calls, method: str, target: str) -> None:
    refused = calls(method, target)
    assert (refused.status, refused.error) == (400, "missing_body")
    assert refused.json["subject"] == target


def test_null_is_a_body(calls: Calls) -> None:
    assert b"missing_body" not in calls("PUT", "/dirs/d1", b"null").body


def test_a_document_may_be_empty(calls: Calls) -> None:
    assert calls("PUT", "/dirs/d1/files/f1").status == 201


def test_a_body_with_too_many_values_is_refused(small: Calls) -> None:
    refused = small("PUT", "/dirs/d1", b'{"x": [' + b"0," * 100 + b"0]}")
    assert refused.error == "parsing_data"
    assert "more than 100 values" in refused.json["title"]


def test_commas_in_texts_are_no_values(small: Calls) -> None:
    assert small("PUT", "/dirs/d1", b'{"description": "' + b"," * 200 + b'"}').status == 201


@pytest.mark.parametrize(
    "text", [pytest.param(b"a", id="plain"), pytest.param(b"\\n", id="escaped")]
)
def test_a_long_text_takes_no_more_memory_than_itself(text: bytes) -> None:
    body = b'{"x": ["' + text * (8_000_000 // len(text)) + b'"]}'
    tracemalloc.start()
    try:
        read_json(INCOMING, body, Limits())
        assert tracemalloc.get_traced_memory()[1] < 2 * len(body)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" + b"[1]," * 60 + b"1]", id="containers"),
        pytest.param(b'{"x": ' + b'[{"a":' * 9 + b"1" + b"}]" * 9 + b"}", id="nested"),
    ],
)
def test_each_value_counts_wherever_it_is(body: bytes) -> None:
    few = Calls(ServerSettings(wire=RC4, limits=Limits(values=18)))
    assert "more than 18 values" in few("PUT", "/dirs/d1", body).json["title"]


def test_what_would_take_too_much_memory_is_refused() -> None:
    tight = Calls(ServerSettings(wire=RC4, limits=Limits(body=1_000_000, bodies=1_000_000)))
    refused = tight("PUT", "/dirs/d1", b'{"x": [' + b'{"a":1},' * 10_000 + b"1]}")
    assert (refused.status, refused.error) == (413, "urn:heraldry:error:request_too_large")
    assert "1000000 bytes of memory" in refused.json["detail"]


def test_many_values_in_a_packed_body_take_no_memory() -> None:
    calls = Calls(ServerSettings(wire=RC4, limits=Limits(values=1000)))
    packed = gzip.compress(b"[" + b'"",' * 5_000_000 + b"1]")
    tracemalloc.start()
    try:
        refused = calls("PUT", "/dirs/d1", packed, {"Content-Encoding": "gzip"})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "more than 1000 values" in refused.json["title"]
    assert peak < 3 * 15_000_000


@pytest.mark.parametrize(
    ("target", "small"),
    [
        ("/", True),
        ("/dirs/d1", True),
        ("/dirs/d1?foo=inline", True),
        ("/dirs/d1?inline=false", True),
        ("/?%FF=1", True),
        ("/dirs", False),
        ("/?inline=*", False),
        ("/?%69nline=*", False),
        ("/?%66ilter=dirs.name%3Dx", False),
        ("/dirs/d1?col%6cections", False),
        ("/?d%6Fc", False),
    ],
)
def test_flags_are_decoded_before_they_decide_where_a_request_runs(
    target: str, small: bool
) -> None:
    path, _, query = target.partition("?")
    assert (
        is_small(replace(INCOMING, path=path, raw_path=path.encode(), query=query.encode()))
        is small
    )
