"""The rules on message definitions of seeds 001 and 002, M1 to M69, each under its name."""

from __future__ import annotations

import re

import pytest

from heraldry.model.rules import check
from tests.conformance import rules_of_documents, rules_of_messages
from tests.conformance.broken_definitions import BROKEN, Case, M
from tests.conformance.broken_options import BROKEN_OPTIONS
from tests.conformance.named_rules import CASES, SCHEMAS, Test
from tests.model.catalogs import FILE, catalog

BY_NAME = (rules_of_documents, rules_of_messages)
"""Where the cases are whose rules need more than one look at a catalog."""

STATIC: dict[str, Case] = {**BROKEN, **BROKEN_OPTIONS}


def number(name: str) -> int:
    found = re.match(r"M(\d+) ", name)
    assert found, name
    return int(found[1])


@pytest.mark.parametrize(
    "case", [pytest.param(STATIC[name], id=name) for name in sorted(STATIC, key=number)]
)
def test_a_broken_definition_is_told(case: Case) -> None:
    message, *expected = case
    findings = check(catalog({"m": message}, SCHEMAS))
    assert [(f.location.removeprefix(M), f.rule, f.severity) for f in findings] == expected
    assert all(f.file == FILE and f.message and f.advice for f in findings)


@pytest.mark.parametrize(
    "case", [pytest.param(CASES[name], id=name) for name in sorted(CASES, key=number)]
)
def test_the_rule_holds(case: Test) -> None:
    case()


def test_every_rule_has_a_case() -> None:
    assert {number(name) for name in (*STATIC, *CASES)} == set(range(1, 70))
