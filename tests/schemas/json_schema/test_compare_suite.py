"""The schemas of the official test suite as versions of one another, its data as messages."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas import formats
from heraldry.schemas.formats import changes
from heraldry.schemas.payload_schema import PayloadSchema
from tests.conftest import suite

FOLDER = suite("JSON-Schema-Test-Suite") / "tests"
DRAFTS = {
    "draft4": "JsonSchema/draft-04",
    "draft6": "JsonSchema/draft-06",
    "draft7": "JsonSchema/draft-07",
    "draft2019-09": "JsonSchema/draft/2019-09",
    "draft2020-12": "JsonSchema/draft/2020-12",
}


def compiled(draft: str, groups: list[dict[str, Any]]) -> list[PayloadSchema]:
    found = []
    for group in groups:
        try:
            found.append(formats.compile(DRAFTS[draft], group["schema"]))
        except SchemaError:
            continue  # what does not compile has no messages
    return found


@pytest.mark.parametrize("draft", DRAFTS)
def test_neighbours_are_never_wrongly_compatible(draft: str) -> None:
    decided = total = 0
    for path in sorted(Path(FOLDER, draft).glob("*.json")):
        groups = json.loads(path.read_text(encoding="utf-8"))
        values = [test["data"] for group in groups for test in group["tests"]]
        for old, new in pairwise(compiled(draft, groups)):
            told = changes(old, new)
            for direction, writer, reader in (("backward", old, new), ("forward", new, old)):
                effects = {getattr(change, direction) for change in told}
                total += 1
                decided += "undecided" not in effects or "breaking" in effects
                if effects <= {"safe"}:
                    bad = [v for v in values if writer.is_valid(v) and not reader.is_valid(v)]
                    assert not bad, (path.name, direction, old.source.content, new.source.content)
    assert decided / total > 0.9
