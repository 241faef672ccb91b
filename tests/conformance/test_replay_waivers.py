"""Each waiver has its form, a code that the documentation explains, and a sentence of rc4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.replay_waivers import checkout, waivers
from tests.conftest import ROOT

KEYS = {
    "must": {"file", "sentence"},
    "ability": {"ability"},
    "harness": {"step", "cause"},
}
TABLES = {
    "must": "| code | theirs | ours, by the sentence |",
    "ability": "| code | ability |",
    "harness": "| code | cause |",
}
FURTHER = "| further code | theirs | ours, by the sentence |"
MOST_OF_THE_HARNESS = 6


def named(*kinds: str) -> list[Any]:
    return [pytest.param(one, id=one["function"]) for one in waivers() if one["kind"] in kinds]


@pytest.mark.parametrize("waiver", named(*KEYS))
def test_a_waiver_says_what_its_kind_needs(waiver: dict[str, Any]) -> None:
    assert waiver.keys() == {"function", "code", "kind", *KEYS[waiver["kind"]]}
    assert all(waiver.values())


def test_every_function_has_one_waiver_of_a_known_kind() -> None:
    functions = [waiver["function"] for waiver in waivers()]
    assert sorted(functions) == sorted(set(functions))
    assert {waiver["kind"] for waiver in waivers()} <= KEYS.keys()


def test_few_waivers_are_about_the_harness() -> None:
    assert len(named("harness")) <= MOST_OF_THE_HARNESS


def codes_of_tables() -> dict[str, list[str]]:
    """The codes in each table of the page that has them, by the heads of its columns."""
    page = (ROOT / "docs/explain/conformance.md").read_text(encoding="utf-8")
    tables = [block.splitlines() for block in page.split("\n\n") if block.startswith("| ")]
    return {head: [row.split("|")[1].strip() for row in rows] for head, _, *rows in tables}


@pytest.mark.parametrize("kind", KEYS)
def test_the_documentation_explains_the_codes_of_waivers_and_no_others(kind: str) -> None:
    codes = codes_of_tables()[TABLES[kind]]
    assert len(codes) == len(set(codes))
    assert set(codes) == {waiver["code"] for waiver in waivers() if waiver["kind"] == kind}


def test_further_differences_have_no_waiver() -> None:
    further = codes_of_tables()[FURTHER]
    assert further
    assert not {waiver["code"] for waiver in waivers()} & set(further)


@pytest.fixture(scope="module")
def specification() -> Path:
    """A checkout of the specification, of the generation that is quoted."""
    folder = checkout("spec")
    first = (folder / "core/spec.md").read_text(encoding="utf-8").partition("\n")[0]
    if "1.0-rc4" not in first:
        pytest.skip(f"{folder} is not at the tag v1.0-rc4: {first}")
    return folder


@pytest.mark.parametrize("waiver", named("must"))
def test_the_specification_has_the_sentence(waiver: dict[str, Any], specification: Path) -> None:
    text = (specification / waiver["file"]).read_text(encoding="utf-8")
    assert waiver["sentence"] in text
    assert "MUST" in waiver["sentence"]
