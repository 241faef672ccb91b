"""Every error type of the specification is provoked: in a transcript, or where it takes more."""

from __future__ import annotations

import re

import pytest

from heraldry.dialects.xreg_1_0.error_catalogue import BOTH
from tests.conformance.transcript import HERE
from tests.conftest import ROOT

ELSEWHERE = {
    "data_retrieval_error": "tests/registry/test_inline.py",
    "foreign_host": "tests/server/test_gate.py",
    "foreign_page": "tests/server/test_gate.py",
    "headers_too_large": "tests/server/test_paths.py",
    "insufficient_storage": "tests/live/test_full_disk_of_a_registry.py",
    "page_media_type": "tests/server/test_gate.py",
    "precondition_failed": "tests/server/test_preconditions.py",
    "query_too_long": "tests/server/test_paths.py",
    "readonly": "tests/registry/test_write_meta.py",
    "request_too_large": "tests/server/test_content.py",
    "server_busy": "tests/live/test_registry_store_away.py",
    "server_error": "tests/server/test_replies.py",
    "too_large": "tests/registry/test_inline.py",
    "unsupported_encoding": "tests/server/test_content.py",
    "write_too_long": "tests/registry/test_write_budget.py",
}
"""Errors that need limits, a broken store or a state that no request leads to: their tests."""

NEVER = {
    "malformed_xid": "the xid of an entity is ignored in requests (GN-08), and an attribute of "
    "the type xid with another value is an invalid_attribute",
    "unknown_group_type": "a path with it is not_found (KD-16), a body with it groups_only",
    "unknown_resource_type": "a path with it is not_found (KD-16), a body with it resources_only",
}
"""Errors that this server never sends, with the reason."""


def in_transcripts() -> set[str]:
    """The error types that transcripts expect."""
    texts = (path.read_text(encoding="utf-8") for path in HERE.glob("*.http"))
    return {name for text in texts for name in re.findall(r'core/\w+\.md#(\w+)"', text)}


@pytest.mark.parametrize("name", sorted(BOTH))
def test_an_error_type_is_provoked(name: str) -> None:
    if name in in_transcripts():
        assert name not in ELSEWHERE | NEVER
    elif name in ELSEWHERE:
        text = (ROOT / ELSEWHERE[name]).read_text(encoding="utf-8")
        assert re.search(rf'["#:]{name}"', text)
    else:
        assert NEVER[name]
