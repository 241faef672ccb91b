"""Confluent's public Protobuf diff vectors: the same verdict, or a reason why not.

Their ``compatible`` is about readers of the new version, by a set of allowed changes.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.compatibility import compare
from heraldry.schemas.source import Reference
from tests.conftest import suite

VECTORS = (
    suite("schema-registry") / "protobuf-provider/src/test/resources/diff-schema-examples.json"
)

# By description and changes: what we say, and why.
DIFFERENCES = {
    ("Detect removed required field", "REQUIRED_FIELD_REMOVED #/TestMessage/2"): (
        "compatible",
        "new readers skip the field; it is old readers who refuse new messages (forward)",
    ),
    ("Detect changed field number", "FIELD_REMOVED #/TestMessage/1"): (
        "incompatible",
        "the value of a field that both versions have is lost",
    ),
    ("Detect incompatible field type change", "MESSAGE_REMOVED #/TestMessage2"): (
        "compatible",
        "the type has another name and the same fields; its name is not part of messages",
    ),
    (
        "Detect incompatible field label change for number",
        "FIELD_NUMERIC_LABEL_CHANGED #/TestMessage/1",
    ): (
        "compatible",
        "readers of a list take single numbers too; it is old readers who miss lists (forward)",
    ),
    ("Detect moving to import", "MESSAGE_REMOVED #/GoogleHome"): (
        "compatible",
        "the message is the same in the document that is imported",
    ),
}


def _vectors() -> list[Any]:
    if not VECTORS.is_file():
        pytest.skip(f"no vectors at {VECTORS}", allow_module_level=True)
    vectors: list[Any] = json.loads(VECTORS.read_text())
    return vectors


def _compiled(vector: Any, side: str) -> Any:
    text = vector[f"{side}_schema"]
    names = re.findall(r"^message (\w+)", text, re.MULTILINE)
    link = "TestMessage" if "TestMessage" in names else names[0]
    references = tuple(
        Reference(one["name"], one["dependency"].encode())
        for one in vector.get(f"{side}_dependencies", ())
    )
    return formats.compile("Protobuf", text, link, references=references)


def test_nine_of_ten_verdicts_are_the_same_and_each_difference_is_known():
    vectors, same, met = _vectors(), 0, set()
    for vector in vectors:
        old, new = (_compiled(vector, side) for side in ("original", "update"))
        verdict = compare([("1", old)], new, "backward").verdict
        if verdict == ("compatible" if vector["compatible"] else "incompatible"):
            same += 1
            continue
        key = vector["description"], vector["changes"][0]
        assert DIFFERENCES.get(key, ("",))[0] == verdict, (key, verdict)
        met.add(key)
    print(f"{same} of {len(vectors)} verdicts are the same")  # noqa: T201
    assert same >= 0.9 * len(vectors)
    assert met == set(DIFFERENCES)
