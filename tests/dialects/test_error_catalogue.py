"""The catalogue of errors against the specification's: status, placeholders, document order."""

from __future__ import annotations

import re

import pytest

from heraldry.dialects.xreg_1_0.error_catalogue import BOTH, error_type, problem
from heraldry.dialects.xreg_1_0.wire import RC2, RC4, WIRES, Wire
from heraldry.errors import RegistryError

SPEC = "https://github.com/xregistry/spec/blob/main/core/"

# name, status, placeholders of the title in rc2 and in rc4: from the texts of both generations
TABLE = [
    ("action_not_supported", 405, "action subject", "action subject"),
    ("ancestor_circular_reference", 400, "list subject", "list subject"),
    ("api_not_found", 404, "subject", "subject"),
    ("bad_defaultversionid", 400, "error_detail value", "error_detail subject value"),
    ("bad_details", 400, "subject", "subject"),
    ("bad_filter", 400, "error_detail value", "error_detail subject value"),
    ("bad_flag", 400, "flag subject", "flag subject"),
    ("bad_ignore", 400, "error_detail value", "error_detail subject value"),
    ("bad_inline", 400, "error_detail value", "error_detail subject value"),
    ("bad_request", 400, "error_detail", "error_detail"),
    ("bad_sort", 400, "error_detail value", "error_detail subject value"),
    ("cannot_doc_xref", 400, "subject", "subject"),
    ("capability_error", 400, "error_detail", "error_detail"),
    ("capability_missing_value", 400, "name value", "name value"),
    ("capability_unknown", 400, "field", "field"),
    ("capability_value", 400, "field list value", "field list value"),
    ("capability_wildcard", 400, "field", "field"),
    ("compatibility_unknown", 400, "compat format subject", "compat format subject"),
    ("compatibility_violation", 400, "compat subject", "compat subject"),
    ("constraint_failure", 400, "kind path subject", "kind path subject"),
    ("data_retrieval_error", 500, "", ""),
    ("defaultversionid_request", 400, "subject", "subject"),
    ("details_required", 405, "subject", "subject"),
    ("extra_xref_attribute", 400, "name subject", "name singular subject"),
    ("extra_xregistry_header", 400, "error_detail name", "error_detail name subject"),
    ("format_external", 400, "subject", "subject"),
    ("format_inconsistent", 400, "subject", "subject"),
    ("format_unknown", 400, "format subject", "format subject"),
    ("format_violation", 400, "format subject", "format subject"),
    ("groups_only", 400, "name subject", "name subject"),
    ("hasdocument_violation", 400, "plural subject", "plural subject"),
    ("header_error", 400, "error_detail name", "error_detail name subject"),
    ("inline_noninlineable", 400, "name subject", "name subject"),
    ("invalid_attribute", 400, "error_detail name subject", "error_detail name subject"),
    ("malformed_id", 400, "error_detail id", "error_detail id subject"),
    ("malformed_xid", 400, "error_detail xid", "error_detail subject xid"),
    ("malformed_xref", 400, "error_detail xref", "error_detail subject xref"),
    ("mismatched_epoch", 400, "bad_epoch epoch subject", "bad_epoch epoch subject"),
    (
        "mismatched_id",
        400,
        "expected_id invalid_id singular subject",
        "expected_id invalid_id singular subject",
    ),
    ("mismatched_version_attribute", 400, "name subject", "name subject"),
    ("misplaced_epoch", 400, "subject", "subject"),
    ("missing_body", 400, "", "subject"),
    ("missing_versions", 400, "subject", "subject"),
    ("model_compliance_error", 400, "", ""),
    ("model_error", 400, "error_detail", "error_detail"),
    ("model_required_true", 400, "name", "name"),
    ("model_scalar_default", 400, "name", "name"),
    ("multiple_roots", 400, "plural subject", "plural subject"),
    ("not_available", 400, "subject", "subject"),
    ("not_found", 404, "subject", "subject"),
    ("one_resource", 400, "list subject", "list subject"),
    ("parsing_data", 400, "error_detail", "error_detail"),
    ("readonly", 400, "subject", "subject"),
    ("required_attribute_missing", 400, "list subject", "list subject"),
    ("resources_only", 400, "name subject", "name subject"),
    ("server_busy", 503, "subject", "subject"),
    ("server_error", 500, "", ""),
    ("setdefaultversionid_not_allowed", 400, "singular subject", "singular subject"),
    ("setdefaultversionsticky_false", 400, "", "subject"),
    ("sort_noncollection", 400, "subject", "subject"),
    ("too_large", 406, "", "subject"),
    ("too_many_versions", 400, "subject", "subject"),
    ("unknown_attribute", 400, "name subject", "name subject"),
    ("unknown_group_type", 400, "name subject", "name subject"),
    ("unknown_id", 400, "id singular subject", "id singular subject"),
    ("unknown_resource_type", 400, "group name", "group name"),
    ("unsupported_specversion", 400, "list specversion", "list specversion"),
    ("versionid_not_allowed", 400, "plural subject", "plural subject"),
]
OF_HTTP = {
    *("api_not_found", "details_required", "extra_xregistry_header", "header_error"),
    *("missing_body", "missing_versions"),
}


@pytest.mark.covers("ER-02", "ER-04", "ER-07")
@pytest.mark.parametrize(
    ("name", "status", "rc2", "rc4"), [pytest.param(*row, id=row[0]) for row in TABLE]
)
def test_error_is_that_of_the_specification(name: str, status: int, rc2: str, rc4: str) -> None:
    for wire, placeholders in ((RC2, rc2), (RC4, rc4)):
        kind = error_type(name, wire)
        assert kind.status == status
        assert set(re.findall(r"<(\w+)>", kind.title)) == set(placeholders.split())
        home = "http.md" if name in OF_HTTP else "spec.md"
        assert kind.uri(name) == f"{SPEC}{home}#{name}"


def test_errors_of_ours_have_types_of_ours() -> None:
    ours = set(BOTH) - {row[0] for row in TABLE}
    assert ours == {
        *("request_too_large", "query_too_long", "headers_too_large", "unsupported_encoding"),
        *("foreign_host", "foreign_page", "page_media_type", "precondition_failed"),
        *("write_too_long", "insufficient_storage"),
    }
    assert all(BOTH[name].uri(name) == f"urn:heraldry:error:{name}" for name in ours)


ATTRIBUTE = RegistryError(
    "invalid_attribute", "/dirs/d1", {"name": "x", "error_detail": "must be a map"}, "More."
)


@pytest.mark.covers("ER-01", "ER-03", "ER-04")
def test_problem_document_says_everything() -> None:
    assert problem(ATTRIBUTE, RC4) == (
        400,
        {
            "type": f"{SPEC}spec.md#invalid_attribute",
            "title": 'The attribute "x" of "/dirs/d1" is not valid: must be a map.',
            "subject": "/dirs/d1",
            "args": {"name": "x", "error_detail": "must be a map"},
            "detail": "More.",
        },
    )


@pytest.mark.covers("ER-07")
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.specversion)
def test_members_are_in_order(wire: Wire) -> None:
    assert list(problem(ATTRIBUTE, wire)[1]) == ["type", "title", "detail", "subject", "args"]


@pytest.mark.covers("ER-03")
def test_absent_parts_are_left_out() -> None:
    assert list(problem(RegistryError("server_error"), RC4)[1]) == ["type", "title"]


@pytest.mark.covers("ER-05", "ER-07")
def test_header_error_has_a_subject_only_since_rc4() -> None:
    error = RegistryError("header_error", "/d", {"name": "a", "error_detail": "b"})
    assert "subject" not in problem(error, RC2)[1]
    assert problem(error, RC4)[1]["subject"] == "/d"


@pytest.mark.parametrize(
    ("error", "wire", "spoken"),
    [
        pytest.param("too_many_versions", RC2, "bad_flag", id="too-many"),
        pytest.param("defaultversionid_request", RC2, "bad_flag", id="no-version"),
        pytest.param("too_many_versions", RC4, "too_many_versions", id="too-many-rc4"),
        pytest.param("format_inconsistent", RC4, "mismatched_version_attribute", id="format"),
        pytest.param("setdefaultversionid_not_allowed", RC4, "invalid_attribute", id="sticky"),
        pytest.param("made_up", RC4, "server_error", id="unknown"),
    ],
)
@pytest.mark.covers("ER-07", "FL-62")
def test_generations_name_errors_differently(error: str, wire: Wire, spoken: str) -> None:
    assert problem(RegistryError(error, "/x"), wire)[1]["type"].endswith(f"#{spoken}")


@pytest.mark.covers("MD-16", "MD-47")
@pytest.mark.parametrize(
    ("name", "wire", "spoken"),
    [
        pytest.param("format", RC2, "format_inconsistent", id="format-rc2"),
        pytest.param("other", RC2, "mismatched_version_attribute", id="other-rc2"),
        pytest.param("format", RC4, "mismatched_version_attribute", id="format-rc4"),
    ],
)
def test_differing_formats_are_inconsistent_in_rc2(name: str, wire: Wire, spoken: str) -> None:
    error = RegistryError("mismatched_version_attribute", "/x", {"name": name})
    assert problem(error, wire)[1]["type"].endswith(f"#{spoken}")
