"""Verdicts say what the registry has to say: validated, violated or unknown, and why."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.schemas import compatibility
from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.verdicts import (
    CompatibilityVerdict,
    FormatVerdict,
    format_listed,
    pair_listed,
    validate_compatibility,
    validate_format,
)

JSON = "JSONSchema/draft-07"


def text(**keywords: Any) -> PayloadSchema:
    """A schema for an object with a text ``tag``."""
    tag = {"type": "string", **keywords}
    return compile_schema(JSON, {"type": "object", "properties": {"tag": tag}})


def checked(document: Any, format: str = JSON, **more: Any) -> FormatVerdict:  # noqa: A002
    verdict = validate_format(format, document, **more)
    assert verdict is not None
    return verdict


def compared(mode: str, *versions: Any, **more: Any) -> CompatibilityVerdict:
    """The verdict on the last of some versions, which are numbered from 1."""
    numbered = [(str(number), one) for number, one in enumerate(versions, 1)]
    verdict = validate_compatibility(mode, numbered[:-1], numbered[-1], **more)
    assert verdict is not None
    return verdict


# --- format


def test_a_document_of_its_format_is_validated() -> None:
    verdict = checked({"type": "object"})
    assert verdict == FormatVerdict(format=JSON, outcome="validated")
    assert verdict.schema is not None


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"type": 5}, id="a value"),
        pytest.param('{"type": 5}', id="a text"),
        pytest.param("{", id="no JSON"),
        pytest.param({"$ref": "https://example.com/other.json"}, id="a reference outside"),
    ],
)
def test_a_document_that_is_wrong_is_a_violation(document: Any) -> None:
    verdict = checked(document)
    assert (verdict.outcome, verdict.error) == ("violated", "format_violation")
    assert verdict.reason is not None
    assert verdict.reason.startswith("The document is not valid JSONSchema/draft-07. ")
    assert verdict.reason.endswith(".")
    assert verdict.schema is None


def test_the_place_of_a_violation_is_told() -> None:
    verdict = checked({"properties": {"tag": {"type": 5}}})
    assert verdict.location
    assert verdict.location in (verdict.reason or "")


def test_a_format_nobody_knows() -> None:
    assert checked("x", "Oops/1") == FormatVerdict(
        format="Oops/1",
        outcome="unknown",
        reason="The format Oops/1 is not supported, so the document was not checked.",
        error="format_unknown",
    )


def test_a_format_that_the_registry_does_not_list() -> None:
    verdict = checked({"type": "object"}, formats=["Avro/*"])
    assert (verdict.outcome, verdict.error) == ("unknown", "format_unknown")
    assert checked({"type": "object"}, formats=["jsonschema/*"]).outcome == "validated"


def test_a_document_kept_elsewhere() -> None:
    assert checked(None, external=True) == FormatVerdict(
        format=JSON,
        outcome="unknown",
        reason="The document is kept outside the registry and is never fetched, so not checked.",
        error="format_external",
    )


@pytest.mark.parametrize("format_", [None, ""])
def test_without_a_format_nothing_is_checked(format_: str | None) -> None:
    assert validate_format(format_, "{") is None


@pytest.mark.parametrize("document", [None, "", b""], ids=["none", "text", "bytes"])
@pytest.mark.parametrize(
    ("format_", "outcome"),
    [
        (JSON, "violated"),
        ("Avro/1.11", "violated"),
        ("XSD/1.0", "violated"),
        ("JSONStructure/draft-02", "violated"),
        ("Protobuf/3", "violated"),
        ("Oops/1", "unknown"),
    ],
)
def test_an_empty_document(document: Any, format_: str, outcome: str) -> None:
    verdict = checked(document, format_)
    assert verdict.outcome == outcome
    if outcome == "violated":
        assert verdict.reason == f"The document is empty, which is not valid {format_}."


# --- compatibility


def test_the_first_version_is_compatible() -> None:
    assert compared("backward", text()) == CompatibilityVerdict(
        mode="backward", outcome="validated"
    )


@pytest.mark.parametrize(
    ("mode", "outcome", "versionids"),
    [
        pytest.param("backward", "validated", (), id="backward"),
        pytest.param("BACKWARD", "validated", (), id="in any case"),
        pytest.param("forward", "violated", ("2", "3"), id="forward"),
        pytest.param("full", "violated", ("2", "3"), id="full"),
        pytest.param("backward_transitive", "violated", ("1", "3"), id="backward transitive"),
        pytest.param("full_transitive", "violated", ("1", "2", "3"), id="full transitive"),
    ],
)
def test_modes(mode: str, outcome: str, versionids: tuple[str, ...]) -> None:
    verdict = compared(mode, text(maxLength=9), text(maxLength=3), text(maxLength=5))
    assert (verdict.outcome, verdict.versionids) == (outcome, versionids)
    assert (verdict.error == "compatibility_violation") == (outcome == "violated")
    assert (verdict.reason is None) == (outcome == "validated")
    assert {version for version, _ in verdict.changes} == set(versionids[:-1])


@pytest.mark.parametrize("mode", [None, ""])
def test_without_a_mode_nothing_is_checked(mode: str | None) -> None:
    assert validate_compatibility(mode, [("1", text())], ("2", text())) is None


def test_a_mode_nobody_knows() -> None:
    assert compared("none", text(), text()) == CompatibilityVerdict(
        mode="none",
        outcome="unknown",
        reason="The compatibility none is not supported for JSONSchema/draft-07, so it was not "
        "checked.",
        error="compatibility_unknown",
    )


def test_a_pair_that_the_registry_does_not_list() -> None:
    verdict = compared("full", text(), text(), compatibilities={"JSONSchema/*": ["backward"]})
    assert (verdict.outcome, verdict.error) == ("unknown", "compatibility_unknown")


def test_a_version_that_could_not_be_checked() -> None:
    verdict = compared("backward", checked("x", "Oops/1"), text())
    assert verdict == CompatibilityVerdict(
        mode="backward",
        outcome="unknown",
        reason="Version 1 cannot be compared. The format Oops/1 is not supported, so the document "
        "was not checked.",
        error="compatibility_unknown",
        versionids=("1",),
    )


def test_a_new_version_that_could_not_be_checked() -> None:
    verdict = compared("backward", text(), checked(None, external=True))
    assert (verdict.outcome, verdict.versionids) == ("unknown", ("2",))


def test_a_violation_counts_whatever_else_could_not_be_checked() -> None:
    versions = (checked(None, external=True), text(maxLength=9), text(maxLength=5))
    verdict = compared("backward_transitive", *versions)
    assert (verdict.outcome, verdict.versionids) == ("violated", ("2", "3"))


def test_an_empty_document_is_not_compared() -> None:
    verdict = compared("backward", checked("", "Protobuf/3"), text())
    assert verdict.reason == (
        "Version 1 cannot be compared. The document is empty, which is not valid Protobuf/3."
    )


@pytest.mark.parametrize(
    ("format_", "document"),
    [
        pytest.param("Protobuf/3", "message A {} message B {}", id="two messages"),
        pytest.param("Protobuf/3", "enum E { NONE = 0; }", id="no message"),
        pytest.param(
            "XSD/1.0",
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:complexType name="T"/>'
            "</xs:schema>",
            id="no element",
        ),
        pytest.param(
            "JsonStructure/draft-02",
            '{"$id": "urn:x", "definitions": {"T": {"name": "T", "type": "string"}}}',
            id="no root",
        ),
    ],
)
def test_a_document_of_several_parts_is_valid_and_not_compared(format_: str, document: str) -> None:
    verdict = checked(document, format_)
    assert verdict == FormatVerdict(format=format_, outcome="validated")
    assert compared("backward", verdict, text()).outcome == "unknown"


def change(message: str, backward: Effect, place: str | None = "/tag") -> Change:
    return Change(
        rule="r", old=place, new=place, message=message, backward=backward, forward="safe"
    )


def canned(monkeypatch: pytest.MonkeyPatch, *changes: Change) -> None:
    monkeypatch.setattr(compatibility, "changes", lambda old, new: changes)


def test_a_reason_is_complete_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    canned(
        monkeypatch,
        change("The tag got shorter.", "breaking"),
        change("nobody knows", "undecided"),
        change("the root changed", "breaking", ""),
    )
    assert compared("backward", text(), text()).reason == (
        "Version 2 is not backward compatible with version 1. At /tag: The tag got shorter. "
        "The root changed."
    )
    assert compared("backward_transitive", text(), text(), text()).reason == (
        "Version 3 is not backward_transitive compatible with versions 1, 2. "
        "Since version 1, at /tag: The tag got shorter. Since version 1: The root changed. "
        "Since version 2, at /tag: The tag got shorter. Since version 2: The root changed."
    )


def test_undecided_is_never_compatible(monkeypatch: pytest.MonkeyPatch) -> None:
    canned(monkeypatch, change("The patterns differ.", "undecided"), change("Fine.", "safe"))
    assert compared("backward", text(), text()) == CompatibilityVerdict(
        mode="backward",
        outcome="unknown",
        reason="It cannot be decided whether version 2 is backward compatible with version 1. "
        "At /tag: The patterns differ.",
        error="compatibility_unknown",
        versionids=("1", "2"),
        changes=(("1", change("The patterns differ.", "undecided")),),
    )


def test_a_reason_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    canned(monkeypatch, *[change("It broke.", "breaking")] * 25)
    verdict = compared("backward", text(), text())
    assert (verdict.reason or "").endswith("At /tag: It broke. There are 5 more reasons.")
    assert len(verdict.changes) == 25


# --- capabilities


@pytest.mark.parametrize(
    ("patterns", "listed"),
    [
        pytest.param(["JSONSchema/draft-07"], True, id="itself"),
        pytest.param(["jsonschema/DRAFT-07"], True, id="in any case"),
        pytest.param(["JSONSchema/*"], True, id="any version"),
        pytest.param(["*"], True, id="anything"),
        pytest.param(["JSONSchema/draft-0?"], False, id="only the star is a wildcard"),
        pytest.param(["JSONSchema/draft-0[7]"], False, id="a bracket is none"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_formats_of_the_capabilities(patterns: list[str], listed: bool) -> None:
    assert format_listed(JSON, patterns) is listed


def test_pairs_of_the_capabilities() -> None:
    pairs = {"Avro/*": ["full"], "jsonschema/*": ["Backward"]}
    assert pair_listed(JSON, "BACKWARD", pairs)
    assert not pair_listed(JSON, "full", pairs)
