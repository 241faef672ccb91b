"""Documents under the rules of their format, and versions under those of compatibility (VA).

Both run over a resource as it shall become, and set what its versions say about it. That is no
update of a version: its epoch stays (GN-09).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import RegistryError, SchemaError
from heraldry.model.formats import family
from heraldry.model.schema_reference import Resolved
from heraldry.registry.documents_lineage import Lineages, lineages
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


def check_formats(unit: Unit, draft: ResourceDraft) -> dict[str, FormatVerdict]:
    """Each document is one of its version's format, or says why that was not checked.

    VA-01..VA-03, VA-05, VA-06, VE-11. Only what changed is looked at again; the verdicts on it
    are returned by version, so that no document is compiled twice.
    """
    wanted = draft.names.type.validateformat
    verdicts: dict[str, FormatVerdict] = {}
    for version in draft.versions.values():
        if not wanted or not version.values.get("format"):
            _say(version, _FORMAT, None)
        elif (
            _FORMAT not in version.values
            or unit.remodelled
            or _has_written_document(draft, version)
        ):
            unit.budget.check()
            verdict = verdicts[version.id] = _format_verdict(unit, draft, version)
            strict = draft.names.type.strictvalidation
            if verdict.outcome == "violated" or (strict and verdict.outcome == "unknown"):
                raise _format_error(version, verdict)
            _say(version, _FORMAT, verdict)
    return verdicts


def check_compatibility(
    unit: Unit, draft: ResourceDraft, verdicts: Mapping[str, FormatVerdict] | None = None
) -> None:
    """Each version goes with its ancestors as the resource promises (VA-04, VE-12, ME-06).

    A version is looked at again where it or an ancestor that counts has changed, and then
    compared with what changed. ``verdicts``: what :func:`check_formats` found.
    """
    mode = draft.meta.get("compatibility")
    if not draft.names.type.validatecompatibility or not mode:
        for version in draft.versions.values():
            _say(version, _COMPATIBILITY, None)
        return
    comparing = _comparing(unit, draft, str(mode), verdicts or {})
    for version in draft.versions.values():
        if not version.values.get("format"):
            _say(version, _COMPATIBILITY, None)
        elif version.id in comparing.waiting or _COMPATIBILITY not in version.values:
            unit.budget.check()
            verdict = _compatibility_verdict(comparing, version)
            if verdict is None:
                continue
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


def _has_written_document(draft: ResourceDraft, version: VersionDraft) -> bool:
    """Whether a document was given, the same one or another, or another format."""
    old = version.old
    if old is None or version.content is not None or version.document != old.document:
        return True
    names = ("format", *_external_names(draft))
    return any(old.attributes.get(name) != version.values.get(name) for name in names)


def _has_changed(unit: Unit, draft: ResourceDraft, version: VersionDraft) -> bool:
    """Whether comparisons of before say nothing of a version any more.

    A document that was given again is looked at again only where it could not be compared.
    """
    if not _has_written_document(draft, version):
        return False
    old = version.old
    if old is None or old.attributes.get(_COMPATIBILITY) is not True or not version.content:
        return True
    if old.attributes.get("format") != version.values.get("format") or not old.document:
        return True
    return version.content != unit.tx.document(old.document)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparing:
    """The comparisons within one resource; what was compiled for one is there for the next."""

    unit: Unit
    draft: ResourceDraft
    mode: str
    lineages: Lineages
    waiting: frozenset[str]
    """The versions to compare."""
    verdicts: dict[str, FormatVerdict]

    def format_verdict(self, id: str) -> FormatVerdict:  # noqa: A002
        """What became of the document of a version."""
        verdict = self.verdicts.get(id)
        if verdict is None:
            verdict = _lineage_verdict(self.unit, self.draft, self.draft.versions[id])
            self.verdicts[id] = verdict
        return verdict

    def ancestors(self, version: VersionDraft) -> list[str]:
        """The ancestors that a version is to be compared with, the nearest first.

        Where all was well, those that nothing has changed with are left out; a reason why
        something was not compared is found anew.
        """
        changed = version.id in self.lineages.documents
        if changed or version.values.get(_COMPATIBILITY) is not True:
            return self.lineages.ancestors(version.id)
        return self.lineages.new_ancestors(version.id)


def _comparing(
    unit: Unit, draft: ResourceDraft, mode: str, verdicts: Mapping[str, FormatVerdict]
) -> _Comparing:
    former = draft.old.attributes.get("compatibility") if draft.old is not None else None
    # Under another model or mode no comparison of before counts.
    anew = unit.remodelled or former != mode
    versions = draft.versions.values()
    changed = [version.id for version in versions if anew or _has_changed(unit, draft, version)]
    resource_lineages = lineages(draft, mode, changed)
    return _Comparing(
        unit=unit,
        draft=draft,
        mode=mode,
        lineages=resource_lineages,
        waiting=frozenset(resource_lineages.to_compare()),
        verdicts=dict(verdicts),
    )


def _compatibility_verdict(
    comparing: _Comparing, version: VersionDraft
) -> CompatibilityVerdict | None:
    """The verdict on a version and its ancestors; ``None``: that of before still holds."""
    mode, draft = comparing.mode, comparing.draft
    ancestors = comparing.ancestors(version)
    unchanged = version.id not in comparing.lineages.documents
    if unchanged and not ancestors and version.values.get(_COMPATIBILITY) is True:
        return None
    own = comparing.format_verdict(version.id)
    if own.outcome == "unknown":  # VE-11
        return _uncompared(mode, own.reason or "")
    listed = _pair_listed(comparing.unit, version.values["format"], mode)
    if listed and not ancestors:
        # There is nothing it could be incompatible with.
        return CompatibilityVerdict(mode=mode, outcome="validated")
    new = (version.id, own)
    history = [(id, comparing.format_verdict(id)) for id in ancestors]  # noqa: A001
    if listed and any(is_numbers(verdict.format) for _, verdict in (new, *history)):
        return _numbers_verdict(comparing.unit, draft, mode, (new, *history))
    verdict = validate_compatibility(
        mode, history[::-1], new, compatibilities=None if listed else {}
    )
    assert verdict is not None  # there is a mode
    return verdict


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
