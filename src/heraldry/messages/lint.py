"""Linting: the rules of the catalog, and what only shows when messages are built and matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from heraldry.errors import CircularBaseError, MissingExtraError, NoRootError, SchemaError
from heraldry.messages.build import now
from heraldry.messages.compile import (
    CompiledDefinition,
    compile_definition,
    compile_resolved,
)
from heraldry.messages.lint_bases import check_base
from heraldry.messages.lint_deprecated import deprecated
from heraldry.messages.lint_never import never, shadowed
from heraldry.messages.lint_overlaps import Overlap, Scope, overlaps
from heraldry.messages.lint_rules import finding
from heraldry.model import rules
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.inherit import definitions
from heraldry.model.problem import Finding, Severity
from heraldry.model.schema_reference import Resolved, resolve_schema
from heraldry.model.xid import Xid
from heraldry.schemas.formats import supported

_SCHEMA: dict[str, tuple[Severity, str, str]] = {
    "dangling": (
        "warning",
        "the payload schema is not in the catalog",
        "add the schema, or mend the reference",
    ),
    "external": (
        "warning",
        "the payload schema is kept elsewhere and is never fetched",
        "copy it into the catalog to have payloads checked and columns typed",
    ),
    "conflict": (
        "error",
        "the payload schema is stated twice, and not alike",
        "keep one of the statements",
    ),
    "invalid": (
        "error",
        "the payload schema does not compile; payloads are carried raw",
        "mend the schema",
    ),
    "draft": (
        "warning",
        "the language of the payload schema is guessed",
        "name a version that is known",
    ),
    "extra": (
        "warning",
        "the payload schema was not looked at",
        "install what is missing and check again",
    ),
    "unsupported": (
        "info",
        "payloads of this schema format are carried raw",
        "",
    ),
}
_SAME = {"circular": ("M18",), "schema-conflict": ("M25", "M28")}
"""Rules of the catalog that say the same as one of the run time."""
_UNUSABLE: dict[str, tuple[str, Severity, str]] = {
    "envelope-unknown": ("envelope", "warning", "use CloudEvents/1.0, or leave it out"),
    "protocol-unsupported": (
        "protocol",
        "warning",
        "use HTTP, AMQP/1.0, MQTT/3.1.1, MQTT/5.0, KAFKA or NATS",
    ),
    "template-invalid": ("", "error", "placeholders are names in braces, such as {deviceid}"),
    "empty": ("", "info", "as a base for other messages it is fine"),
}

_OVERLAP: dict[Severity, tuple[str, str]] = {
    "error": (
        "and nothing tells which; it becomes a dead letter",
        "let a constant differ, or derive one definition from the other by basemessage",
    ),
    "warning": (
        "and only some payloads tell which; this one becomes a dead letter",
        "let a constant differ, or schemas that exclude each other",
    ),
    "info": (
        "and only its payload tells which",
        "a constant that differs would tell it at once",
    ),
}


def check(catalog: Catalog, *, clock: Callable[[], datetime] = now) -> tuple[Finding, ...]:
    """Every finding: the rules a server can check, then those of the run time."""
    found = list(rules.check(catalog))
    known = {(one.file, one.location, one.rule) for one in found}
    compiled: dict[str, CompiledDefinition] = {}
    for xid in definitions(catalog):
        found += (one for one in _check(catalog, xid, compiled) if not _is_said(one, known))
    found += _contradictory(found, compiled)
    found += shadowed(compiled)
    found += (_told(one) for one in overlaps(catalog, compiled))
    return (*found, *deprecated(catalog, clock()), *_documents(catalog))


def _is_said(one: Finding, known: set[tuple[str, str, str]]) -> bool:
    return any((one.file, one.location, rule) in known for rule in _SAME.get(one.rule, ()))


def _check(
    catalog: Catalog, xid: Xid, compiled: dict[str, CompiledDefinition]
) -> Iterator[Finding]:
    """The findings about one definition, which is added to the compiled ones."""
    yield from check_base(catalog, xid)
    try:
        one = compile_definition(catalog, xid)
    except CircularBaseError as error:
        yield finding(catalog, xid, "basemessage", "circular", "error", str(error))
        return
    compiled[one.xid] = one
    if one.unusable is not None:
        rule, reason = one.unusable
        member, severity, advice = _UNUSABLE[rule]
        told = f"{reason}; no message will ever match this definition"
        yield finding(catalog, xid, member, rule, severity, told, advice)
    yield from _schema(catalog, one)


def _contradictory(
    found: list[Finding], compiled: dict[str, CompiledDefinition]
) -> Iterator[Finding]:
    """The definitions that no message fits; of those with errors it is said already."""
    wrong = {"/".join(one.location.split("/")[:5]) for one in found if one.severity == "error"}
    for xid, one in compiled.items():
        if one.unusable is None and xid.replace("~", "~0") not in wrong:
            yield from never(one)


def _told(found: Overlap | Scope) -> Finding:
    """What an overlap means for the messages."""
    if isinstance(found, Scope):
        told = "the definitions are so many and so alike that not all pairs could be compared"
        xid = Xid.parse(found.name)
        return finding(found.catalog, xid, "", "overlap-unfinished", "info", told)
    rule, told, advice = "overlap", *_OVERLAP[found.severity]
    if found.severity == "info":
        rule = "overlap-payload"
    told = f"the same message can be of {found.one.xid}, {told}: {found.line}"
    other = found.other
    return finding(*(other.catalog, other.definition.xid, "", rule, found.severity, told, advice))


def _schema(catalog: Catalog, compiled: CompiledDefinition) -> Iterator[Finding]:
    own = compiled.definition
    state: str
    try:
        state, detail = compiled.schema_state, compiled.outcome.detail
        if compiled.schema is not None and compiled.schema.warnings:
            state, detail = "draft", "; ".join(compiled.schema.warnings)
    except MissingExtraError as error:
        state, detail = "extra", str(error)
    if state not in _SCHEMA:
        return
    severity, message, advice = _SCHEMA[state]
    stated = (
        ("dataschema", own.dataschema),
        ("dataschemaxid", own.dataschemaxid),
        ("dataschemauri", own.dataschemauri),
    )
    member = next((name for name, value in stated if value is not None), "")
    told = f"{message}: {detail}" if detail else message
    yield finding(catalog, own.xid, member, f"schema-{state}", severity, told, advice)


def _documents(catalog: Catalog) -> Iterator[Finding]:
    """Every version of every schema must compile, also where no message uses it."""
    for group in catalog.groups.get("schemagroups", {}).values():
        for resource in group.resources.get("schemas", {}).values():
            nested = bool((resource.source or {}).get("versions"))
            for id_ in resource.versions:
                reason = _why_invalid(catalog, resource.xid, id_)
                if reason is not None:
                    member = f"versions/{id_}/schema" if nested else "schema"
                    told = f"the schema does not compile: {reason}"
                    yield finding(
                        *(catalog, resource.xid, member, "schema-document", "error", told)
                    )


def _why_invalid(catalog: Catalog, xid: Xid, version: str) -> str | None:
    wanted = f"{xid}/versions/{version}"
    found = resolve_schema(catalog, Definition(xid=xid, dataschemaxid=wanted))
    if not isinstance(found, Resolved) or not supported(found.format):
        return None
    try:
        compile_resolved(catalog, found)
    except (NoRootError, MissingExtraError):
        return None  # those who use it name the part they mean; the extra is named once
    except SchemaError as error:
        return str(error)
    return None
