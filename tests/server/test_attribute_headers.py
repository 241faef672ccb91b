"""Documents with their attributes in headers."""

from __future__ import annotations

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

FILE = "/dirs/d1/files/f1"


@pytest.mark.covers("HB-01", "HB-02", "HB-03", "HB-04", "HB-05")
def test_a_document_is_read_and_written_with_its_attributes(calls: Calls) -> None:
    done = calls(
        "PUT",
        FILE,
        b"\x00 bytes",
        {
            "Content-Type": "my/type",
            "xRegistry-name": "a%20name",
            "xRegistry-labels.stage": "dev",
            "xRegistry-labels.a.b": "",
        },
    )
    assert done.status == 201
    shown = calls.get(FILE)
    assert shown.body == b"\x00 bytes"
    root = "http://localhost:8080/dirs/d1/files/f1"
    found = [(n, v) for n, v in shown.headers if n.startswith(("xregistry-", "content-"))]
    time = shown.header("xregistry-createdat")
    assert [one for one in found if one[0] != "content-length"] == [
        ("content-location", f"{root}/versions/1"),
        ("xregistry-fileid", "f1"),
        ("xregistry-versionid", "1"),
        ("xregistry-self", root),
        ("xregistry-xid", "/dirs/d1/files/f1"),
        ("xregistry-epoch", "1"),
        ("xregistry-name", "a%20name"),
        ("xregistry-isdefault", "true"),
        ("xregistry-labels.stage", "dev"),
        ("xregistry-labels.a.b", ""),
        ("xregistry-createdat", time),
        ("xregistry-modifiedat", time),
        ("xregistry-ancestorid", "1"),
        ("xregistry-metaurl", f"{root}/meta"),
        ("xregistry-versionsurl", f"{root}/versions"),
        ("xregistry-versionscount", "1"),
        ("content-type", "my/type"),
        ("content-disposition", "f1"),
        ("content-security-policy", "sandbox"),
    ]


@pytest.mark.covers("HB-04")
def test_a_version_has_no_headers_of_the_resource(calls: Calls) -> None:
    calls("PUT", FILE, b"x")
    shown = calls.get(f"{FILE}/versions/1")
    names = {name for name, _ in shown.headers}
    assert not names & {"xregistry-metaurl", "xregistry-versionsurl", "xregistry-versionscount"}
    assert shown.header("content-disposition") == "f1"


@pytest.mark.covers("HB-04")
def test_the_ancestor_has_the_name_of_the_generation() -> None:
    calls = Calls(ServerSettings(wire=RC2))
    calls("PUT", FILE, b"x", {"xRegistry-versionid": "a"})
    done = calls("PUT", f"{FILE}/versions/b", b"y", {"xRegistry-ancestor": "b"})
    assert done.header("xRegistry-ancestor") == "b"
    assert done.header("xRegistry-ancestorid") is None


@pytest.mark.covers("HB-06")
def test_absent_headers_leave_attributes_alone(calls: Calls) -> None:
    first = {"xRegistry-name": "n", "xRegistry-labels.a": "1", "xRegistry-labels.b": "2"}
    calls("PUT", FILE, b"x", first)
    done = calls("PUT", FILE, b"y", {"xRegistry-labels.c": "3"})
    assert done.header("xRegistry-name") == "n"
    assert [n for n, _ in done.headers if n.startswith("xregistry-labels")] == [
        "xregistry-labels.c"
    ]


@pytest.mark.covers("HB-06")
@pytest.mark.parametrize("header", ["xRegistry-labels", "xRegistry-labels.a"])
def test_null_deletes(calls: Calls, header: str) -> None:
    calls("PUT", FILE, b"x", {"xRegistry-name": "n", "xRegistry-labels.a": "1"})
    done = calls("PUT", FILE, b"y", {"xRegistry-name": "null", header: "null"})
    assert done.header("xRegistry-name") is None
    assert done.header("xRegistry-labels.a") is None


@pytest.mark.covers("HB-06")
def test_an_encoded_null_is_text(calls: Calls) -> None:
    done = calls("PUT", FILE, b"x", {"xRegistry-name": "%6Eull"})
    assert done.header("xRegistry-name") == "null"


@pytest.mark.covers("GN-08")
def test_what_the_server_sets_is_not_even_read(calls: Calls) -> None:
    headers = {"xRegistry-isdefault": "x", "xRegistry-formatvalidated": "x", "xRegistry-self": ""}
    done = calls("PUT", FILE, b"x", headers)
    assert (done.status, done.header("xRegistry-isdefault")) == (201, "true")


@pytest.mark.covers("HB-07")
def test_an_absent_content_type_erases_it(calls: Calls) -> None:
    calls("PUT", FILE, b"x", {"Content-Type": "my/type"})
    done = calls("PUT", FILE, b"y")
    assert done.header("Content-Type") is None
    assert "contenttype" not in calls.get(f"{FILE}$details").json


@pytest.mark.covers("HB-08", "HT-09", "KD-22")
def test_a_document_elsewhere(calls: Calls) -> None:
    url = "https://example.com/x%20y"
    created = calls("PUT", FILE, b"", {"xRegistry-fileurl": url.replace("%", "%25")})
    assert (created.status, created.header("Location")) == (201, f"http://localhost:8080{FILE}")
    shown = calls.get(FILE)
    assert (shown.status, shown.header("Location"), shown.body) == (303, url, b"")
    assert shown.header("xRegistry-epoch") == "1"


@pytest.mark.parametrize(
    ("body", "header", "error"),
    [
        pytest.param(
            b"x",
            "xRegistry-fileurl",
            "extra_xregistry_header",
            id="url-and-body",
            marks=pytest.mark.covers("HB-08"),
        ),
        pytest.param(
            b"",
            "xRegistry-file",
            "extra_xregistry_header",
            id="document",
            marks=pytest.mark.covers("HB-09"),
        ),
        pytest.param(
            b"",
            "xRegistry-filebase64",
            "extra_xregistry_header",
            id="base64",
            marks=pytest.mark.covers("HB-09"),
        ),
        pytest.param(
            b"x",
            "xRegistry-contenttype",
            "extra_xregistry_header",
            id="content-type",
            marks=pytest.mark.covers("HB-03"),
        ),
        pytest.param(b"", "xRegistry-", "header_error", id="no-name"),
    ],
)
def test_headers_that_are_refused(calls: Calls, body: bytes, header: str, error: str) -> None:
    refused = calls("PUT", FILE, body, {header: "https://example.com"})
    assert (refused.status, refused.error) == (400, error)
    assert refused.json["args"]["name"] == header
    assert refused.json["subject"] == FILE


@pytest.mark.covers("HB-11")
def test_a_value_that_is_not_utf_8(calls: Calls) -> None:
    refused = calls("PUT", FILE, b"", {"xRegistry-name": "%C0%A0"})
    assert (refused.error, refused.json["args"]["name"]) == ("header_error", "xRegistry-name")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"xRegistry-labels": "x", "xRegistry-labels.a": "y"}, id="value-and-map"),
        pytest.param({"xRegistry-labels.a": "x", "xRegistry-labels-a": "y"}, id="two-spellings"),
    ],
)
def test_a_header_that_contradicts_another(calls: Calls, headers: dict[str, str]) -> None:
    assert calls("PUT", FILE, b"", headers).error == "header_error"


def test_the_older_spelling_of_labels_is_read(calls: Calls) -> None:
    done = calls("PUT", FILE, b"", {"xRegistry-labels-stage.x": "dev"})
    assert done.header("xRegistry-labels.stage.x") == "dev"


def test_a_key_with_a_colon_fits_into_a_header(calls: Calls) -> None:
    calls.put(f"{FILE}$details", {"labels": {"a:b": "c"}})
    assert calls.get(FILE).header("xRegistry-labels.a%3Ab") == "c"
    done = calls("PUT", FILE, b"", {"xRegistry-labels.x%3Ay": "z"})
    assert done.header("xRegistry-labels.x%3Ay") == "z"
    assert calls.get(f"{FILE}$details").json["labels"] == {"x:y": "z"}


@pytest.mark.covers("WR-08")
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("PUT", "/"),
        ("POST", "/dirs"),
        ("PUT", "/dirs/d1"),
        ("PUT", "/dirs/d1/files/f1$details"),
        ("PUT", "/dirs/d1/files/f1/meta"),
        ("POST", "/dirs/d1/files/f1/versions"),
        ("PUT", "/dirs/d1/notes/n1"),
    ],
)
def test_metadata_in_body_and_headers(calls: Calls, method: str, target: str) -> None:
    refused = calls(method, target, b"{}", {"xRegistry-name": "x"})
    assert (refused.status, refused.error) == (400, "extra_xregistry_header")
    assert refused.json["args"]["name"] == "xregistry-name"


@pytest.mark.covers("HB-02")
def test_what_is_no_scalar_is_no_header() -> None:
    attributes = {
        "points": {"type": "array", "item": {"type": "integer"}},
        "shape": {"type": "object", "attributes": {"*": {"type": "any"}}},
        "sizes": {"type": "map", "item": {"type": "decimal"}},
    }
    resource = {"singular": "file", "attributes": attributes}
    model = {"groups": {"dirs": {"singular": "dir", "resources": {"files": resource}}}}
    calls = Calls(model=model)
    values = {"points": [1], "shape": {"a": 1}, "sizes": {"x": 1.5}}
    assert calls.put(f"{FILE}$details", values).status == 201
    shown = calls.get(FILE)
    assert shown.header("xRegistry-sizes.x") == "1.5"
    assert not any(n.startswith(("xregistry-points", "xregistry-shape")) for n, _ in shown.headers)


def test_no_value_breaks_out_of_its_header(calls: Calls) -> None:
    text = "a\r\nSet-Cookie: x=1\r\n\r\nü"
    calls.put(f"{FILE}$details", {"name": text, "contenttype": text, "fileurl": "urn:x"})
    shown = calls.get(FILE)
    assert all("\r" not in v and "\n" not in v for _, v in shown.headers)
