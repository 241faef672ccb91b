"""The official JSON Schema test suite, through our own compilation and validation.

Every required test that needs no remote document passes; with the suite's own remote documents
as those of a catalog, all but DIFFERENT do. Of the optional tests the rate is printed.
"""

from __future__ import annotations

import sys
from functools import cache
from random import Random
from typing import Any

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.formats import content_of
from heraldry.schemas.parse import parse
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.source import Reference
from tests.conftest import suite

FOLDER = suite("JSON-Schema-Test-Suite")
HOST = "http://localhost:1234/"
DRAFTS = {
    "draft4": "JSONSchema/Draft-04",
    "draft6": "JSONSchema/Draft-06",
    "draft7": "JSONSchema/Draft-07",
    "draft2019-09": "JSONSchema/2019-09",
    "draft2020-12": "JSONSchema/2020-12",
}
# A metaschema of one's own that switches off a vocabulary: unknown dialects are read as the
# draft of the format, with all that it has.
DIFFERENT = {
    (
        draft,
        "vocabulary.json",
        "schema that uses custom metaschema with with no validation vocabulary",
        "no validation: invalid number, but it still validates",
    )
    for draft in ("draft2019-09", "draft2020-12")
}
# From 2019-09 on a format is an annotation, which is what the specification says by default.
ANNOTATIONS = "optional/format"
ANNOTATING = ("draft2019-09", "draft2020-12")


def groups(draft: str, pattern: str = "*.json") -> list[tuple[str, dict[str, Any]]]:
    root = FOLDER / "tests" / draft
    files = sorted(root.glob(pattern))
    return [
        (str(file.relative_to(root)), group) for file in files for group in parse(file.read_bytes())
    ]


@cache
def remotes() -> tuple[Reference, ...]:
    root = FOLDER / "remotes"
    files = sorted(root.rglob("*.json"))
    return tuple(
        Reference(HOST + file.relative_to(root).as_posix(), file.read_bytes()) for file in files
    )


def needs_remote(format_: str, schema: Any) -> bool:
    """Whether a schema has a dialect or a reference that only the suite's own server would have."""
    if isinstance(schema, dict) and str(schema.get("$schema", "")).startswith(HOST):
        return True
    try:
        compile_schema(format_, schema)
    except SchemaError as error:
        return "is not in this catalog" in error.reason
    return False


def verdict(schema: PayloadSchema | None, value: Any) -> bool | None:
    if schema is None:
        return None
    accepted = schema.is_valid(value)
    assert accepted == (schema.check(value) == ())
    return accepted


def compiled(format_: str, schema: Any, known: tuple[Reference, ...]) -> PayloadSchema | None:
    try:
        return compile_schema(format_, schema, references=known)
    except SchemaError:
        return None


def failures(
    draft: str, chosen: list[tuple[str, dict[str, Any]]], known: tuple[Reference, ...]
) -> tuple[int, list[tuple[str, str, str, str]]]:
    count, failed = 0, []
    for file, group in chosen:
        schema = compiled(DRAFTS[draft], group["schema"], known)
        for test in group["tests"]:
            count += 1
            if verdict(schema, test["data"]) is not test["valid"]:
                failed.append((draft, file, group["description"], test["description"]))
    return count, failed


def told(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line}")


@pytest.mark.parametrize("draft", DRAFTS)
def test_required_tests_that_need_no_remote_document(
    draft: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [one for one in groups(draft) if not needs_remote(DRAFTS[draft], one[1]["schema"])]
    count, failed = failures(draft, chosen, ())
    told(capsys, f"{draft}: {count - len(failed)} of {count} required tests, no remote documents")
    assert failed == []
    assert count > 580


@pytest.mark.parametrize("draft", DRAFTS)
def test_required_tests_with_the_remote_documents_in_the_catalog(
    draft: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = groups(draft)
    remote = {file for file, one in chosen if needs_remote(DRAFTS[draft], one["schema"])}
    assert remote <= {"refRemote.json", "dynamicRef.json", "vocabulary.json"}
    count, failed = failures(draft, chosen, remotes())
    told(capsys, f"{draft}: {count - len(failed)} of {count} required tests")
    assert set(failed) == {one for one in DIFFERENT if one[0] == draft}


@pytest.mark.parametrize("draft", DRAFTS)
def test_optional_tests(draft: str, capsys: pytest.CaptureFixture[str]) -> None:
    count, failed = failures(draft, groups(draft, "optional/**/*.json"), remotes())
    told(capsys, f"{draft}: {count - len(failed)} of {count} optional tests")
    others = [one for one in failed if not one[1].startswith(ANNOTATIONS)]
    assert others == []
    assert draft in ANNOTATING or failed == []


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_schema_of_the_suite_has_columns_and_rows(draft: str) -> None:
    for _, group in groups(draft):
        schema = compiled(DRAFTS[draft], group["schema"], remotes())
        assert schema is not None
        assert schema.columns
        for test in group["tests"]:
            schema.to_row(test["data"])
        try:
            value = schema.sample(Random(1), {})
        except SchemaError:
            continue
        assert schema.is_valid(value)
        assert content_of(DRAFTS[draft], schema.encode(value))
