"""The URI Template test suite, as far as level 1 goes: what expands, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from heraldry.errors import TemplateError
from heraldry.messages.template import Template

LEVEL_1 = re.compile(r"(?:[^{}]|\{[A-Za-z0-9_]+\})*")
FILES = ("spec-examples", "extended-tests")
LITERALS_STAY = ("café/{var}",)
"""Where the suite encodes a literal: in a topic, a subject or a header it would be another one."""


def _groups(reference: Path, name: str) -> dict[str, Any]:
    folder = reference / "tck" / "uritemplate"
    if not folder.is_dir():
        pytest.skip(f"no URI Template test suite at {folder}")
    groups: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return groups


def _cases(reference: Path, name: str) -> list[tuple[str, dict[str, Any], Any]]:
    return [
        (template, group["variables"], expected)
        for group in _groups(reference, name).values()
        for template, expected in group["testcases"]
    ]


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        pytest.param("spec-examples", 3, id="spec-examples"),
        pytest.param("extended-tests", 6, id="extended-tests"),
    ],
)
def test_level_1_expands(reference: Path, name: str, cases: int) -> None:
    tried = 0
    for template, variables, expected in _cases(reference, name):
        wanted = re.findall(r"\{(\w+)\}", template)
        is_text = all(isinstance(variables.get(one), str) for one in wanted)  # lists are level 4
        if LEVEL_1.fullmatch(template) and wanted and is_text and template not in LITERALS_STAY:
            texts = {one: variables[one] for one in wanted}
            assert Template.parse(template).expand(texts) == expected, template
            tried += 1
    assert tried == cases


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in FILES])
def test_other_levels_are_refused(reference: Path, name: str) -> None:
    tried = 0
    for template, _, _ in _cases(reference, name):
        if LEVEL_1.fullmatch(template) is None:
            with pytest.raises(TemplateError):
                Template.parse(template)
            tried += 1
    assert tried > 20


def test_literals_stay_as_they_are() -> None:
    for template in LITERALS_STAY:
        text = Template.parse(template).expand({"var": "value"})
        assert text == template.replace("{var}", "value")
        assert Template.parse(template).match(text) == {"var": "value"}


def test_failures_are_refused(reference: Path) -> None:
    tried = 0
    for template, _, expected in _cases(reference, "negative-tests"):
        if expected is False and LEVEL_1.fullmatch(template) is None and "-" not in template:
            with pytest.raises(TemplateError):
                Template.parse(template)
            tried += 1
    assert tried > 15
