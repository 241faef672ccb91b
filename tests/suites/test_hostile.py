"""Attacks through schemas and payloads: each ends in a clear error, or in time; nothing is fetched.

The cases of a format are in its ``hostile`` module and run in a process of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas import formats
from tests.conftest import ROOT
from tests.suites.test_schemas import FORMATS

SECONDS = 1.0
MEGABYTES = 200


def cases() -> list[Any]:
    found = []
    for folder in FORMATS:
        module = import_module(f"tests.schemas.{folder}.hostile")
        names = [f"document-{case[0]}" for case in module.DOCUMENTS]
        names += [f"payload-{case[0]}" for case in module.PAYLOADS]
        assert len(names) == len(set(names)), folder
        found += [
            pytest.param(
                folder,
                name,
                id=f"{folder}-{name}",
                marks=pytest.mark.xdist_group(f"hostile-{folder}"),
            )
            for name in names
        ]
    return found


@cache
def results(folder: str) -> dict[str, dict[str, Any]]:
    """What the cases of a format did; the one that ended the process has no seconds."""
    command = [sys.executable, "-m", "tests.suites.hostile_cases", folder]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
        )
        lines, told = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        lines, told = str(error.stdout or b"", "utf-8") if error.stdout else "", "it took too long"
    found: dict[str, dict[str, Any]] = {}
    for line in lines.splitlines():
        one = json.loads(line)
        found[one["case"]] = {"told": told[-2000:]} | one
    return found


@pytest.mark.parametrize(("folder", "name"), cases())
def test_an_attack_ends_in_time(folder: str, name: str) -> None:
    result = results(folder).get(name)
    assert result is not None, f"never reached: {list(results(folder).values())[-1:]}"
    assert "seconds" in result, f"the process ended: {result['told']}"
    assert result["seconds"] < SECONDS, result
    assert result["mb"] < MEGABYTES, result


class _Counter(BaseHTTPRequestHandler):
    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        del format, args


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """An address that answers, and the paths that were asked for there."""
    asked: list[str] = []
    handler = type("Counter", (_Counter,), {"requests": asked})
    with HTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", asked
        listening.shutdown()
        thread.join()


XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
TYPES = {
    "json_schema": ("JSONSchema/2020-12", '{"type": "string"}'),
    "avro": ("Avro/1.12", '{"type": "fixed", "name": "F", "size": 2}'),
    "protobuf": ("Protobuf/3", 'syntax = "proto3"; message Other { string a = 1; }'),
    "xsd": ("XSD/1.0", f'<xs:schema {XS}><xs:complexType name="Other"/></xs:schema>'),
    "json_structure": (
        "JsonStructure/draft-02",
        '{"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "urn:x", "name": "Other",'
        ' "type": "string"}',
    ),
}
"""By format: its name, and a good document that another one may refer to."""
REFERRING = {
    "json_schema": [
        '{"$ref": "%s"}',
        '{"properties": {"a": {"$ref": "%s#/x"}}}',
    ],
    "avro": ['{"type": "record", "name": "R", "fields": [{"name": "a", "type": "%s"}]}'],
    "protobuf": ['syntax = "proto3"; import "%s"; message R { Other o = 1; }'],
    "xsd": [
        f'<xs:schema {XS}><xs:{how} schemaLocation="%s"/>'
        '<xs:element name="r" type="Other"/></xs:schema>'
        for how in ("include", "import", "redefine", "override")
    ]
    + [
        f'<!DOCTYPE s SYSTEM "%s"><xs:schema {XS}><xs:element name="r"/></xs:schema>',
        f'<!DOCTYPE s [<!ENTITY e SYSTEM "%s">]><xs:schema {XS}><xs:element name="r">&e;'
        "</xs:element></xs:schema>",
    ],
    "json_structure": [
        '{"$schema": "https://json-structure.org/meta/extended/v0/#", "$id": "urn:y", "name": "R",'
        ' "$uses": ["JSONStructureImport"], "type": "object", "properties": {"a": {"type":'
        ' {"$ref": "#/definitions/Other"}}}, "definitions": {"$import": "%s"}}',
        '{"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "urn:y", "name": "R",'
        ' "type": "object", "properties": {"a": {"type": {"$ref": "%s"}}}}',
    ],
}
"""By format: documents that name another one by its address."""
PAIRS = [
    pytest.param(folder, number, id=f"{folder}-{number}")
    for folder, documents in REFERRING.items()
    for number in range(len(documents))
]


@pytest.mark.parametrize(("folder", "number"), PAIRS)
def test_nothing_is_fetched_over_http(
    folder: str, number: int, server: tuple[str, list[str]]
) -> None:
    address, asked = server
    with pytest.raises(SchemaError) as caught:
        formats.compile(TYPES[folder][0], REFERRING[folder][number] % f"{address}/other")
    assert asked == []
    assert caught.value.reason


@pytest.mark.parametrize("scheme", ["file://", ""], ids=["address", "path"])
@pytest.mark.parametrize(("folder", "number"), PAIRS)
def test_no_file_is_opened(folder: str, number: int, scheme: str, tmp_path: Path) -> None:
    """The file is there and fits, so a schema that compiled would have read it."""
    format_, content = TYPES[folder]
    file = tmp_path / "other"
    file.write_text(content)
    with pytest.raises(SchemaError):
        formats.compile(format_, REFERRING[folder][number] % f"{scheme}{file}")


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest/meta-data/",
        "https://metadata.google.internal/computeMetadata/v1/",
        "ftp://127.0.0.1/x",
        "jar:file:///x.jar!/y",
        "file:///etc/passwd",
        "//127.0.0.1/x",
    ],
)
@pytest.mark.parametrize(("folder", "number"), PAIRS)
def test_addresses_are_refused_by_name(folder: str, number: int, address: str) -> None:
    with pytest.raises(SchemaError) as caught:
        formats.compile(TYPES[folder][0], REFERRING[folder][number] % address)
    assert caught.value.reason
