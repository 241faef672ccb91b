from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main
from heraldry.cli.landing import observed
from heraldry.dialects.load import load
from heraldry.messages.catalog import open as open_catalog
from heraldry.model.inherit import definitions
from heraldry.pipeline.watching.lineage import Lineage
from heraldry.pipeline.watching.metrics import MetricsServer
from tests.pipeline.watching.observing import info, total

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACED = "/messagegroups/orders/messages/placed"
EVENT = {
    "specversion": "1.0",
    "type": "com.example.orders.placed",
    "source": "/shops/lisbon",
    "id": "1",
    "subject": "4711",
    "time": "2026-06-01T04:00:00Z",
    "data": {"customer": "Inês", "total": 12.5},
}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(file: str, *messages: Any) -> None:
    path = Path(file)
    path.parent.mkdir(exist_ok=True)
    lines = [text if isinstance(text, str) else json.dumps(text) for text in messages]
    path.write_text("".join(f"{line}\n" for line in lines))


def test_land_tables_and_dead_letters(spark: SparkSession, here: Path, examples: Path) -> None:
    """One story, as each landing takes seconds: land, look, land again, look at the letters."""
    del spark
    wrong = EVENT | {"id": "2", "data": {"customer": "Liv", "total": "much"}}
    write("inbox/a.jsonl", EVENT, EVENT | {"id": "3", "subject": "5"}, wrong, "oops")
    # The JVM keeps the working directory it was started in: the source needs its whole path.
    source = f"files:{here / 'inbox'}"
    land = ("land", "--catalog", str(examples / "orders"), "--from", source, "--to", "lake")

    result = invoke(*land)
    assert result.exit_code == 0, result.output
    assert re.fullmatch(
        r"default\.orders\.placed  2  rows\n1 batch in \d+\.\d s into lake\n"
        r"4 in = 2 landed \+ 2 dead letters\n",
        result.stdout,
    ), result.stdout
    assert "batch 0: 4 in = 2 landed + 2 dead letters, " in result.stderr

    again = invoke(*land, "-o", "json")
    report = json.loads(again.stdout)
    assert report.pop("seconds") >= 0
    nothing = dict.fromkeys(("read", "landed", "dead", "repeated", "batches"), 0)
    assert report == nothing | {"reasons": {}, "nearest": {}, "warehouse": "lake"}

    _check_tables(here)
    _check_letters()


def _check_tables(here: Path) -> None:
    (table,) = json.loads(invoke("tables", "--warehouse", "lake", "-o", "json").stdout)
    columns = {column["name"]: column["type"] for column in table.pop("columns")}
    path = table.pop("path")
    assert (here / path).is_dir()
    assert table == {
        "definition": PLACED,
        "table": "default.orders.placed",
        "name": ["default", "orders", "placed"],
        "rows": 2,
        "partitions": [],
    }
    assert columns["total"] == "double"
    assert columns["items"] == "array<string>"
    assert columns["placedat"] == columns["ce_time"] == "timestamp"
    assert {"ce_id", "ctx_shop", "ctx_order", "_definition", "_batch"} <= set(columns)

    (sampled,) = json.loads(
        invoke("tables", "--warehouse", "lake", "--rows", "1", "-o", "json").stdout
    )
    assert len(sampled["sample"]) == 1
    text = invoke("tables", "--warehouse", "lake", "--rows", "1").stdout
    assert text.startswith(f"default.orders.placed  2 rows\n  {path}\n  {PLACED}\n")
    assert "customer=Inês  total=12.5" in " ".join(text.split(" "))
    assert text.endswith("\n2 rows in 1 table\n")


def _check_letters() -> None:
    groups = json.loads(invoke("dead-letters", "--warehouse", "lake", "-o", "json").stdout)
    assert [list(group) for group in groups] == [
        ["stage", "rule", "definition", "path", "message", "count", "first", "last"]
    ] * 2
    found = {(g["stage"], g["rule"], g["definition"], g["path"], g["count"]) for g in groups}
    assert found == {("decode", "json", None, "/", 1), ("validate", "type", PLACED, "/total", 1)}

    text = invoke("dead-letters", "--warehouse", "lake", "--rule", "type").stdout
    assert re.fullmatch(
        rf"1  validate  \[type\]  {PLACED}\n"
        r"   /total: is not of type number\n"
        r"   seen \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n"
        r"1 dead letter with 1 reason in lake\n",
        text,
    ), text
    rows = ("dead-letters", "--warehouse", "lake", "--rows")
    letters = json.loads(invoke(*rows, "--format", "json").stdout)
    assert {letter["stage"] for letter in letters} == {"decode", "validate"}
    (letter,) = json.loads(invoke(*rows, "--definition", PLACED, "-o", "json").stdout)
    assert json.loads(letter["line"])["data"] == {"customer": "Liv", "total": "much"}
    assert (letter["expected"], letter["found"]) == ("number", '"much"')
    assert len(json.loads(invoke(*rows, "1", "-o", "json").stdout)) == 1
    shown = invoke(*rows, "--rule", "json").stdout.splitlines()
    assert shown[0] == "decode  [json]"
    assert shown[-2:] == ["  oops", "1 dead letter"]


def test_only_must_be_in_the_catalog(here: Path, examples: Path) -> None:
    catalog = str(examples / "orders")
    xid = "/messagegroups/orders/messages/place"
    land = ("land", "--catalog", catalog, "--from", "files:inbox", "--to", "lake", "--only", xid)
    result = invoke(*land)
    assert (result.exit_code, result.stdout) == (2, "")
    told = f"heraldry: the catalog has no message definition {xid}; did you mean {PLACED}?\n"
    assert result.stderr == told
    assert not (here / "lake").exists()


def test_metrics_are_offered_where_it_is_said() -> None:
    options = {"metrics_port": 0, "metrics_host": "127.0.0.2", "lineage": None}
    with observed({**options, "log_format": "json"}) as (_, observers):
        (metrics,) = (one for one in observers if isinstance(one, MetricsServer))
        assert metrics.url.startswith("http://127.0.0.2:")
        with urlopen(f"{metrics.url}/healthz") as answer:
            assert answer.read() == b"starting\n"


@pytest.mark.parametrize("form", ["text", "json"])
def test_whoever_watches_is_told_where_metrics_are(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"metrics_port": 0, "metrics_host": None, "lineage": None, "log_format": form}
    with observed(options) as (_, observers):
        (metrics,) = (one for one in observers if isinstance(one, MetricsServer))
        told = capsys.readouterr().err
    if form == "json":
        note = json.loads(told)
        assert (note["level"], note["event"]) == ("info", "note")
        told = note["message"] + "\n"
    assert told == f"metrics at {metrics.url}\n"


def test_a_collector_that_takes_no_events_is_told_of_in_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = {"metrics_port": 0, "metrics_host": None, "log_format": "json"}
    with observed({**options, "lineage": "http://127.0.0.1:1"}) as (_, observers):
        (lineage,) = (one for one in observers if isinstance(one, Lineage))
        lineage.started(info())
        lineage.ended(info(), total(), None)
    notes = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {note["event"] for note in notes} == {"note"}
    assert [note["message"].split(":")[0] for note in notes[1:]] == ["lineage", "lineage"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        pytest.param(
            ["--interval", "5"],
            "--interval is for a job that streams: add --stream, or leave it out",
            id="interval",
        ),
        pytest.param(
            ["--master", "local[1]", "--remote", "sc://h:1"],
            "a job runs by --master or by --remote, not by both: leave out one "
            "(HERALDRY_REMOTE is --remote too)",
            id="master-and-remote",
        ),
        pytest.param(
            ["--dedupe-window", "9", "--dedupe", "off"],
            "--dedupe-window is for leaving out what came before: leave it out, or --dedupe off "
            "(HERALDRY_DEDUPE)",
            id="dedupe-window",
        ),
        pytest.param(
            ["--metrics-host", "0.0.0.0"],
            "--metrics-host needs a port: give --metrics-port, too",
            id="metrics-host",
        ),
        pytest.param(
            ["--raw-log", "log"],
            "files:inbox can be read again, and needs no raw log: leave out --raw-log "
            "(HERALDRY_RAW_LOG)",
            id="raw-log",
        ),
        pytest.param(
            ["--partition-by", "day", "--partition-by", "custmer"],
            "no table has a column custmer to arrange its rows by: there is customer",
            id="partition-by",
        ),
        pytest.param(
            ["--cluster-by", "qqqq"],
            "no table has a column qqqq to arrange its rows by: heraldry columns shows what it has",
            id="cluster-by",
        ),
    ],
)
def test_options_that_would_have_no_effect(
    here: Path, examples: Path, typed: list[str], told: str
) -> None:
    write("inbox/1.jsonl", EVENT)
    land = ("land", "--catalog", str(examples / "orders"), "--from", "files:inbox", "--to", "lake")
    result = invoke(*land, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"heraldry: {told}\n"
    assert not (here / "lake").exists()


def test_variables_may_hold_what_is_for_other_jobs(
    here: Path, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERALDRY_INTERVAL", "5")
    monkeypatch.setenv("HERALDRY_RAW_LOG", "log")
    monkeypatch.setenv("HERALDRY_METRICS_HOST", "0.0.0.0")
    monkeypatch.setenv("HERALDRY_MASTER", "local[1]")
    land = ("land", "--catalog", str(examples / "orders"), "--from", "files:inbox", "--to", "lake")
    result = invoke(*land, "--remote", "sc://h:1")
    assert result.exit_code == 2
    assert "there is no folder 'inbox'" in result.stderr


def test_a_variable_may_name_columns_for_other_jobs(
    here: Path, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told. Nobody listens there: the job ends with that, before Spark starts."""
    monkeypatch.setenv("HERALDRY_PARTITION_BY", "shpo")
    land = ("land", "--catalog", str(examples / "orders"), "--to", "lake")
    result = invoke(*land, "--from", "kafka://127.0.0.1:9/shop")
    assert "no table has a column shpo to arrange its rows by" in result.stderr
    assert "127.0.0.1:9" in result.stderr
    typed = invoke(*land, "--from", "kafka://127.0.0.1:9/shop", "--partition-by", "shpo")
    assert typed.exit_code == 2
    assert "127.0.0.1:9" not in typed.stderr


@pytest.mark.parametrize(
    ("source", "place"),
    [
        pytest.param("kafka://127.0.0.1:9/shop", "127.0.0.1:9", id="kafka"),
        pytest.param("endpoint:shop-kafka", "127.0.0.1:9", id="an endpoint of Kafka"),
        pytest.param("nats://127.0.0.1:9/shop?stream=SHOP", "127.0.0.1:9", id="a stream of NATS"),
    ],
)
def test_a_raw_log_for_other_jobs_stops_none(
    here: Path, examples: Path, monkeypatch: pytest.MonkeyPatch, source: str, place: str
) -> None:
    """Nobody listens there: it is the source that is told of, and not an option."""
    shop = (examples / "shop" / "shop.xreg.json").read_text()
    write("shop.xreg.json", shop.replace("localhost:9092", place))
    monkeypatch.setenv("HERALDRY_RAW_LOG", "log")
    land = ("land", "--catalog", "shop.xreg.json", "--from", source, "--to", "lake")
    result = invoke(*land)
    assert result.exit_code
    assert place in result.stderr
    assert "raw log" not in result.stderr
    typed = invoke(*land, "--raw-log", "log")
    assert typed.exit_code == 2
    assert "can be read again, and needs no raw log" in typed.stderr


@pytest.mark.parametrize("command", ["tables", "dead-letters"])
def test_a_warehouse_that_is_not_there(command: str, here: Path) -> None:
    result = invoke(command, "--warehouse", "nowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("heraldry: nowhere: there is no such warehouse")
    assert not (here / "nowhere").exists()


@pytest.mark.parametrize(
    "sample",
    [
        "watchkam-jsons07",
        "contoso-erp-jsons07",
        "inkjet-proto3",
        "lightbulb-avro",
        "smartoven-xsd",
        "vacuumcleaner-avro",
        "windgenerator-kafka-avro",
    ],
)
def test_what_build_samples_is_matched_and_lands(
    sample: str, spark: SparkSession, here: Path, reference: Path
) -> None:
    del spark
    catalog = str(reference / "catalogs" / "xregistry-samples" / f"{sample}.xreg.json")
    xids = [str(xid) for xid in definitions(load(catalog))]
    assert len(xids) == len(open_catalog(catalog))
    (here / "inbox").mkdir()
    for number, xid in enumerate(xids):
        built = invoke("build", "--catalog", catalog, xid, "--sample", "--format", "json")
        assert built.exit_code == 0, built.stderr
        Path(f"inbox/{number}.jsonl").write_text(built.stdout)
        matched = invoke("match", "--catalog", catalog, "-o", "json", f"inbox/{number}.jsonl")
        assert json.loads(matched.stdout)["definition"] == xid
        assert matched.exit_code == 0
    source = f"files:{here / 'inbox'}"
    landed = invoke("land", "--catalog", catalog, "--from", source, "--to", "lake")
    assert landed.exit_code == 0, landed.output
    told = f"{len(xids)} in = {len(xids)} landed + 0 dead letters"
    assert landed.stdout.splitlines()[-1] == told, landed.output
    tables = json.loads(invoke("tables", "--warehouse", "lake", "-o", "json").stdout)
    assert {table["definition"]: table["rows"] for table in tables} == dict.fromkeys(xids, 1)
