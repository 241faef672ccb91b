from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main

READING = "/messagegroups/plant/messages/reading"
SCHEMA = "/schemagroups/plant/schemas/reading"

EVENT = {
    "ce_id": ("string", "attributes.id, else source#position"),
    "ce_source": ("string", "attributes.source, else the source"),
    "ce_type": ("string", "attributes.type, else the definition"),
    "ce_specversion": ("string", "attributes.specversion"),
    "ce_subject": ("string", "attributes.subject"),
    "ce_time": ("timestamp", "attributes.time, else the broker's time"),
    "ce_datacontenttype": ("string", "attributes.datacontenttype, else the content type"),
    "ce_dataschema": ("string", "attributes.dataschema"),
    "ce_extensions": ("json", "all other attributes"),
}
"""The columns of the event that a native message becomes: type, and what each is read from."""


def columns(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["columns", *arguments])


def plant(folder: Path, **changes: Any) -> str:
    """A catalog with one MQTT message and its schema; ``changes`` are of the message."""
    reading = {
        "protocol": "MQTT/5.0",
        "protocoloptions": {"topic_name": "plants/{plant}/readings"},
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschemaxid": SCHEMA,
        **changes,
    }
    schema = {
        "type": "object",
        "properties": {
            "at": {"type": "string", "format": "date-time"},
            "valves": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"no": {"type": "integer"}, "open": {"type": "boolean"}},
                    "required": ["no"],
                },
            },
            "tags": {"type": "array", "items": {"type": "string"}},
            "ctx_plant": {"type": "string"},
        },
        "required": ["at"],
    }
    stored = {"format": "JSONSchema/draft-07", "schema": schema}
    file = folder / "plant.xreg.json"
    file.write_text(
        json.dumps(
            {
                "messagegroups": {"plant": {"messages": {"reading": reading}}},
                "schemagroups": {"plant": {"schemas": {"reading": stored}}},
            }
        )
    )
    return str(file)


def event_columns(width: int) -> str:
    """The rows of ``EVENT`` in a table whose types are ``width`` wide."""
    return "".join(f"  {n:18}  {t:{width}}  yes   {key}\n" for n, (t, key) in EVENT.items())


def test_the_table_of_a_definition(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), "reading")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == f"""\
/messagegroups/plant/messages/reading
  column              type          null  read from
  at                  timestamp     no    /at
  valves              list<struct>  yes   /valves
  valves[].no         integer       no    /valves/*/no
  valves[].open       boolean       yes   /valves/*/open
  tags                list<string>  yes   /tags
  ctx_plant_2         string        yes   /ctx_plant
{event_columns(12)}\
  ctx_plant           string        yes   {{plant}}

Every table also has _definition, _version, _batch, _source, _position,
_received.
"""
    )


def test_the_table_of_a_definition_as_json(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), READING, "-o", "json")
    assert json.loads(result.stdout) == {
        "definition": READING,
        "schema_state": "usable",
        "detail": "",
        "columns": [
            {"name": "at", "type": "timestamp", "nullable": False, "from": "/at"},
            {
                "name": "valves",
                "type": "list<struct<no:integer,open:boolean>>",
                "nullable": True,
                "from": "/valves",
            },
            {"name": "tags", "type": "list<string>", "nullable": True, "from": "/tags"},
            {"name": "ctx_plant_2", "type": "string", "nullable": True, "from": "/ctx_plant"},
            *(
                {"name": one, "type": type_, "nullable": True, "from": key}
                for one, (type_, key) in EVENT.items()
            ),
            {"name": "ctx_plant", "type": "string", "nullable": True, "from": "{plant}"},
        ],
    }


def test_a_schema_has_the_columns_of_its_payload_only(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), SCHEMA)
    assert (
        result.stdout
        == """\
/schemagroups/plant/schemas/reading
  column         type          null  read from
  at             timestamp     no    /at
  valves         list<struct>  yes   /valves
  valves[].no    integer       no    /valves/*/no
  valves[].open  boolean       yes   /valves/*/open
  tags           list<string>  yes   /tags
  ctx_plant      string        yes   /ctx_plant

"""
    )


@pytest.mark.parametrize(
    ("changes", "state", "told"),
    [
        pytest.param(
            {"dataschemaxid": "/schemagroups/plant/schemas/no"},
            "dangling",
            "  no columns from a payload schema: the schema is not in the catalog (the\n"
            "  catalog has no schema /schemagroups/plant/schemas/no); the payload lands raw\n",
            id="dangling",
        ),
        pytest.param(
            {"dataschemaxid": None, "dataschemauri": "https://example.com/s.json"},
            "external",
            "  no columns from a payload schema: the schema is kept elsewhere and never\n"
            "  fetched (https://example.com/s.json is outside this catalog; Heraldry never\n"
            "  fetches); the payload lands raw\n",
            id="external",
        ),
        pytest.param(
            {"dataschemaxid": None, "dataschemaformat": "Oops/1", "dataschema": "x"},
            "unsupported",
            "  no columns from a payload schema: the format of the schema is not supported\n"
            "  (Oops/1); the payload lands raw\n",
            id="unsupported",
        ),
        pytest.param(
            {"dataschemaxid": None, "dataschemaformat": None},
            "none",
            "  no columns from a payload schema: no schema is named; the payload lands raw\n",
            id="none",
        ),
    ],
)
def test_why_there_are_no_columns(
    tmp_path: Path, changes: dict[str, Any], state: str, told: str
) -> None:
    catalog = plant(tmp_path, **changes)
    result = columns("--catalog", catalog, "reading")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == f"""\
{READING}
{told}\
  column              type       null  read from
{event_columns(9)}\
  ctx_plant           string     yes   {{plant}}
  _payload            binary     yes   the payload as it came

Every table also has _definition, _version, _batch, _source, _position,
_received.
"""
    )
    found = json.loads(columns("--catalog", catalog, "reading", "-o", "json").stdout)
    assert found["schema_state"] == state


def test_a_schema_that_does_not_compile(tmp_path: Path) -> None:
    catalog = plant(tmp_path, dataschemaxid=None, dataschema={"type": 5})
    found = json.loads(columns("--catalog", catalog, "reading", "-o", "json").stdout)
    assert found["schema_state"] == "invalid"
    assert found["detail"].startswith("JSONSchema/draft-07 schema does not compile")
    told = " ".join(columns("--catalog", catalog, "reading").stdout.split())
    assert told.count("does not compile") == 1
    assert "no columns from a payload schema: the JSONSchema/draft-07 schema does not" in told
    assert [one["name"] for one in found["columns"]] == [*EVENT, "ctx_plant", "_payload"]


def test_all_definitions(examples: Path) -> None:
    result = columns("--catalog", str(examples / "airport"), "-o", "json")
    assert [one["definition"].rpartition("/messages/")[2] for one in json.loads(result.stdout)] == [
        "checkedin",
        "loaded",
        "unloaded",
        "delivered",
        "loaded",
        "reading",
        "jam",
    ]


def test_a_definition_that_is_not_there(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), "readin")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"heraldry: the catalog has no message definition readin; did you mean {READING}?\n"
    )


def test_a_schema_that_is_not_there(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), f"{SCHEMA}s")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"heraldry: the catalog has no schema {SCHEMA}s: did you mean {SCHEMA}?\n"
    )


def test_a_version_that_is_not_there(tmp_path: Path) -> None:
    result = columns("--catalog", plant(tmp_path), f"{SCHEMA}/versions/2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"heraldry: the catalog has no schema {SCHEMA}/versions/2: "
        f"did you mean {SCHEMA}/versions/1?\n"
    )


def test_every_sample_catalog_has_tables(reference: Path) -> None:
    files = sorted((reference / "catalogs" / "xregistry-samples").glob("*.xreg.json"))
    for file in files:
        result = columns("--catalog", str(file))
        assert (result.exit_code, result.stderr) == (0, ""), file.name
