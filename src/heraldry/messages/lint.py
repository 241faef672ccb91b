"""Linting: the rules of the catalog, and what only shows when messages are built and matched."""

from __future__ import annotations

from collections.abc import Iterator

from heraldry.errors import CircularBaseError, MissingExtraError, NoRootError, SchemaError
from heraldry.messages.compile import (
    CompiledDefinition,
    compile_definition,
    compile_resolved,
)
from heraldry.model import rules
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.inherit import definitions, local_reference
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
    "protocol-unsupported": ("protocol", "warning", "messages over HTTP, KAFKA and MQTT are read"),
    "template-invalid": ("", "error", "placeholders are names in braces, such as {deviceid}"),
    "empty": ("", "info", "as a base for other messages it is fine"),
}


def check(catalog: Catalog) -> tuple[Finding, ...]:
    """Every finding: the rules a server can check, then those of the run time."""
    found = list(rules.check(catalog))
    known = {(one.file, one.location, one.rule) for one in found}
    for xid in definitions(catalog):
        found += (one for one in _check(catalog, xid) if not _is_said(one, known))
    return (*found, *_documents(catalog))


def _is_said(one: Finding, known: set[tuple[str, str, str]]) -> bool:
    return any((one.file, one.location, rule) in known for rule in _SAME.get(one.rule, ()))


def _check(catalog: Catalog, xid: Xid) -> Iterator[Finding]:
    yield from _base(catalog, xid)
    try:
        compiled = compile_definition(catalog, xid)
    except CircularBaseError as error:
        yield _finding(catalog, xid, "basemessage", "circular", "error", str(error))
        return
    if compiled.unusable is not None:
        rule, reason = compiled.unusable
        member, severity, advice = _UNUSABLE[rule]
        told = f"{reason}; no message will ever match this definition"
        yield _finding(catalog, xid, member, rule, severity, told, advice)
    yield from _schema(catalog, compiled)


def _base(catalog: Catalog, xid: Xid) -> Iterator[Finding]:
    resource = catalog.resource(xid)
    base = resource.attributes.get("basemessage") if resource else None
    target = local_reference(base)
    if target is not None and catalog.resource(target) is None:
        told = f"the base message {base} is not in the catalog; nothing is inherited from it"
        yield _finding(catalog, xid, "basemessage", "base-dangling", "info", told)


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
    yield _finding(catalog, own.xid, member, f"schema-{state}", severity, told, advice)


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
                    yield _finding(
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


def _finding(
    catalog: Catalog,
    xid: Xid,
    member: str,
    rule: str,
    severity: Severity,
    message: str,
    advice: str = "",
) -> Finding:
    place = str(xid).replace("~", "~0")
    return Finding(
        file=catalog.file(xid),
        location=f"{place}/{member}" if member else place,
        rule=rule,
        severity=severity,
        message=message,
        advice=advice,
    )
