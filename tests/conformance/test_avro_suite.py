"""Avro's own test material: canonical forms, fingerprints, schemas, data and compatibility."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import unittest
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import avro.compatibility
import fastavro
import pytest

from heraldry.errors import SchemaError
from heraldry.schemas.avro.canonical import canonical_form, fingerprint
from heraldry.schemas.avro.schema import AvroSchema
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import compile as compile_schema
from tests.conftest import suite

ROOT = suite("avro")
DATA = ROOT / "share" / "test" / "data"
SCHEMAS = ROOT / "share" / "test" / "schemas"
PYTHON = ROOT / "lang" / "py" / "avro" / "test"

# A file that fastavro does not open, for metadata that is no text.
UNREADABLE = ("syncInMeta",)
# Schemas that the suite of avro for Python calls valid, and why they are refused here.
REFUSED: dict[str, str] = {}
# Schemas that it calls invalid, and why they are taken here.
TAKEN: dict[str, str] = {}


def _compiled(document: Any) -> AvroSchema:
    schema = compile_schema("Avro/1.12", document)
    assert isinstance(schema, AvroSchema)
    return schema


def _canonical_cases() -> list[Any]:
    """Each case by its parts: a part is on one line, or on those up to its own name."""
    cases: dict[str, dict[str, str]] = {}
    number = name = ""
    for line in (DATA / "schema-tests.txt").read_text("utf-8").splitlines():
        if found := re.fullmatch(r"// (\d+)", line):
            number, name = found.group(1), ""
            cases[number] = {}
        elif found := re.fullmatch(r"<<(\w+)\s*(.*)", line):
            name = found.group(1)
            cases[number][name] = found.group(2)
        elif line == name:
            name = ""
        elif name and number:
            cases[number][name] += f"\n{line}"
    return [pytest.param(parts, id=number) for number, parts in cases.items()]


def _field(parts: dict[str, str], name: str) -> str | None:
    return parts[name].strip() if name in parts else None


@pytest.mark.parametrize("parts", _canonical_cases())
def test_canonical_form_and_fingerprint(parts: dict[str, str]) -> None:
    schema = _compiled(_field(parts, "INPUT")).schema
    expected = _field(parts, "canonical")
    assert canonical_form(schema).decode() == expected
    number = _field(parts, "fingerprint")
    if number is not None:
        assert int.from_bytes(fingerprint(schema), "little", signed=True) == int(number)


@pytest.mark.parametrize("path", [pytest.param(p, id=p.name) for p in SCHEMAS.glob("*.avsc")])
def test_a_schema_compiles(path: Path) -> None:
    schema = _compiled(path.read_bytes())
    assert schema.columns


@pytest.mark.parametrize("path", [pytest.param(p, id=p.name) for p in SCHEMAS.glob("*.avpr")])
def test_the_types_of_a_protocol_compile(path: Path) -> None:
    protocol = json.loads(path.read_bytes())
    space = protocol.get("namespace", "")
    types = [{"namespace": space, **one} for one in protocol["types"]]
    assert _compiled(types).columns


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=str(path.relative_to(DATA)))
        for path in sorted(DATA.rglob("*.avro"))
        if not any(name in path.name for name in UNREADABLE)
    ],
)
def test_the_records_of_a_file_decode(path: Path) -> None:
    with path.open("rb") as stream:
        expected = list(fastavro.reader(stream))
    found = []
    with path.open("rb") as stream:
        blocks = fastavro.block_reader(stream)
        assert blocks.writer_schema is not None
        plain = json.loads(json.dumps(blocks.writer_schema, default=str))
        schema = _compiled({"type": "array", "items": _without_hints(plain)})
        for block in blocks:
            # The records of a block stand behind one another, as the items of a list do.
            data: Any = block
            payload = _long(data.num_records) + data.bytes_.getvalue() + b"\x00"
            found += schema.decode(payload, "avro/binary")
    assert found == expected
    assert found


def _without_hints(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_hints(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_hints(v) for key, v in value.items() if not key.startswith("__")}


def _long(number: int) -> bytes:
    number *= 2
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def test_weather_is_the_same_in_json() -> None:
    schema = _compiled((SCHEMAS / "weather.avsc").read_bytes())
    lines = (DATA / "weather.json").read_bytes().splitlines()
    with (DATA / "weather.avro").open("rb") as stream:
        expected = list(fastavro.reader(stream))
    assert [schema.decode(line, "avro/json") for line in lines] == expected


def test_the_message_in_single_object_encoding_decodes() -> None:
    folder = DATA / "messageV1"
    schema = _compiled((folder / "test_schema.avsc").read_bytes())
    payload = (folder / "test_message.bin").read_bytes()
    value = schema.decode(payload)
    text = (folder / "README.md").read_text("utf-8")
    expected = json.loads(text.split("```")[3])
    assert value == expected
    assert schema.encode(value, "avro/single-object") == payload


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"avro_suite_{name}", PYTHON / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def test_the_schemas_of_the_python_suite_are_judged_alike() -> None:
    examples = _module("test_schema").EXAMPLES
    wrong = []
    for example in examples:
        try:
            compile_schema("Avro/1.12", example.data)
            taken = True
        except SchemaError:
            taken = False
        known = REFUSED if example.valid else TAKEN
        if (taken is not example.valid) is not (example.data in known):
            wrong.append((example.valid, example.data))
    assert len(examples) > 90
    assert wrong == []


def test_the_verdicts_of_the_python_suite_are_ours() -> None:
    module = _module("test_compatibility")
    pairs: list[tuple[Any, Any, bool]] = []

    class Recording(avro.compatibility.ReaderWriterCompatibilityChecker):
        depth = 0

        def get_compatibility(self, *arguments: Any, **named: Any) -> Any:
            self.depth += 1
            found = super().get_compatibility(*arguments, **named)
            self.depth -= 1
            if not self.depth:
                kind = avro.compatibility.SchemaCompatibilityType.compatible
                pairs.append((*arguments[:2], found.compatibility is kind))
            return found

    module.ReaderWriterCompatibilityChecker = Recording  # type: ignore[attr-defined]
    tests = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    tests.run(result)
    assert not result.errors
    wrong = []
    for reader, writer, expected in pairs:
        new, old = (_compiled(str(one)) for one in (reader, writer))
        if (compare([("1", old)], new, "backward").verdict == "compatible") is not expected:
            wrong.append((str(reader), str(writer)))
    assert len(pairs) > 100
    # Bytes that are read as text may not be UTF-8: that is undecided.
    assert all("bytes" in writer and "string" in reader for reader, writer in wrong)
    assert len(wrong) == 2
