from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli import main
from tests.pipeline.test_replay import SECOND
from tests.pipeline.watching.warehouses import Warehouse


@pytest.mark.parametrize(
    ("command", "table"),
    [
        pytest.param("tables", "db/group/message", id="tables"),
        pytest.param("dead-letters", "_dead_letters", id="dead-letters"),
    ],
)
def test_a_broken_table_is_named_in_one_line(command: str, table: str, tmp_path: Path) -> None:
    log = tmp_path / table / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("garbage")
    result = CliRunner().invoke(main, [command, "--warehouse", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"heraldry: {tmp_path / table}: the Delta table cannot be read")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "place", ["above", "above/lake/default", "empty", "above/file", "nowhere"], ids=str
)
@pytest.mark.parametrize("command", ["tables", "status", "maintain", "dead-letters", "replay"])
def test_what_is_no_warehouse_is_none_for_any_command(
    command: str, place: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    Warehouse(tmp_path / "above")
    (tmp_path / "above" / "file").write_text("x")
    (tmp_path / "catalog.json").write_bytes(SECOND)
    before = sorted(tmp_path.rglob("*"))
    more = ["--catalog", str(tmp_path / "catalog.json")] if command == "replay" else []
    result = CliRunner().invoke(main, [command, *more, "--warehouse", str(tmp_path / place)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"heraldry: {tmp_path / place}: there is no such warehouse (land something there first)\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", ["status", "maintain"])
def test_a_checkpoint_that_is_not_there(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, other = Warehouse(tmp_path), tmp_path / "other"
    start = [command, "--warehouse", lake.path]
    result = CliRunner().invoke(main, [*start, "--checkpoint", str(other)])
    assert (result.exit_code, result.stdout) == (2, "")
    told = f"heraldry: {other}: there is no such checkpoint (name that of a job)\n"
    assert result.stderr == told
    assert not other.exists()
    monkeypatch.setenv("HERALDRY_CHECKPOINT", str(other))
    assert CliRunner().invoke(main, start).exit_code == 0
    monkeypatch.delenv("HERALDRY_CHECKPOINT")
    shutil.copytree(lake.ledger.storage.url, other)
    assert CliRunner().invoke(main, [*start, "--checkpoint", str(other)]).exit_code == 0
