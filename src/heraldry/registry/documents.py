"""Documents under the rules of their format, and versions under those of compatibility (VA).

Both run over a resource as it shall become, and set what its versions say about it. That is no
update of a version: its epoch stays (GN-09).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import RegistryError, SchemaError
from heraldry.model.formats import family
from heraldry.model.schema_reference import Resolved
from heraldry.registry.documents_numbers import check_numbers, compare_numbers, is_numbers
from heraldry.registry.documents_references import gather_references, missing_reference
from heraldry.schemas.verdicts import (
    CompatibilityVerdict,
    FormatVerdict,
    format_listed,
    pair_listed,
    validate_compatibility,
    validate_format,
)

if TYPE_CHECKING:
    from heraldry.registry.draft import ResourceDraft, VersionDraft
    from heraldry.registry.unit import Unit

_FORMAT: Final = "formatvalidated"
_COMPATIBILITY: Final = "compatibilityvalidated"


def check_formats(unit: Unit, draft: ResourceDraft) -> None:
    """Each document is one of its version's format, or says why that was not checked.

    VA-01..VA-03, VA-05, VA-06, VE-11. Only what changed is looked at again.
    """
    wanted = draft.names.type.validateformat
    for version in draft.versions.values():
        if not wanted or not version.values.get("format"):
            _say(version, _FORMAT, None)
        elif _FORMAT not in version.values or unit.remodelled or _has_changed(draft, version):
            verdict = _format_verdict(unit, draft, version)
            strict = draft.names.type.strictvalidation
            if verdict.outcome == "violated" or (strict and verdict.outcome == "unknown"):
                raise _format_error(version, verdict)
            _say(version, _FORMAT, verdict)


def check_compatibility(unit: Unit, draft: ResourceDraft) -> None:
    """Each version goes with its ancestors as the resource promises (VA-04, VE-12, ME-06).

    A version is looked at again where it or an ancestor that counts has changed.
    """
    mode = draft.meta.get("compatibility")
    if not draft.names.type.validatecompatibility or not mode:
        for version in draft.versions.values():
            _say(version, _COMPATIBILITY, None)
        return
    verdicts: dict[str, FormatVerdict] = {}
    changed = _changed_lineages(unit, draft, str(mode))
    for version in draft.versions.values():
        if not version.values.get("format"):
            _say(version, _COMPATIBILITY, None)
        elif version.id in changed or _COMPATIBILITY not in version.values:
            verdict = _compatibility_verdict(unit, draft, version, str(mode), verdicts)
            strict = draft.names.type.strictvalidation
            if verdict.outcome == "violated" or (strict and verdict.outcome == "unknown"):
                raise _compatibility_error(draft, version, str(mode), verdict)
            _say(version, _COMPATIBILITY, verdict)


def _say(
    version: VersionDraft, name: str, verdict: FormatVerdict | CompatibilityVerdict | None
) -> None:
    """Set or drop ``...validated`` and its reason."""
    version.values.pop(name, None)
    version.values.pop(f"{name}reason", None)
    if verdict is not None:
        version.values[name] = verdict.outcome == "validated"
        if verdict.outcome != "validated":
            version.values[f"{name}reason"] = verdict.reason


def _has_changed(draft: ResourceDraft, version: VersionDraft) -> bool:
    """Whether the format or the document of a version is another than before."""
    old = version.old
    if old is None or version.content is not None or version.document != old.document:
        return True
    names = ("format", *_external_names(draft))
    return any(old.attributes.get(name) != version.values.get(name) for name in names)


def _format_verdict(unit: Unit, draft: ResourceDraft, version: VersionDraft) -> FormatVerdict:
    format_: str = version.values["format"]
    known = _known_format(unit, format_)
    external = any(version.values.get(name) for name in _external_names(draft))
    if not known:
        return _unchecked(format_, "format_unknown", "Unknown format")
    if external:
        return _unchecked(format_, "format_external", "Data stored externally")
    content = _content(unit, draft, version)
    if is_numbers(format_):
        return check_numbers(format_, content)
    schema = Resolved(format=format_, document=content, xid=draft.xid, versionid=version.id)
    try:
        references = gather_references(unit, schema) if content else ()
    except SchemaError as error:
        told = f"The document was not checked: {error.reason}."
        return _unchecked(format_, "format_external", told)
    verdict = validate_format(format_, content, name=draft.id, references=references)
    assert verdict is not None  # there is a format
    if verdict.outcome == "violated" and (name := missing_reference(schema, references)):
        told = f"The document was not checked: it refers to {name}, which is not in this registry."
        return _unchecked(format_, "format_external", told)
    return verdict


def _unchecked(format: str, error: str, reason: str) -> FormatVerdict:  # noqa: A002
    return FormatVerdict(format=format, outcome="unknown", reason=reason, error=error)


def _external_names(draft: ResourceDraft) -> tuple[str, ...]:
    """The attributes that say where else a document is kept (DO-01)."""
    type_ = draft.names.type
    return (f"{type_.singular}url", f"{type_.singular}proxyurl") if type_.hasdocument else ()


def _known_format(unit: Unit, text: str) -> bool:
    """Whether the capabilities list a format, as it is written or by its usual name (C44)."""
    formats = unit.capabilities.formats
    return format_listed(text, formats) or format_listed("/".join(family(text)), formats)


def _content(unit: Unit, draft: ResourceDraft, version: VersionDraft) -> bytes:
    """The bytes of a document; none and an empty one are the same (VA-03)."""
    if not draft.names.type.hasdocument:
        return b""
    if version.content is not None:
        return version.content
    return unit.tx.document(version.document) if version.document else b""


def _changed_lineages(unit: Unit, draft: ResourceDraft, mode: str) -> set[str]:
    """The versions to compare again: by the mode, with the changes of their ancestors."""
    everything = set(draft.versions)
    if unit.remodelled or draft.old is None or draft.old.attributes.get("compatibility") != mode:
        return everything
    changed = {
        version.id
        for version in draft.versions.values()
        if _has_changed(draft, version)
        or version.old is None
        or version.old.attributes.get("ancestorid") != version.values["ancestorid"]
    }
    children = defaultdict(list)
    for version in draft.versions.values():
        children[version.values["ancestorid"]].append(version.id)
    found: set[str] = set()
    waiting = list(changed)
    while waiting:
        id = waiting.pop()  # noqa: A001
        if id not in found:
            found.add(id)
            below = children[id]
            # Without "transitive" a change counts for those that follow it at once.
            waiting += below if mode.lower().endswith("_transitive") or id in changed else ()
    return found


def _lineage(draft: ResourceDraft, id: str) -> list[str]:  # noqa: A002
    """A version and its ancestors, the version first."""
    found = [id]
    while (parent := draft.versions[found[-1]].values["ancestorid"]) != found[-1]:
        found.append(parent)
    return found


def _compatibility_verdict(
    unit: Unit,
    draft: ResourceDraft,
    version: VersionDraft,
    mode: str,
    verdicts: dict[str, FormatVerdict],
) -> CompatibilityVerdict:
    lineage = _lineage(draft, version.id)
    if not mode.lower().endswith("_transitive"):
        lineage = lineage[:2]
    for id in lineage:  # noqa: A001
        if id not in verdicts:
            verdicts[id] = _lineage_verdict(unit, draft, draft.versions[id])
    own = verdicts[version.id]
    if own.outcome == "unknown":  # VE-11
        return _uncompared(mode, own.reason or "")
    listed = _pair_listed(unit, version.values["format"], mode)
    if listed and len(lineage) == 1:
        # There is nothing it could be incompatible with.
        return CompatibilityVerdict(mode=mode, outcome="validated")
    new, *ancestors = ((one, verdicts[one]) for one in lineage)
    if listed and any(is_numbers(verdict.format) for _, verdict in (new, *ancestors)):
        return _numbers_verdict(unit, draft, mode, (new, *ancestors))
    found = validate_compatibility(
        mode, ancestors[::-1], new, compatibilities=None if listed else {}
    )
    assert found is not None  # there is a mode
    return found


def _numbers_verdict(
    unit: Unit, draft: ResourceDraft, mode: str, lineage: Sequence[tuple[str, FormatVerdict]]
) -> CompatibilityVerdict:
    ids = [one for one, _ in lineage]
    for one, verdict in lineage:
        if verdict.outcome != "validated":
            return _uncompared(mode, f"Version {one} cannot be compared. {verdict.reason}")
    if not all(is_numbers(verdict.format) for _, verdict in lineage):
        return CompatibilityVerdict(
            mode=mode,
            outcome="violated",
            reason=f"The format of version {ids[0]} is not that of its ancestors.",
            error="compatibility_violation",
            versionids=tuple(ids[::-1]),
        )
    contents = [_content(unit, draft, draft.versions[one]) for one in ids]
    return compare_numbers(mode, list(zip(ids, contents, strict=True)))


def _uncompared(mode: str, reason: str) -> CompatibilityVerdict:
    return CompatibilityVerdict(
        mode=mode, outcome="unknown", reason=reason, error="compatibility_unknown"
    )


def _lineage_verdict(unit: Unit, draft: ResourceDraft, version: VersionDraft) -> FormatVerdict:
    if version.values.get("format"):
        return _format_verdict(unit, draft, version)
    return FormatVerdict(format="", outcome="unknown", reason="It has no format.")


def _pair_listed(unit: Unit, format: str, mode: str) -> bool:  # noqa: A002
    pairs = unit.capabilities.compatibilities
    return any(pair_listed(name, mode, pairs) for name in (format, "/".join(family(format))))


def _format_error(version: VersionDraft, verdict: FormatVerdict) -> RegistryError:
    """KD-9: the errors of strict validation are those of the specification's main text."""
    name = verdict.error or "format_violation"
    arguments = {} if name == "format_external" else {"format": verdict.format}
    return RegistryError(name, version.xid, arguments, verdict.reason or "")


def _compatibility_error(
    draft: ResourceDraft, version: VersionDraft, mode: str, verdict: CompatibilityVerdict
) -> RegistryError:
    name = verdict.error or "compatibility_violation"
    arguments: dict[str, Any] = {"compat": mode}
    if name == "compatibility_unknown":
        arguments["format"] = version.values["format"]
    return RegistryError(name, draft.xid, arguments, verdict.reason or "")
