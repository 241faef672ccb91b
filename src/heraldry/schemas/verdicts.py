"""Verdicts for the registry: is a document of its format, is a version compatible, and why not.

A verdict is ``validated``, ``violated`` or ``unknown``. ``violated`` is the error of its
``error`` type, always. ``unknown`` means that nothing was shown either way: the registry then
says ``false`` with the reason, or by strict validation raises the error (VA-02, VA-04).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from heraldry.errors import MissingExtraError, NoRootError, SchemaError
from heraldry.schemas import formats as schema_formats
from heraldry.schemas.changes import Change
from heraldry.schemas.compatibility import MODES, Compatibility, compare, effect_of
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.source import Reference

Outcome = Literal["validated", "violated", "unknown"]

REASON_LIMIT: Final = 20
"""How many changes a reason tells one by one; ``changes`` has them all."""


_ROOTLESS: Final = "Its document does not say which part of it a payload is."


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatVerdict:
    """Whether a document is one of its format (VA-01, VA-02).

    ``reason`` is ready for ``formatvalidatedreason`` and for the detail of the error, None where
    validated; ``location`` is where in the document it went wrong. ``error`` is the xRegistry
    error type: ``format_violation``, ``format_unknown`` or ``format_external``. ``schema`` is
    None also of a valid document that is empty or does not say which of its parts is meant.
    """

    format: str
    outcome: Outcome
    reason: str | None = None
    error: str | None = None
    location: str | None = None
    schema: PayloadSchema | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatibilityVerdict:
    """Whether a version is compatible with its ancestors (VA-04, ME-06).

    ``reason`` is ready for ``compatibilityvalidatedreason`` and for the detail of the error.
    ``versionids`` are the versions that do not go together, the new one last; ``changes`` are
    the located reasons, each with the version it is a change from. ``error`` is the xRegistry
    error type: ``compatibility_violation`` or ``compatibility_unknown``.
    """

    mode: str
    outcome: Outcome
    reason: str | None = None
    error: str | None = None
    versionids: tuple[str, ...] = ()
    changes: tuple[tuple[str, Change], ...] = ()


Candidate = tuple[str, PayloadSchema | FormatVerdict]
"""A version: its id, and its schema or what became of checking its format."""


def validate_format(
    format: str | None,  # noqa: A002
    document: Any,
    *,
    link: str = "",
    name: str = "",
    references: tuple[Reference, ...] = (),
    external: bool = False,
    formats: Iterable[str] | None = None,
) -> FormatVerdict | None:
    """The verdict on a document; None where no format is given: nothing is checked (VA-05).

    ``external`` says that the document is kept elsewhere, where it is never fetched from (VA-02).
    ``formats`` are those of the registry's capabilities, with ``*`` as wildcard (VA-06); without
    them all that Heraldry compiles count. No document and an empty one are the same (VA-03).
    """
    if not format:
        return None
    listed = formats is None or format_listed(format, formats)
    if not listed or not schema_formats.supported(format):
        told = f"The format {format} is not supported, so the document was not checked."
        return _unchecked(format, "format_unknown", told)
    if external:
        told = "The document is kept outside the registry and is never fetched, so not checked."
        return _unchecked(format, "format_external", told)
    if document is None or document in ("", b""):
        return _empty(format)
    return _compiled(format, document, link, name, references)


def _compiled(
    format: str,  # noqa: A002
    document: Any,
    link: str,
    name: str,
    references: tuple[Reference, ...],
) -> FormatVerdict:
    try:
        schema = schema_formats.compile(format, document, link, name=name, references=references)
    except MissingExtraError as error:
        # The document may be right: this installation cannot tell.
        told = f"The format {format} cannot be checked here: {error}."
        return _unchecked(format, "format_unknown", told)
    except NoRootError:
        # The document is right: those who use it name the part they mean.
        return FormatVerdict(format=format, outcome="validated")
    except SchemaError as error:
        where = f" At {error.location}: " if error.location else " "
        return FormatVerdict(
            format=format,
            outcome="violated",
            reason=f"The document is not valid {format}.{where}{_sentence(error.reason)}",
            error="format_violation",
            location=error.location,
        )
    return FormatVerdict(format=format, outcome="validated", schema=schema)


def _empty(format: str) -> FormatVerdict:  # noqa: A002
    """An empty document is one of no format (VA-03)."""
    return FormatVerdict(
        format=format,
        outcome="violated",
        reason=f"The document is empty, which is not valid {format}.",
        error="format_violation",
        location="",
    )


def _unchecked(format: str, error: str, reason: str) -> FormatVerdict:  # noqa: A002
    return FormatVerdict(format=format, outcome="unknown", reason=reason, error=error)


def validate_compatibility(
    mode: str | None,
    history: Sequence[Candidate],
    new: Candidate,
    *,
    compatibilities: Mapping[str, Iterable[str]] | None = None,
) -> CompatibilityVerdict | None:
    """The verdict on a new version and its ancestors, oldest first; None without a mode (ME-06).

    A mode counts in any case. ``compatibilities`` are those of the registry's capabilities: modes
    by format, with ``*`` as wildcard in the formats (VA-06). An undecided change is never taken
    for a compatible one: the outcome is then ``unknown``, with the change as the reason (VA-04).
    """
    if not mode:
        return None
    name, format_ = mode.lower(), _format(new[1])
    listed = compatibilities is None or pair_listed(format_, name, compatibilities)
    if name not in MODES or not listed:
        told = f"The compatibility {mode} is not supported for {format_}, so it was not checked."
        return CompatibilityVerdict(
            mode=name, outcome="unknown", reason=told, error="compatibility_unknown"
        )
    chosen = history if name.endswith("_transitive") else history[-1:]
    usable = [(version, schema) for version, one in chosen if (schema := _schema(one)) is not None]
    absent = [version for version, one in (*chosen, new) if _schema(one) is None]
    newest = _schema(new[1])
    found = compare(usable, newest, name) if newest is not None else None
    # A violation is one, whatever the versions that cannot be looked at hold.
    if found is None or (absent and found.verdict != "incompatible"):
        return _unread(name, absent, (*chosen, new))
    return _verdict(found, new[0])


def format_listed(format: str, patterns: Iterable[str]) -> bool:  # noqa: A002
    """Whether a format is among those of a capability, in any case, ``*`` being a wildcard."""
    return any(_matches(format, pattern) for pattern in patterns)


def pair_listed(
    format: str,  # noqa: A002
    mode: str,
    compatibilities: Mapping[str, Iterable[str]],
) -> bool:
    """Whether a capability lists a mode for a format; ``*`` in a format is a wildcard (VA-06)."""
    return any(
        mode.lower() in {one.lower() for one in modes}
        for pattern, modes in compatibilities.items()
        if _matches(format, pattern)
    )


def _matches(format: str, pattern: str) -> bool:  # noqa: A002
    # Only the star is a wildcard: a bracket or a question mark stands for itself.
    literal = pattern.lower().replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(format.lower(), literal)


def _format(one: PayloadSchema | FormatVerdict) -> str:
    return one.format if isinstance(one, FormatVerdict) else one.source.format


def _schema(one: PayloadSchema | FormatVerdict) -> PayloadSchema | None:
    return one.schema if isinstance(one, FormatVerdict) else one


def _unread(mode: str, absent: Sequence[str], chosen: Sequence[Candidate]) -> CompatibilityVerdict:
    """Versions whose format was not validated cannot be compared (VA-04)."""
    reasons = dict(chosen)
    told = []
    for version in absent:
        one = reasons[version]
        why = one.reason if isinstance(one, FormatVerdict) else None
        told.append(f"Version {version} cannot be compared. {why or _ROOTLESS}")
    return CompatibilityVerdict(
        mode=mode,
        outcome="unknown",
        reason=" ".join(told),
        error="compatibility_unknown",
        versionids=tuple(absent),
    )


def _verdict(found: Compatibility, newest: str) -> CompatibilityVerdict:
    if found.verdict == "compatible":
        return CompatibilityVerdict(mode=found.mode, outcome="validated")
    wanted = "breaking" if found.verdict == "incompatible" else "undecided"
    changes = tuple(one for one in found.reasons if effect_of(one[1], found.mode) == wanted)
    versions = tuple(dict.fromkeys(version for version, _ in changes))
    violated = wanted == "breaking"
    return CompatibilityVerdict(
        mode=found.mode,
        outcome="violated" if violated else "unknown",
        reason=_reason(found.mode, newest, versions, changes, violated=violated),
        error="compatibility_violation" if violated else "compatibility_unknown",
        versionids=(*versions, newest),
        changes=changes,
    )


def _reason(
    mode: str,
    newest: str,
    versions: Sequence[str],
    changes: Sequence[tuple[str, Change]],
    *,
    violated: bool,
) -> str:
    word = "version" if len(versions) == 1 else "versions"
    named = f"{word} {', '.join(versions)}"
    if violated:
        head = f"Version {newest} is not {mode} compatible with {named}."
    else:
        head = f"It cannot be decided whether version {newest} is {mode} compatible with {named}."
    several = len(versions) > 1
    told = [head, *(_told(*one, several=several) for one in changes[:REASON_LIMIT])]
    if len(changes) > REASON_LIMIT:
        told.append(f"There are {len(changes) - REASON_LIMIT} more reasons.")
    return " ".join(told)


def _told(version: str, change: Change, *, several: bool) -> str:
    """A change as a sentence, after the version it is a change from and its place."""
    lead = [f"since version {version}"] if several else []
    lead += [where] if (where := _where(change)) else []
    start = ", ".join(lead)
    said = _sentence(change.message)
    return f"{start[:1].upper()}{start[1:]}: {said}" if start else said


def _where(change: Change) -> str:
    if change.old == change.new or change.old is None or change.new is None:
        place = change.new if change.new is not None else change.old
        return f"at {place}" if place else ""
    return f"at {change.old} (now {change.new})"


def _sentence(text: str) -> str:
    """A text with a capital at its start and a stop at its end."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
