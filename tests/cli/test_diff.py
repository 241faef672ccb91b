from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heraldry.cli import main

PLACED = "/messagegroups/orders/messages/placed"


def diff(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments])


def orders(file: Path, **messages: Any) -> str:
    """A catalog with one group of messages that are CloudEvents."""
    made = {
        name: {"envelope": "CloudEvents/1.0", "envelopemetadata": attributes}
        for name, attributes in messages.items()
    }
    file.write_text(json.dumps({"messagegroups": {"orders": {"messages": made}}}))
    return str(file)


OLD = {"type": {"value": "com.example.placed"}, "source": {"value": "/shops/{shop}"}}
NEW = {
    "type": {"value": "com.example.placed"},
    "source": {"value": "/shops/{shop}"},
    "subject": {"value": "{order}"},
    "priority": {"type": "integer"},
}
SHIPPED = {"type": {"value": "com.example.shipped"}}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return (
        orders(tmp_path / "old.json", placed=OLD),
        orders(tmp_path / "new.json", shipped=SHIPPED, placed=NEW),
    )


def test_text(pair: tuple[str, str]) -> None:
    result = diff(*pair)
    assert (result.exit_code, result.stderr) == (1, "")
    assert (
        result.stdout
        == """\
/messagegroups/orders/messages/placed  changed, breaking (backward)
  breaking   definition  envelopemetadata.subject  [property-added]
             The attribute 'subject' is newly declared as the template
             '{order}': messages of the old version without it are no longer
             recognised.
  breaking   definition  envelopemetadata.priority  [property-added]
             The attribute 'priority' is newly declared as an optional integer:
             messages of the old version with something else there are no longer
             recognised.
  safe       table  ce_priority  [added]
             The table gets the column 'ce_priority' (integer); rows already
             there have null in it.
  safe       table  ctx_order  [added]
             The table gets the column 'ctx_order' (string); rows already there
             have null in it.

/messagegroups/orders/messages/shipped  added, safe (backward)
  The message definition is new.

2 differences: 1 breaking, 1 safe
"""
    )


def test_json(pair: tuple[str, str]) -> None:
    result = diff(*pair, "-o", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "breaking": True,
        "differences": [
            {
                "xid": PLACED,
                "entity": "message",
                "kind": "changed",
                "compatibility": "backward",
                "breaking": True,
                "definition": [
                    {
                        "rule": "property-added",
                        "old": None,
                        "new": "envelopemetadata.subject",
                        "message": "The attribute 'subject' is newly declared as the template "
                        "'{order}': messages of the old version without it are no longer "
                        "recognised.",
                        "backward": "breaking",
                        "forward": "safe",
                    },
                    {
                        "rule": "property-added",
                        "old": None,
                        "new": "envelopemetadata.priority",
                        "message": "The attribute 'priority' is newly declared as an optional "
                        "integer: messages of the old version with something else there are no "
                        "longer recognised.",
                        "backward": "breaking",
                        "forward": "safe",
                    },
                ],
                "payload": [],
                "table": [
                    {
                        "kind": "added",
                        "column": "ce_priority",
                        "old": None,
                        "new": "integer",
                        "breaking": False,
                        "message": "The table gets the column 'ce_priority' (integer); rows "
                        "already there have null in it.",
                    },
                    {
                        "kind": "added",
                        "column": "ctx_order",
                        "old": None,
                        "new": "string",
                        "breaking": False,
                        "message": "The table gets the column 'ctx_order' (string); rows already "
                        "there have null in it.",
                    },
                ],
            },
            {
                "xid": "/messagegroups/orders/messages/shipped",
                "entity": "message",
                "kind": "added",
                "compatibility": "backward",
                "breaking": False,
                "definition": [],
                "payload": [],
                "table": [],
            },
        ],
    }


def test_markdown(pair: tuple[str, str]) -> None:
    result = diff(*pair, "--format", "markdown")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
**Catalog: 2 differences: 1 breaking, 1 safe**

### breaking: `/messagegroups/orders/messages/placed` changed

Judged by backward compatibility.

| effect | part | where | what |
|---|---|---|---|
| **breaking** | definition | `envelopemetadata.subject` | \
The attribute 'subject' is newly declared as the template '{order}': \
messages of the old version without it are no longer recognised. |
| **breaking** | definition | `envelopemetadata.priority` | \
The attribute 'priority' is newly declared as an optional integer: \
messages of the old version with something else there are no longer recognised. |

<details><summary>2 safe changes</summary>

| effect | part | where | what |
|---|---|---|---|
| safe | table | `ce_priority` | \
The table gets the column 'ce\\_priority' (integer); rows already there have null in it. |
| safe | table | `ctx_order` | \
The table gets the column 'ctx\\_order' (string); rows already there have null in it. |

</details>

### safe: `/messagegroups/orders/messages/shipped` added

The message definition is new.
"""
    )


def test_markdown_of_documents_stays_text(tmp_path: Path) -> None:
    hostile = {"type": {"value": "<b>|`*x*`[a](b)\n# c"}}
    old = orders(tmp_path / "old.json", placed=OLD)
    new = orders(tmp_path / "new.json", placed={**OLD, **hostile})
    (row,) = [
        line for line in diff(old, new, "-o", "markdown").stdout.splitlines() if "&lt;" in line
    ]
    assert "to '&lt;b>\\|\\`\\*x\\*\\`\\[a\\](b) \\# c':" in row


@pytest.mark.parametrize(
    ("mode", "code"), [("backward", 1), ("FORWARD", 0), ("full", 1), ("forward_transitive", 0)]
)
def test_the_mode_decides(pair: tuple[str, str], mode: str, code: int) -> None:
    assert diff(*pair, "--compatibility", mode).exit_code == code


def test_a_definition_that_is_gone(tmp_path: Path) -> None:
    old = orders(tmp_path / "old.json", placed=OLD, shipped=SHIPPED)
    new = orders(tmp_path / "new.json", placed=OLD)
    result = diff(old, new)
    assert (result.exit_code, result.stderr) == (1, "")
    assert (
        result.stdout
        == """\
/messagegroups/orders/messages/shipped  removed, breaking (backward)
  The definition is gone: its messages are no longer recognised.

1 difference: 1 breaking
"""
    )


@pytest.mark.parametrize(
    ("format_", "told"),
    [
        ("text", "no differences\n"),
        ("json", '{"breaking":false,"differences":[]}\n'),
        ("markdown", "**Catalog: no differences**\n"),
    ],
)
def test_no_differences(examples: Path, format_: str, told: str) -> None:
    airport = str(examples / "airport")
    result = diff(airport, airport, "-o", format_)
    assert (result.exit_code, result.stdout, result.stderr) == (0, told, "")


def test_a_payload_that_narrows_a_column(tmp_path: Path, examples: Path) -> None:
    file = examples / "orders" / "orders.xreg.json"
    new = json.loads(file.read_text(encoding="utf-8"))
    schema = new["messagegroups"]["orders"]["messages"]["placed"]["dataschema"]
    schema["properties"]["total"]["type"] = "integer"
    changed = tmp_path / "orders.xreg.json"
    changed.write_text(json.dumps(new))
    result = diff(str(file), str(changed), "-o", "json")
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)["differences"]
    assert [(one["kind"], one["column"]) for one in found["table"]] == [("narrowed", "total")]
    assert any(one["backward"] == "breaking" for one in found["payload"])


def test_a_mode_that_is_none(pair: tuple[str, str]) -> None:
    result = diff(*pair, "--compatibility", "none")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("heraldry: 'none' is not a compatibility: use one of backward,")


def test_a_path_that_is_not_there(pair: tuple[str, str]) -> None:
    result = diff(pair[0], "nowhere.json")
    assert result.exit_code == 2
    assert "'nowhere.json' does not exist" in result.stderr


@pytest.mark.parametrize("content", ["", "[]", "{}", "{"])
def test_a_document_that_cannot_be_parsed(
    pair: tuple[str, str], tmp_path: Path, content: str
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content)
    for arguments in ((str(file), pair[1]), (pair[0], str(file))):
        result = diff(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"heraldry: {file}: ")


def test_markdown_of_a_new_definition_that_takes_the_messages_of_another(tmp_path: Path) -> None:
    old = orders(tmp_path / "old.json", placed=OLD)
    new = orders(tmp_path / "new.json", placed=OLD, again=OLD)
    result = diff(old, new, "--format", "markdown")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
**Catalog: 1 difference: 1 breaking**

### breaking: `/messagegroups/orders/messages/again` added

The message definition is new.

| effect | part | where | what |
|---|---|---|---|
| **breaking** | definition | `/` | The definition asks the same of messages as \
/messagegroups/orders/messages/placed: their messages become ambiguous or go to it. |
"""
    )
