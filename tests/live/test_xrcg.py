"""xrcg, a code generator of other makers, reads a catalog from our server (version 0.11).

The address to give it is that of a message group: it finds the schemas that the messages name by
itself, with requests of its own. Its schema for whole documents refuses a resource that has both
`versions` and `versionsurl`, which the specification allows, so it is not given `/export`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.served import serving
from tests.conftest import ROOT

DEFINED = re.compile(r"^ *((?:class|def) .*)$", re.MULTILINE)
HOME = ROOT / "build" / "xrcg"
EXAMPLES = ("payments-avro", "bookings-json-schema")
SAMPLES = ("lightbulb-avro", "contoso-erp-jsons07", "vacuumcleaner-avro")


@pytest.fixture(scope="module")
def xrcg() -> Path:
    """The program, of the version that is locked."""
    lock, installed = ROOT / "requirements/xrcg.txt", HOME / "lock.txt"
    if not installed.exists() or installed.read_bytes() != lock.read_bytes():
        pytest.skip("xrcg is not installed: scripts/install-xrcg")
    return HOME / "bin" / "xrcg"


def run(xrcg: Path, home: Path, *arguments: str) -> str:
    environment = {**os.environ, "HOME": str(home)}
    command = [str(xrcg), *arguments]
    done = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def generated(xrcg: Path, home: Path, output: str, source: str, group: str) -> dict[str, list[str]]:
    """What every generated file defines, with parameters; values of examples are random."""
    language = ("--projectname", "Sample", "--language", "py", "--style", "producer")
    chosen = ("--messagegroup", group, "--output", output)
    said = run(xrcg, home, "generate", *language, *chosen, "--definitions", source)
    assert "ERROR" not in said
    folder = home / output
    return {
        str(file.relative_to(folder)): sorted(DEFINED.findall(file.read_text("utf-8")))
        for file in folder.rglob("*.py")
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_xrcg_validates_and_generates_from_our_server(
    name: str, xrcg: Path, examples: Path, tmp_path: Path
) -> None:
    file = examples / "formats" / f"{name}.xreg.json"
    ((group, content),) = json.loads(file.read_text("utf-8"))["messagegroups"].items()
    with serving(tmp_path, "--import", str(file)) as served:
        address = f"{served.url}/messagegroups/{group}"
        assert f"{address} is valid" in run(xrcg, tmp_path, "validate", "--definitions", address)
        found = generated(xrcg, tmp_path, "from-server", address, group)
    (producer,) = (lines for name, lines in found.items() if name.endswith("producer_client.py"))
    for message in content["messages"]:
        assert any(message.replace(".", "_").lower() in line for line in producer)
    assert any(line.startswith("class ") for lines in found.values() for line in lines)


@pytest.mark.parametrize("name", SAMPLES)
def test_xrcg_generates_the_same_from_our_server_as_from_the_file(
    name: str, xrcg: Path, reference: Path, tmp_path: Path
) -> None:
    file = reference / "catalogs/xregistry-samples" / f"{name}.xreg.json"
    group = next(iter(json.loads(file.read_text("utf-8"))["messagegroups"]))
    with serving(tmp_path, "--import", str(file)) as served:
        address = f"{served.url}/messagegroups/{group}"
        assert f"{address} is valid" in run(xrcg, tmp_path, "validate", "--definitions", address)
        found = generated(xrcg, tmp_path, "from-server", address, group)
    assert found == generated(xrcg, tmp_path, "from-file", str(file), group)
    assert len(found) > 5
