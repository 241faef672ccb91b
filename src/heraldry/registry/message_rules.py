"""The rules of messages and endpoints, on every write (M1..M69, R56..R93).

    check_messages(unit)     # once, at the end of a request

Only what the request touched is checked, each once, with the base messages it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from heraldry.errors import RegistryError
from heraldry.model.entities import Group, Resource
from heraldry.model.inherit import MESSAGE_GROUPS
from heraldry.model.rules import check_group, check_message
from heraldry.registry.message_rules_catalog import TouchedCatalog

if TYPE_CHECKING:
    from heraldry.model.problem import Finding
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row

MESSAGES = frozenset(f"{plural}/messages" for plural in MESSAGE_GROUPS)
_CHUNK = 500
_REMEMBERED = 20 * _CHUNK
"""So many messages are remembered while others are checked, which may refer to them."""


def check_messages(unit: Unit) -> None:
    """``invalid_attribute`` for the first broken rule, with the property and the rule named.

    What a rule only warns of is accepted: a more tolerant reading of the specification has it.
    """
    known = TouchedCatalog(unit.tx)
    for row in _groups(unit):
        for finding in check_group(known.catalog, known.group_of(row)):
            _judge(finding, row.xid)
    rows = _messages(unit)
    for start in range(0, len(rows), _CHUNK):
        unit.budget.check()
        if start and not start % _REMEMBERED:
            known = TouchedCatalog(unit.tx)
        for group, message in known.messages(rows[start : start + _CHUNK]):
            _check(known, group, message)


def _check(known: TouchedCatalog, group: Group, message: Resource) -> None:
    for finding in check_message(known.catalog, group, message):
        _judge(finding, str(message.xid))


def _groups(unit: Unit) -> Iterator[Row]:
    """The message groups and endpoints whose own attributes were written."""
    return (row for row in unit.regrouped.values() if row.type in MESSAGE_GROUPS)


def _messages(unit: Unit) -> list[Row]:
    """The messages that were written, and all of a group that has another envelope or protocol."""
    found = {
        row.key: row for row in unit.resources.values() if row is not None and row.type in MESSAGES
    }
    for group in _groups(unit):
        if not {"envelope", "protocol"}.isdisjoint(unit.journal.changed(group.xid)):
            for row in unit.tx.children([group.key], f"{group.type}/messages"):
                found.setdefault(row.key, row)
    return list(found.values())


def _judge(finding: Finding, xid: str) -> None:
    if finding.severity != "error":
        return
    parts = finding.location.removeprefix(xid).split("/")[1:]
    subject = xid
    if parts[:1] == ["versions"]:
        subject, parts = f"{xid}/versions/{parts[1]}", parts[2:]
    told = f"{finding.message} ({finding.rule})"
    arguments = {"name": _name(parts), "error_detail": told}
    raise RegistryError("invalid_attribute", subject, arguments, finding.advice)


def _name(parts: list[str]) -> str:
    """A path in dot notation: ``protocoloptions.headers[0].name``."""
    text = ""
    for part in (part.replace("~1", "/").replace("~0", "~") for part in parts):
        if part.isdigit():
            text += f"[{part}]"
        elif part.replace("_", "").isalnum():
            text += f".{part}" if text else part
        else:
            text += f"['{part}']"
    return text
