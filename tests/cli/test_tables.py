from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.letters import history
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


GONE = (
    "dead-letters _dead_letters",
    "dead-letters --rows _dead_letters",
    "dead-letters --rows --newest _dead_letters",
    "dead-letters --where rule=x _dead_letters",
    "status _dead_letters",
    "status _batches",
    "replay _dead_letters",
    "dead-letters _replays",
    "tables --rows 1 default/orders/order.placed",
)


@pytest.mark.parametrize("case", GONE)
def test_a_file_of_a_table_that_is_gone_is_named(case: str, tmp_path: Path) -> None:
    lake = Warehouse(tmp_path)
    lake.land(lake.manifest(0, dead=1))
    lake.letters(["r"])
    add_replays(lake)
    (tmp_path / "catalog.json").write_bytes(SECOND)
    *command, table = case.split()
    if command == ["replay"]:
        command += ["--catalog", str(tmp_path / "catalog.json")]
    (gone,) = (Path(lake.path) / table).glob("*.parquet")
    gone.unlink()
    result = CliRunner().invoke(main, [*command, "--warehouse", lake.path])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == (
        f"heraldry: {gone}: is gone, though its table names it"
        " (put it back, or give up its rows: DeltaTable.repair() of deltalake)"
    )
    assert "Traceback" not in result.stderr


def add_replays(lake: Warehouse) -> None:
    written = pa.Table.from_pylist([{"letter": "x", "replay": 1}], schema=history.SCHEMA)
    delta.create_table(lake.storage, history.REPLAYS, history.SCHEMA, history.CONFIGURATION)
    files = ParquetWriter(lake.storage, 0).write(history.REPLAYS, written)
    table = delta.open_table(lake.storage, history.REPLAYS)
    assert table is not None
    delta.commit_files(table, files, "replays", 0)


def test_rows_are_shown_with_numbers_that_json_lacks_and_maps_as_objects(tmp_path: Path) -> None:
    storage, path = Storage.open(str(tmp_path)), "d/g/m"
    nan, more, less = float("nan"), float("inf"), float("-inf")
    kind = pa.map_(pa.string(), pa.float64())
    rows = pa.table(
        {
            "a": [nan],
            "b": [more],
            "c": [less],
            "d": pa.array([None], pa.float64()),
            "e": [{"x": nan, "y": [more, None, 1.5]}],
            "f": pa.array([[("k", nan), ("l", 2.0), ("m", None)]], kind),
            "g": pa.array([[[("k", 1.0)]]], pa.list_(kind)),
        }
    )
    told = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}
    table = delta.create_table(storage, path, rows.schema, told)
    delta.commit_files(table, ParquetWriter(storage, 0).write(path, rows), "job", 0)
    command = ["tables", "--rows", "1", "--warehouse", str(tmp_path)]
    text = " ".join(CliRunner().invoke(main, command).stdout.split())
    assert (
        'row 1: a=NaN b=Infinity c=-Infinity e={"x":"NaN","y":["Infinity",null,1.5]}'
        ' f={"k":"NaN","l":2.0,"m":null} g=[{"k":1.0}]'
    ) in text
    (found,) = json.loads(CliRunner().invoke(main, [*command, "-o", "json"]).stdout)
    assert found["sample"] == [
        {
            "a": "NaN",
            "b": "Infinity",
            "c": "-Infinity",
            "d": None,
            "e": {"x": "NaN", "y": ["Infinity", None, 1.5]},
            "f": {"k": "NaN", "l": 2.0, "m": None},
            "g": [{"k": 1.0}],
        }
    ]


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
