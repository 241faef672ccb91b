"""The demo from end to end: what its last lines promise, and what it leaves behind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main
from heraldry.cli.demo import CATALOG, Place, example_catalog, prepare
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def numbers(pattern: str, line: str) -> list[int]:
    """The numbers of a line, which stand where the pattern has ``#``."""
    found = re.fullmatch(pattern.replace("#", r"([\d,]+)"), line)
    assert found, line
    return [int(number.replace(",", "")) for number in found.groups()]


def test_the_demo_ends_with_the_balance_and_starts_afresh(
    spark: SparkSession, tmp_path: Path
) -> None:
    del spark
    folder = str(tmp_path / "demo")
    result = run("demo", "--to", folder, "--messages", "3000", "--seed", "4")
    balance, mended, replay = result.stdout.splitlines()[-3:]
    read, landed, dead = numbers(r"# in = # landed \+ # dead letters", balance)
    assert (read, landed + dead) == (3000, 3000)
    assert dead > 40
    assert mended.startswith("Mended ")
    told = r"Replay +# letters? of checkedin = # landed \+ # refused again"
    selected, replayed, refused = numbers(told, replay)
    assert selected == replayed + refused
    assert replayed > 0
    assert max(map(len, result.stdout.splitlines()[2:])) <= 80

    tables = json.loads(run("tables", "--warehouse", folder, "-o", "json").stdout)
    assert [table["table"] for table in tables] == [
        "airport.belts.jam",
        "airport.belts.reading",
        "airport.luggage.checkedin",
        "airport.luggage.delivered",
        "airport.luggage.loaded",
        "airport.luggage.unloaded",
        "airport.luggage-mqtt.loaded",
    ]
    assert sum(table["rows"] for table in tables) == landed + replayed
    groups = json.loads(run("dead-letters", "--warehouse", folder, "-o", "json").stdout)
    assert sum(group["count"] for group in groups) == dead - replayed
    assert {group["stage"] for group in groups} == {"decode", "match", "validate", "land"}
    letters = json.loads(run("dead-letters", "--warehouse", folder, "--rows", "-o", "json").stdout)
    assert len(letters) == dead - replayed

    again = run("demo", "--to", folder, "--messages", "500", "-o", "json")
    report = json.loads(again.stdout)
    assert (report["read"], report["landed"] + report["dead"]) == (500, 500)
    assert sum(table["rows"] for table in report["tables"]) == report["landed"]

    more = json.loads(
        run("demo", "--to", folder, "--messages", "400", "--keep", "-o", "json").stdout
    )
    assert more["read"] == 400
    rows = sum(table["rows"] for table in more["tables"])
    assert rows == report["landed"] + report["replay"]["landed"] + more["landed"]


def test_a_folder_that_is_not_a_demo_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    result = CliRunner().invoke(main, ["demo", "--to", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (2, "")
    told = (
        f"heraldry: {tmp_path} holds something that is not a demo: name another folder with --to\n"
    )
    assert result.stderr == told
    assert (tmp_path / "precious").read_text() == "mine"


def test_keep_leaves_what_is_there(tmp_path: Path) -> None:
    place = Place(warehouse=tmp_path)
    prepare(place, keep=False)
    (tmp_path / "table").touch()
    prepare(place, keep=True)
    assert (tmp_path / "table").exists()
    prepare(place, keep=False)
    assert not (tmp_path / "table").exists()
    place.marker.unlink()
    with pytest.raises(UsageError, match="not a demo"):
        prepare(place, keep=False)


def test_the_catalog_is_the_example(examples: Path) -> None:
    assert example_catalog() == (examples / "airport" / CATALOG).read_bytes()
