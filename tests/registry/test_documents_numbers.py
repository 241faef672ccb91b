"""The format ``numbers``: the rules of formats and of compatibility without a schema language."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.registry.documents_numbers import check_numbers
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, files

DETAILS = f"{FILE}$details"


def numbers(**aspects: Any) -> Registry:
    """A registry whose files are checked."""
    checks = {"hasdocument": True, "validateformat": True, "validatecompatibility": True}
    return files(**checks, **aspects)


def version(made: Registry, name: str, content: str, format_: str = "numbers") -> dict[str, Any]:
    body = {"format": format_, "file": content}
    found: dict[str, Any] = ask(made, "put", f"{FILE}/versions/{name}$details", body)
    return found


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        pytest.param(b"1", "validated", id="one"),
        pytest.param(b"1\n\n -2 \r\n+3\n", "validated", id="lines"),
        pytest.param(b"\n", "validated", id="blank"),
        pytest.param(b"", "violated", id="empty", marks=pytest.mark.covers("VA-03")),
        pytest.param(b"1\ntwo", "violated", id="word"),
        pytest.param(b"1.5", "violated", id="fraction"),
        pytest.param("١".encode(), "violated", id="other digits"),
        pytest.param(b"\xff", "violated", id="bytes"),
        pytest.param(b"9" * 10_000, "violated", id="huge"),
    ],
)
@pytest.mark.covers("VA-01")
def test_what_is_valid(content: bytes, outcome: str) -> None:
    assert check_numbers("Numbers", content).outcome == outcome


@pytest.mark.covers("VA-01", "VE-10", "VE-11")
def test_a_document_is_checked_in_any_case_of_its_format() -> None:
    made = numbers()
    assert version(made, "v1", "1", "nUmBeRs")["formatvalidated"] is True
    body = {"format": "nUmBeRs", "file": "one"}
    error = refused(made, "put", f"{FILE}/versions/v1$details", body)
    assert (error.name, error.subject) == ("format_violation", f"{FILE}/versions/v1")
    assert error.arguments == {"format": "numbers"}


@pytest.mark.parametrize(
    ("rule", "sums", "fits"),
    [
        pytest.param("backward", (1, 2), True, id="backward"),
        pytest.param("BackWard", (2, 1), False, id="not backward"),
        pytest.param("forward", (2, 1), True, id="forward"),
        pytest.param("forward", (1, 2), False, id="not forward"),
        pytest.param("full", (2, 2), True, id="full"),
        pytest.param("full", (2, 3), False, id="not full"),
        pytest.param("backward", (3, 1, 2), False, id="ancestor first"),
        pytest.param("backward_transitive", (1, 2, 3), True, id="all"),
    ],
)
@pytest.mark.covers("ME-06", "VA-04")
def test_versions_go_together_by_their_sums(rule: str, sums: tuple[int, ...], fits: bool) -> None:
    made = numbers()
    for place, one in enumerate(sums, 1):
        version(made, f"v{place}", f"{one}\n0")
    if not fits:
        error = refused(made, "patch", f"{FILE}/meta", {"compatibility": rule})
        assert (error.name, error.subject) == ("compatibility_violation", FILE)
        assert error.arguments == {"compat": rule}
        return
    ask(made, "patch", f"{FILE}/meta", {"compatibility": rule})
    shown = ask(made, "get", f"{FILE}/versions")
    assert all(one["compatibilityvalidated"] for one in shown.values())


@pytest.mark.covers("VA-04")
def test_all_older_versions_count_where_the_rule_says_so() -> None:
    made = numbers()
    for name, content in (("v1", "1"), ("v2", "3"), ("v3", "3")):
        version(made, name, content)
    ask(made, "patch", f"{FILE}/meta", {"compatibility": "backward_transitive"})
    with pytest.raises(RegistryError, match=r"v4.*sum 2.*v3.*sum 3"):
        version(made, "v4", "2")


@pytest.mark.covers("VA-04")
def test_another_format_is_never_compatible() -> None:
    made = numbers()
    ask(made, "put", f"{FILE}/meta", {"compatibility": "backward"})
    version(made, "1", "{}", "JsonSchema/draft-07")
    with pytest.raises(RegistryError) as error:
        version(made, "v2", "1")
    assert error.value.name == "compatibility_violation"


@pytest.mark.covers("VE-11", "VE-12", "VA-02")
def test_what_is_not_checked_says_why_for_both_checks() -> None:
    made = numbers()
    ask(made, "put", f"{FILE}/meta", {"compatibility": "backward"})
    shown = version(made, "1", "1", "words/1")
    reasons = ("formatvalidatedreason", "compatibilityvalidatedreason")
    assert [shown[name] for name in reasons] == ["Unknown format"] * 2
    assert (shown["formatvalidated"], shown["compatibilityvalidated"]) == (False, False)
    body = {"format": "numbers", "fileurl": "http://127.0.0.1:9/x"}
    shown = ask(made, "put", f"{FILE}/versions/1$details", body)
    assert [shown[name] for name in reasons] == ["Data stored externally"] * 2
    # A later version cannot be compared with one that nobody looked at.
    shown = version(made, "v2", "1")
    assert (shown["formatvalidated"], shown["compatibilityvalidated"]) == (True, False)
    assert "Version 1 cannot be compared" in shown["compatibilityvalidatedreason"]
