"""`heraldry unlock`: the way back into a registry, while a server runs on it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.served import serving

LOCK = json.dumps({"available": {"entities": {"mutable": False}}})


def unlock(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, as its owner calls it."""
    command = [sys.executable, "-m", "heraldry", "unlock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_locked_registry_is_unlocked_beside_its_server(
    durable_address: str, tmp_path: Path
) -> None:
    database = durable_address
    with serving(tmp_path, "--db", database) as served:
        refused = served.run("update", "capabilities", "-d", LOCK)
        assert refused.exit_code == 1
        assert "?confirm=immutable" in refused.output
        served.ok("create", "endpoints/first", "-d", '{"usage": ["producer"]}')
        served.ok("update", "capabilities", "-d", LOCK, "--confirm", "immutable")
        assert served.run("delete", "endpoints/first").exit_code == 1
        assert unlock("--db", database).stdout == "changed available\n"
        served.ok("delete", "endpoints/first")
    again = unlock("--db", database, "--format", "json")
    assert json.loads(again.stdout) == {"changed": []}
    assert unlock("--db", database).stdout == "nothing was locked\n"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    result = unlock("--db", f"sqlite:{file}")
    assert result.returncode == 2
    assert "does not exist" in result.stderr
    assert not file.exists()


def test_a_database_without_a_registry_stays_so(durable_address: str) -> None:
    if durable_address.startswith("sqlite:"):
        Path(durable_address.removeprefix("sqlite:").partition("?")[0]).touch()
    for _ in range(2):
        result = unlock("--db", durable_address)
        assert result.returncode == 2
        assert "it holds no registry" in result.stderr
