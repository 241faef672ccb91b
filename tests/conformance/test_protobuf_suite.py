"""The ``.proto`` files of the protobuf repository: each compiles, or is refused for a reason.

Every message type of a file gives columns, and a sample of it survives the wire.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas import formats
from heraldry.schemas.protobuf.protoc import WELL_KNOWN
from heraldry.schemas.protobuf.references import references
from heraldry.schemas.source import Reference
from tests.conftest import suite

ROOT = suite("protobuf")
ROOTS = (
    ROOT / "src",
    ROOT,
    ROOT / "python",
    ROOT / "java/core/src/test/proto",
    ROOT / "csharp/protos",
    ROOT / "php/tests",
    ROOT / "src/google/protobuf/compiler/ruby",
)
FOLDERS = (
    "src/google/protobuf",
    "editions/golden",
    "editions/codegen_tests",
    "conformance",
    "python/google/protobuf/internal",
    "java/core/src/test/proto/com/google/protobuf",
    "csharp/protos",
    "php/tests/proto",
    "upb/test",
    "benchmarks",
)
# Part of the words of the refusal, and why it is right or must be.
REFUSED = {
    "edition UNSTABLE": "no released compiler takes it",
    "go_features.proto": "the import is not in the repository",
    "proto1_features.proto": "the import is not in the repository",
    "java_mutable_features.proto": "the import is not in the repository",
    'Option "go_api_flag" unknown': "an option that the public descriptor.proto does not have",
    'Option "java_api_version" unknown': "an option that the public descriptor.proto does not have",
    "Proto2Optional": "the compiler refuses it by itself: the package was renamed on publishing",
    "duplicate json_name": "the runtime (upb) refuses two fields that swap their JSON names",
}
SAMPLED = 4


def _files() -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.proto"))


def _gathered(content: bytes) -> tuple[Reference, ...]:
    found: dict[str, bytes] = {}
    waiting = [content]
    while waiting:
        for name in references(waiting.pop()):
            if name in found or name in WELL_KNOWN:
                continue
            file = next((root / name for root in ROOTS if (root / name).is_file()), None)
            if file is not None:
                found[name] = file.read_bytes()
                waiting.append(found[name])
    return tuple(Reference(name, text) for name, text in found.items())


def _messages(content: bytes, needed: tuple[Reference, ...]) -> list[str]:
    """The links to some messages of a document; SchemaError where it does not compile."""
    try:
        formats.compile("Protobuf", content, references=needed)
    except SchemaError as error:
        if error.reason == "the document has no message":
            return []
        if "a link must name one of " not in error.reason:
            raise
        listed = error.reason.partition("name one of ")[2].partition(" and ")[0]
        return listed.split(", ")[:SAMPLED]
    return [""]


@pytest.mark.slow
def test_the_files_of_the_repository_compile():
    told: Counter[str] = Counter()
    unexplained = []
    for file in _files():
        content = file.read_bytes()
        needed = _gathered(content)
        try:
            links = _messages(content, needed)
        except SchemaError as error:
            reason = next((known for known in REFUSED if known in str(error)), None)
            told[reason or "unexplained"] += 1
            if reason is None:
                unexplained.append(f"{file.relative_to(ROOT)}: {error}")
            continue
        told["compiled"] += 1
        for link in links:
            schema = formats.compile("Protobuf", content, link, references=needed)
            try:
                value = schema.sample(Random(1), {})
            except SchemaError:
                told["messages that require themselves"] += 1
                continue
            assert schema.decode(schema.encode(value)) == value, (file, link)
            assert isinstance(schema.to_row(value), dict), (file, link)
            told["messages sampled"] += 1
    print(dict(told))  # noqa: T201
    assert not unexplained, "\n".join(unexplained)
    assert set(REFUSED) <= set(told)
    assert told["messages that require themselves"] == 1
    assert told["compiled"] >= 0.9 * len(_files())
