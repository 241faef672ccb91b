from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli import main


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
