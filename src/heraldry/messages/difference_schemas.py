"""What changed in a payload schema, also where there is none to compare with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from heraldry.messages.compile import SchemaOutcome, SchemaState, compile_schema
from heraldry.messages.values import is_json_media_type
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.formats import family
from heraldry.model.schema_reference import Resolved, resolve_schema
from heraldry.model.xid import Xid
from heraldry.schemas import formats
from heraldry.schemas.changes import Change, Effect

STATES: dict[SchemaState, str] = {
    "none": "no schema is named",
    "dangling": "the schema is not in the catalog",
    "external": "the schema is kept elsewhere and never fetched",
    "conflict": "the schema is stated twice, and not alike",
    "unsupported": "the format of the schema is not supported",
    "invalid": "the schema does not compile",
}
"""Why there is no schema to use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadSide:
    """The payload schema of one catalog: ``document`` is its text where there is one.

    ``content_type`` is what the definition says of its payloads.
    """

    outcome: SchemaOutcome
    content_type: str | None = None
    xid: str | None = None
    version: str | None = None
    document: Any = None
    mode: str | None = None


def side_of(catalog: Catalog, definition: Definition, outcome: SchemaOutcome) -> PayloadSide:
    """The schema of a definition, and the compatibility that its catalog demands of it (ME-06)."""
    found = resolve_schema(catalog, definition)
    if not isinstance(found, Resolved):
        return PayloadSide(outcome=outcome, content_type=definition.datacontenttype)
    resource = catalog.resource(Xid.parse(found.xid)) if found.xid else None
    stated = resource.meta.get("compatibility") if resource else None
    return PayloadSide(
        outcome=outcome,
        content_type=definition.datacontenttype,
        xid=found.xid,
        version=found.versionid,
        document=(found.format, found.document, found.link),
        mode=stated if isinstance(stated, str) else None,
    )


def schema_side(catalog: Catalog, xid: Xid) -> PayloadSide:
    """The default version of a schema, as a definition that refers to it would see it."""
    probe = Definition(xid=xid, dataschemaxid=str(xid))
    return side_of(catalog, probe, compile_schema(catalog, probe))


def why_none(outcome: SchemaOutcome) -> str:
    """Why there is no schema to use, in a clause."""
    if outcome.state == "invalid" and outcome.detail:
        return f"the {outcome.detail}"
    told = STATES.get(outcome.state, outcome.state)
    return f"{told} ({outcome.detail})" if outcome.detail and outcome.state != "none" else told


def payload_changes(old: PayloadSide, new: PayloadSide) -> tuple[Change, ...]:
    """What changed for payloads; a schema that came, went or cannot be read is a change too."""
    before, after = old.outcome, new.outcome
    if before.schema is not None and after.schema is not None:
        if before.schema.source == after.schema.source:
            return ()
        found = formats.changes(before.schema, after.schema)
        return tuple(map(_in_json, found)) if _is_protobuf_json(old, new) else found
    # Where no schema is named anything may come; a schema that cannot be read may say the same.
    if before.schema is not None:
        told = f"Payloads are no longer checked and land raw: {why_none(after)}."
        forward: Effect = "breaking" if after.state == "none" else "undecided"
        return (_change("schema-lost", told, "safe", forward),)
    if after.schema is not None:
        told = (
            f"Payloads are now checked and land in columns; before, {why_none(before)}: "
            "payloads of the old version that the schema does not accept are refused."
        )
        backward: Effect = "breaking" if before.state == "none" else "undecided"
        return (_change("schema-gained", told, backward, "safe"),)
    if before == after and old.document == new.document:
        return ()
    if before == after:
        told = f"The schema changed, which cannot be compared: {why_none(after)}."
    else:
        told = (
            f"Payloads were and are not checked, for another reason: before, {why_none(before)}; "
            f"now, {why_none(after)}."
        )
    return (_change("schema-unreadable", told, "undecided", "undecided"),)


_NAMES_ADDED: Final = frozenset(("field-added", "enum-value-added"))
_NAMES_REMOVED: Final = frozenset(("field-removed", "enum-value-removed"))
_NAMES_CHANGED: Final = frozenset(("name-changed", "enum-value-renamed"))


def _is_protobuf_json(old: PayloadSide, new: PayloadSide) -> bool:
    """Whether payloads are Protobuf in JSON, by what either definition says of them."""
    schema = new.outcome.schema
    if schema is None or family(schema.source.format)[0] != "protobuf":
        return False
    return any(is_json_media_type(one.content_type or "") for one in (old, new))


def _in_json(change: Change) -> Change:
    """A change of a Protobuf schema, which is judged by the binary encoding, judged for JSON."""

    def judged(found: Effect, gone: frozenset[str], come: frozenset[str]) -> Effect:
        if found == "breaking" or change.rule in come:
            return found
        return "breaking" if change.rule in gone else "undecided"

    backward = judged(change.backward, _NAMES_REMOVED | _NAMES_CHANGED, _NAMES_ADDED)
    forward = judged(change.forward, _NAMES_ADDED | _NAMES_CHANGED, _NAMES_REMOVED)
    told = (
        f"{change.message} In JSON, names and spellings that a version does not know are refused."
    )
    return replace(change, message=told, backward=backward, forward=forward)


def _change(rule: str, message: str, backward: Effect, forward: Effect) -> Change:
    return Change(
        rule=rule, old=None, new=None, message=message, backward=backward, forward=forward
    )
