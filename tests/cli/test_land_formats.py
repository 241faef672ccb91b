"""One example catalog per payload format, from `build --sample` to the typed table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable

from heraldry.cli import main
from heraldry.dialects.load import load
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted
from heraldry.model.inherit import definitions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNT = 25
COLUMNS = {
    "bookings-json-schema": {
        "guest": "string",
        "nights": "bigint",
        "arrival": "date",
        "madeat": "timestamp",
        "price": "struct<amount:double,currency:string>",
        "wishes": "array<string>",
        "counts": "map<string,bigint>",
    },
    "payments-avro": {
        "id": "string",
        "amount": "decimal(12,2)",
        "currency": "string",
        "payer": "struct<name:string,iban:string>",
        "payee": "struct<name:string,iban:string>",
        "settledat": "timestamp",
        "valuedate": "date",
        "fees": "array<double>",
        "labels": "map<string,string>",
        "note": "string",
    },
    "telemetry-protobuf": {
        "sensor": "string",
        "taken_at": "timestamp",
        "quality": "string",
        "position": "struct<latitude:double,longitude:double>",
        "values": "array<double>",
        "tags": "map<string,string>",
        "sequence": "decimal(20,0)",
        "battery": "bigint",
        "text": "string",
        "code": "bigint",
    },
    "invoices-xsd": {
        "id": "string",
        "currency": "string",
        "issued": "date",
        "sentat": "timestamp",
        "customer": "string",
        "line": "array<struct<number:bigint,article:string,quantity:bigint,price:decimal(12,2)>>",
        "paid": "boolean",
        "remark": "string",
    },
    "stays-json-structure": {
        "room": "bigint",
        "folio": "bigint",
        "guest": "string",
        "total": "decimal(12,2)",
        "left": "timestamp",
        "arrived": "date",
        "reference": "string",
        "extras": "array<string>",
        "minutes": "map<string,bigint>",
        "address": "struct<street:string,city:string>",
    },
}
"""By catalog: the types of the payload's columns in the Delta table."""


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize("name", COLUMNS)
def test_samples_land_typed(name: str, spark: SparkSession, tmp_path: Path, examples: Path) -> None:
    del spark
    path = examples / "formats" / f"{name}.xreg.json"
    checked = invoke("check", str(path))
    assert checked.exit_code == 0, checked.output
    catalog = load(path)
    judge = Judge(catalog)
    (xid,) = map(str, definitions(catalog))
    built = invoke(
        *("build", "--catalog", str(path), xid, "--sample"),
        *("--count", str(COUNT), "--seed", "1", "--format", "json"),
    )
    assert built.exit_code == 0, built.output
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.jsonl").write_text(built.stdout)
    landed = invoke(
        *("land", "--catalog", str(path), "--from", f"files:{tmp_path / 'inbox'}"),
        *("--to", str(tmp_path / "lake")),
    )
    assert landed.stdout.splitlines()[-1] == f"{COUNT} in = {COUNT} landed + 0 dead letters"

    (table,) = json.loads(
        invoke("tables", "--warehouse", str(tmp_path / "lake"), "-o", "json").stdout
    )
    stored = DeltaTable(table["path"]).to_pyarrow_table()
    verdicts = [judge.judge(line) for line in built.stdout_bytes.splitlines()]
    rows = [one.row for one in verdicts if isinstance(one, Accepted)]
    stored = stored.select(list(rows[0]))
    expected = pa.Table.from_pylist(rows, schema=stored.schema)
    assert sorted(map(repr, stored.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    types = {column["name"]: column["type"] for column in table["columns"]}
    assert {key: types[key] for key in rows[0]} == COLUMNS[name]
