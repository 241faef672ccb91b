"""The rules of the run time: what ``check`` finds beyond the rules of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from heraldry.model.catalog import Catalog
from heraldry.model.problem import Finding, Severity
from heraldry.model.xid import Xid

RUN_TIME_RULES: Final[Mapping[str, str]] = {
    "envelope-unknown": "the envelope is CloudEvents: messages in other envelopes are not matched.",
    "protocol-unsupported": "the protocol is a known one: messages over others are not matched.",
    "template-invalid": "templates can be read: one that cannot is never matched.",
    "empty": "a definition declares something that its messages can be told by.",
    "never-matches": "some message has all constants of the definition.",
    "shadowed": "a base keeps messages of its own: what derives from it asks for more.",
    "overlap": "no message fits two definitions of a group or endpoint, or something decides.",
    "overlap-payload": "definitions are told apart by more than their payload schemas.",
    "overlap-unfinished": "all definitions of a group or endpoint were compared with each other.",
    "deprecated": "what is referenced is not deprecated.",
    "circular": "a chain of base messages does not come back to itself.",
    "base-dangling": "a base message is in the catalog.",
    "base-external": "a base message of another catalog is reachable: none is without a resolver.",
    "base-unresolved": "a base message of another catalog could be fetched.",
    "schema-dangling": "a payload schema is in the catalog.",
    "schema-external": "a payload schema is kept in the catalog: nothing is fetched.",
    "schema-conflict": "a payload schema is stated once, or alike everywhere.",
    "schema-invalid": "a payload schema compiles.",
    "schema-draft": "the language of a payload schema is a known one.",
    "schema-extra": "what is needed to read a payload schema is installed.",
    "schema-unsupported": "the format of a payload schema is a known one.",
    "schema-document": "every version of every schema compiles.",
    "document": "a document can be read.",
}
"""Every rule with what holds where it finds nothing."""


def finding(
    catalog: Catalog,
    xid: Xid,
    member: str,
    rule: str,
    severity: Severity,
    message: str,
    advice: str = "",
) -> Finding:
    """A finding about an entity, or about one member of it."""
    place = str(xid).replace("~", "~0")
    return Finding(
        file=catalog.file(xid),
        location=f"{place}/{member}" if member else place,
        rule=rule,
        severity=severity,
        message=message,
        advice=advice,
    )
